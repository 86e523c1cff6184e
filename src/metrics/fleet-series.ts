// Metric series of accounts, alerts and channels, as functions of the fleet's state.

import type { Fleet } from '../core/fleet/fleet.ts';
import { type GuardState, guardStates, type MailboxState } from '../core/mailbox.ts';
import type { Policy } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import { type Family, type Labels, prefix, type Sample } from './exposition.ts';

export interface MetricsSettings {
  readonly policyOf: (mailbox: MailboxState) => Pick<Policy, 'nearLimitPpm' | 'enforce'>;
  readonly mailboxLabel: 'email' | 'id';
  readonly seriesLimit: number;
  /** True if Warmwarden acts on breaches of this account, unless its mailboxes override that. */
  readonly enforcing: (account: string) => boolean;
}

export interface MailboxCounts {
  inState(account: string, state: GuardState): number;
  enforcement(account: string): { readonly acts: number; readonly watches: number };
  readonly omitted: number;
}

export function fleetFamilies(
  fleet: Fleet,
  facts: MailboxCounts,
  { settings, now, ready }: { readonly settings: MetricsSettings; readonly now: EpochMs; readonly ready: boolean },
): readonly Family[] {
  return [
    mailboxCounts(fleet, facts),
    mailboxesOmitted(facts),
    ...enforcement(fleet, facts, settings),
    ...accountFamilies(fleet, now),
    accountGuarded(fleet),
    breakerOpen(fleet),
    alertsFiring(fleet),
    ...channelFamilies(fleet),
    active(),
    gauge(
      'ready',
      '1 while /readyz succeeds: Warmwarden itself works and polls every account. An API that fails or rejects the key shows in warmwarden_api_up.',
      [{ labels: {}, value: ready ? 1 : 0 }],
    ),
  ];
}

/** The count of an account is unknown, not 0, before its first complete list. */
function mailboxCounts(fleet: Fleet, facts: MailboxCounts): Family {
  const listed = [...fleet.accounts()].filter((account) => account.listed || fleet.mailboxCount(account.name) > 0);
  const unread = fleet.unreadAccounts();
  const samples = listed.flatMap(({ name: account }) => {
    // A mailbox that cannot be read at present does not count as OK.
    const old = unread.has(account) ? facts.inState(account, 'ok') : 0;
    const moved: Partial<Record<GuardState, number>> = { ok: -old, not_judged: old };
    return guardStates.map((state) => ({
      labels: { account, state },
      value: facts.inState(account, state) + (moved[state] ?? 0),
    }));
  });
  return gauge('mailboxes', 'Number of mailboxes by state of the guard.', samples);
}

/** An account without known mailboxes reports its own setting. */
function enforcement(fleet: Fleet, facts: MailboxCounts, settings: MetricsSettings): readonly Family[] {
  const counted = [...fleet.accounts()].map(({ name }) => ({ account: name, ...facts.enforcement(name) }));
  return [
    gauge(
      'guard_enforcing',
      '1 when Warmwarden acts on breaches of mailboxes of the account, 0 when it only decides and alerts.',
      counted.map(({ account, acts, watches }) => ({
        labels: { account },
        value: Number(acts + watches === 0 ? settings.enforcing(account) : acts > 0),
      })),
    ),
    gauge(
      'mailboxes_not_enforced',
      'Number of mailboxes that Warmwarden does not act on: guard.enforce is false for them, or writes are off.',
      counted.map(({ account, watches }) => ({ labels: { account }, value: watches })),
    ),
  ];
}

function mailboxesOmitted(facts: MailboxCounts): Family {
  const help = 'Number of mailboxes whose series metrics.series_limit leaves out; Warmwarden still watches them.';
  return gauge('mailboxes_omitted', help, [{ labels: {}, value: facts.omitted }]);
}

function accountFamilies(fleet: Fleet, now: EpochMs): readonly Family[] {
  const accounts = [...fleet.accounts()];
  const one = (name: string, help: string, value: (account: (typeof accounts)[number]) => number | null) =>
    gauge(
      name,
      help,
      accounts.flatMap((account) => sampleIfKnown({ account: account.name }, value(account))),
    );
  return [
    one(
      'account_writable',
      '1 when the API accepts writes with the key, 0 when it refuses them (not_guarded), also before a restart; absent while unknown.',
      ({ keyWrites }) => (keyWrites === null ? null : Number(keyWrites)),
    ),
    one(
      'account_key_accepted',
      '1 when the API accepts the key, 0 while it rejects it; absent before the first answer that tells.',
      ({ keyRejected, lastSuccessAt }) => (keyRejected ? 0 : lastSuccessAt === null ? null : 1),
    ),
    one(
      'api_up',
      '1 while requests to the API succeed, 0 while none does: the API fails, or rejects the key; absent before the first.',
      (account) => {
        if (account.failingSince !== null) return 0;
        return account.lastSuccessAt === null ? null : 1;
      },
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
    one(
      'mailboxes_unlisted',
      'Number of mailboxes that the configuration includes by name and the mailbox list does not have; absent before the first list.',
      (account) => (account.listed ? account.unlisted.length : null),
    ),
    one(
      'api_requests_per_minute_limit',
      'Requests a minute that Warmwarden can make at present: its share of the limit, less what the API refuses.',
      (account) => account.requestsPerMinute,
    ),
    one('poll_queue_length', 'Number of polls that wait for a slot of the budget.', (account) => account.queueLength),
    one(
      'poll_oldest_due_seconds',
      'How long the oldest waiting poll has been due, seconds; 0 when none waits.',
      (account) => (account.oldestDueAt === null ? 0 : Math.max(0, now - account.oldestDueAt) / 1_000),
    ),
  ];
}

/** Covers also accounts that were never polled. */
function accountGuarded(fleet: Fleet): Family {
  return gauge(
    'account_guarded',
    '1 while Warmwarden polls the account, 0 when it has not polled it for a minute. An API that fails or rejects the key shows in warmwarden_api_up.',
    fleet
      .guarding()
      .map(({ account, startingSince }) => ({ labels: { account }, value: Number(startingSince === null) })),
  );
}

/** Reports every API's breaker from the daemon's start, when all breakers enter the fleet's state. */
function breakerOpen(fleet: Fleet): Family {
  return gauge(
    'guard_breaker_open',
    'Whether the circuit breaker holds every action under this base_url, 0 or 1.',
    [...fleet.breakers()].map(([api, { openSince }]) => ({ labels: { api }, value: openSince === null ? 0 : 1 })),
  );
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

function channelFamilies(fleet: Fleet): readonly Family[] {
  const channels = [...fleet.channels()];
  return [
    gauge(
      'outbox_pending',
      'Number of messages that wait for their receiver.',
      channels.map(({ name, pending }) => ({ labels: { channel: name }, value: pending })),
    ),
    gauge(
      'outbox_oldest_timestamp_seconds',
      'When the oldest unsent message was created, seconds since the Unix epoch; absent when none waits.',
      channels.flatMap(({ name, oldestPendingAt }) =>
        sampleIfKnown({ channel: name }, oldestPendingAt === null ? null : oldestPendingAt / 1_000),
      ),
    ),
  ];
}

/** A standby reports 0 (web/server.ts). */
function active(): Family {
  return gauge('active', 'Whether this process guards; 0: it stands by.', [{ labels: {}, value: 1 }]);
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `${prefix}${name}`, type: 'gauge', help, samples };
}

function sampleIfKnown(labels: Labels, value: number | null): readonly Sample[] {
  return value === null ? [] : [{ labels, value }];
}
