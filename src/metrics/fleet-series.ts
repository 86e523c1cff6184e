// Metric series of accounts, alerts, channels and the daemon, as functions of the fleet's state.

import type { Fleet } from '../core/fleet/fleet.ts';
import { type AccountState, type GuardState, guardStates, type MailboxState } from '../core/mailbox.ts';
import { notGuardedBy, ownTroubles } from '../core/not-guarded.ts';
import type { Policy } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import { type Family, type Labels, prefix, type Sample } from './exposition.ts';

export interface MetricsSettings {
  readonly policyOf: (mailbox: MailboxState) => Pick<Policy, 'nearLimitPpm' | 'enforce'>;
  readonly tagsOf: (mailbox: MailboxState) => readonly string[];
  readonly mailboxLabel: 'email' | 'id';
  /** True if Warmwarden acts on breaches of this account, unless its mailboxes override that. */
  readonly enforcing: (account: string) => boolean;
}

export interface AccountCounts {
  readonly states: Map<GuardState, number>;
  enforced: number;
  notEnforced: number;
}

export interface DaemonFacts {
  readonly settings: MetricsSettings;
  readonly settingsAt: EpochMs;
  /** True if the newest configuration was refused. */
  readonly isRefused: boolean;
  readonly version: string;
  readonly linesDropped: number;
  readonly now: EpochMs;
  readonly ready: boolean;
}

const none: AccountCounts = { states: new Map(), enforced: 0, notEnforced: 0 };

export function fleetFamilies(
  fleet: Fleet,
  counts: ReadonlyMap<string, AccountCounts>,
  daemon: DaemonFacts,
): readonly Family[] {
  const { settings, now } = daemon;
  const accounts = [...fleet.accounts()];
  const unguarded = new Set(ownTroubles(notGuardedBy(fleet, now)).map(({ account }) => account));
  const channels = [...fleet.channels()];
  const one = (name: string, help: string, value: number, labels: Labels = {}) =>
    gauge(name, help, [{ labels, value }]);
  const each = (name: string, help: string, value: (account: AccountState) => number | null) =>
    gauge(
      name,
      help,
      accounts.map((account) => ({ labels: { account: account.name }, value: value(account) })),
    );
  const countsOf = ({ name }: AccountState) => counts.get(name) ?? none;
  return [
    mailboxCounts(fleet, counts),
    each(
      'guard_enforcing',
      '1 when Warmwarden acts on breaches of mailboxes of the account, 0 when it only decides and alerts.',
      (account) => {
        const { enforced, notEnforced } = countsOf(account);
        // An account without known mailboxes reports its own setting.
        return Number(enforced + notEnforced === 0 ? settings.enforcing(account.name) : enforced > 0);
      },
    ),
    each(
      'mailboxes_not_enforced',
      'Number of mailboxes that Warmwarden does not act on: guard.enforce is false for them, or writes are off.',
      (account) => countsOf(account).notEnforced,
    ),
    each(
      'account_writable',
      '1 when the API accepts writes with the key, 0 when it refuses them (not_guarded), also before a restart; absent while unknown.',
      ({ keyWrites }) => (keyWrites === null ? null : Number(keyWrites)),
    ),
    each(
      'account_key_accepted',
      '1 when the API accepts the key, 0 while it rejects it; absent before the first answer that tells.',
      ({ keyRejected, lastSuccessAt }) => (keyRejected ? 0 : lastSuccessAt === null ? null : 1),
    ),
    each(
      'api_up',
      '1 while requests to the API succeed, 0 while none does: the API fails, or rejects the key; absent before the first.',
      ({ failingSince, lastSuccessAt }) => (failingSince !== null ? 0 : lastSuccessAt === null ? null : 1),
    ),
    gauge(
      'api_health',
      '1 for the status that the health check of the API reports, 0 for the others.',
      accounts.flatMap(({ name, health }) =>
        (['ok', 'other', 'unknown'] as const).map((status) => ({
          labels: { account: name, status },
          value: Number(status === health),
        })),
      ),
    ),
    each(
      'mailboxes_unlisted',
      'Number of mailboxes that the configuration includes by name and the mailbox list does not have; absent before the first list.',
      (account) => (account.listed ? account.unlisted.length : null),
    ),
    each(
      'api_requests_per_minute_limit',
      'Requests a minute that Warmwarden can make at present: its share of the limit, less what the API refuses.',
      (account) => account.requestsPerMinute,
    ),
    each('poll_queue_length', 'Number of polls that wait for a slot of the budget.', (account) => account.queueLength),
    each(
      'poll_oldest_due_seconds',
      'How long the oldest waiting poll has been due, seconds; 0 when none waits.',
      (account) => (account.oldestDueAt === null ? 0 : Math.max(0, now - account.oldestDueAt) / 1_000),
    ),
    // Covers also accounts that were never polled.
    gauge(
      'account_guarded',
      '1 while Warmwarden guards the account, 0 when /readyz says why not. An API that fails or rejects the key shows in warmwarden_api_up.',
      fleet.guarding().map(({ account }) => ({ labels: { account }, value: Number(!unguarded.has(account)) })),
    ),
    // Every API's breaker enters the fleet's state at the daemon's start.
    gauge(
      'guard_breaker_open',
      'Whether the circuit breaker holds every action under this base_url, 0 or 1.',
      [...fleet.breakers()].map(([api, { openSince }]) => ({ labels: { api }, value: openSince === null ? 0 : 1 })),
    ),
    alertsFiring(fleet),
    gauge(
      'outbox_pending',
      'Number of messages that wait for their receiver.',
      channels.map(({ name, pending }) => ({ labels: { channel: name }, value: pending })),
    ),
    gauge(
      'outbox_oldest_timestamp_seconds',
      'When the oldest unsent message was created, seconds since the Unix epoch; absent when none waits.',
      channels.map(({ name, oldestPendingAt }) => ({
        labels: { channel: name },
        value: oldestPendingAt === null ? null : oldestPendingAt / 1_000,
      })),
    ),
    // A standby reports 0 (web/server.ts).
    one('active', 'Whether this process guards; 0: it stands by.', 1),
    one(
      'ready',
      '1 while /readyz succeeds: Warmwarden itself works and polls every account. An API that fails or rejects the key shows in warmwarden_api_up.',
      Number(daemon.ready),
    ),
    one('build_info', 'Always 1; the version is a label.', 1, { version: daemon.version }),
    one(
      'config_last_reload_successful',
      '1 when the newest configuration was loaded, 0 when it was refused and the previous one stays in force.',
      Number(!daemon.isRefused),
    ),
    one(
      'config_last_reload_success_timestamp_seconds',
      'When the configuration in force was loaded, seconds since the Unix epoch.',
      daemon.settingsAt / 1_000,
    ),
    {
      ...one(
        'log_lines_dropped_total',
        'Log lines that could not be written to standard output: its disk is full, or its reader has stalled or exited.',
        daemon.linesDropped,
      ),
      type: 'counter',
    },
  ];
}

/** The count of an account is unknown, not 0, before its first complete list. */
function mailboxCounts(fleet: Fleet, counts: ReadonlyMap<string, AccountCounts>): Family {
  const listed = [...fleet.accounts()].filter((account) => account.listed || fleet.mailboxCount(account.name) > 0);
  const unread = fleet.unreadAccounts();
  const samples = listed.flatMap(({ name: account }) => {
    const { states } = counts.get(account) ?? none;
    // A mailbox that cannot be read at present does not count as OK.
    const old = unread.has(account) ? (states.get('ok') ?? 0) : 0;
    const moved: Partial<Record<GuardState, number>> = { ok: -old, not_judged: old };
    return guardStates.map((state) => ({
      labels: { account, state },
      value: (states.get(state) ?? 0) + (moved[state] ?? 0),
    }));
  });
  return gauge('mailboxes', 'Number of mailboxes by state of the guard.', samples);
}

function alertsFiring(fleet: Fleet): Family {
  const samples = new Map<string, Sample>();
  for (const { account, rule, severity, status } of fleet.alerts()) {
    if (status !== 'firing') continue;
    const key = `${rule}|${severity}|${account}`;
    samples.set(key, { labels: { account, rule, severity }, value: (samples.get(key)?.value ?? 0) + 1 });
  }
  return gauge('alerts_firing', 'Number of firing alerts; absent when none fires.', [...samples.values()]);
}

/** A null value is unknown, and gives no sample. */
function gauge(
  name: string,
  help: string,
  samples: readonly { readonly labels: Labels; readonly value: number | null }[],
): Family {
  const known = samples.flatMap(({ labels, value }) => (value === null ? [] : [{ labels, value }]));
  return { name: `${prefix}${name}`, type: 'gauge', help, samples: known };
}
