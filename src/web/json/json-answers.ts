// What the pages show, as JSON: names in snake_case, times in ISO 8601, unknown values null.
import { silenceOf } from '../../alerts/routing.ts';
import type { Action } from '../../core/action.ts';
import type { Alert, Silence } from '../../core/alert.ts';
import type { Change } from '../../core/change.ts';
import type { DecisionDay, RecordedDecision } from '../../core/decision.ts';
import { type ListedDelivery, publicState } from '../../core/delivery.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { AccountState, GuardedElsewhere, SweepProgress } from '../../core/mailbox.ts';
import type { CommandOutcome } from '../../core/operator-command.ts';
import type { MissingReplica, ReplicaState } from '../../core/replica.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { changeSentence } from '../../core/wording/causes.ts';
import { sweepText } from '../../core/wording/forecast.ts';
import { factsOf, pausedBy } from '../../core/wording/paused.ts';
import { replicaTroubles } from '../../core/wording/replicas.ts';
import { type WritesOff, writesOnCommand } from '../../core/write-scope.ts';
import type { FiringAlerts } from '../overview/firing-alerts.ts';
import type { MailboxRow, StateCounts } from '../overview/fleet-view.ts';
import type { Headline } from '../overview/headline.ts';
import type { RowsAfter } from '../selection.ts';
import { openIncidents } from './open-incidents.ts';

export type Explain = (verdict: Verdict) => string;

export function fleetJson(parts: {
  readonly fleet: Fleet;
  readonly headline: Headline;
  readonly counts: StateCounts;
  readonly page: Pick<RowsAfter, 'rows' | 'total'>;
  /** The cursor of the mailboxes behind these. */
  readonly next: string | null;
  readonly firing: FiringAlerts;
  /** The gravest first: GET /api/alerts has all of them. */
  readonly gravest: readonly Alert[];
  /** As the headline counts them. */
  readonly accounts: readonly AccountState[];
  readonly sweeps: readonly SweepProgress[];
  readonly explain: Explain;
  readonly now: EpochMs;
  /** The words that start this program. */
  readonly command: string;
  /** In which sentences give times: an IANA name. */
  readonly zone: string;
}) {
  const { fleet, headline, counts, page, next, firing, gravest, accounts, sweeps, explain, now, command, zone } = parts;
  const silences = fleet.silences(now);
  const briefly = (alert: Alert) => ({
    rule: alert.rule,
    severity: alert.severity,
    since: iso(alert.since),
    title: alert.facts.title,
    silenced: silencedJson(alert, silences),
  });
  const sweepOf = new Map(sweeps.map((sweep) => [sweep.account, sweep]));
  const lastWrites = fleet.lastWrites();
  return {
    at: iso(now),
    time_zone: zone,
    headline: headline.sentence,
    advice: headline.advice,
    tone: headline.tone,
    states: counts,
    incidents: openIncidents(fleet.incidents()),
    alerts: gravest.map(briefly),
    alerts_firing: firing.count(),
    alert_groups: firing.groups.map(({ first, count }) => ({ ...briefly(first), count })),
    not_guarded: fleet.guarding().flatMap(({ account, unguarded }) => (unguarded ? [account] : [])),
    accounts: accounts.map((account) => ({
      ...accountJson(account),
      last_write_at: iso(lastWrites.get(account.name) ?? null),
      first_sweep: sweepJson(sweepOf.get(account.name), { now, zone }),
    })),
    channels: [...fleet.channels()].map((channel) => ({
      name: channel.name,
      type: channel.type,
      pending: channel.pending,
      oldest_pending_at: iso(channel.oldestPendingAt),
      undelivered: channel.undelivered,
      last_success_at: iso(channel.lastSuccessAt),
      failing_since: iso(channel.failingSince),
      last_failure: channel.lastFailure,
    })),
    replicas: fleet.replicas().map((replica) => ({
      name: replica.name,
      silent: replica.silent,
      accounts: replica.accounts.length,
      notifies: replica.notifies,
      this_one: replica.isSelf,
    })),
    replica_troubles: replicaTroubles(fleet.replicas(), fleet.missingReplicas(), zone),
    store_failure: fleet.storeFailure && { said: fleet.storeFailure.said, remedy: fleet.storeFailure.remedy },
    writes_off: fleet.writesOff(now).map((off) => writesOffJson(off, command)),
    actions: fleet.recentActions().map((action) => actionJson(action, explain)),
    total: page.total,
    mailboxes: page.rows.map((row) => rowJson(row, explain)),
    next_cursor: next,
  };
}

/** When the answer is made, and in which zone its sentences give times: an IANA name. */
export interface Telling {
  readonly now: EpochMs;
  readonly zone: string;
}

export function replicasJson(
  replicas: readonly ReplicaState[],
  missing: readonly MissingReplica[],
  { now, zone }: Telling,
) {
  return {
    at: iso(now),
    troubles: replicaTroubles(replicas, missing, zone),
    replicas: replicas.map((replica) => ({
      id: replica.id,
      name: replica.name,
      version: replica.version,
      started_at: iso(replica.startedAt),
      silent: replica.silent,
      accounts: replica.accounts,
      configured_accounts: replica.configured,
      notifies: replica.notifies,
      config_digest: replica.configDigest,
      reload_failure: replica.reloadFailure,
      this_one: replica.isSelf,
    })),
  };
}

function writesOffJson({ scope, since, until, by, reason }: WritesOff, command: string) {
  return {
    scope: scope.kind,
    account: scope.kind === 'everything' ? null : scope.account,
    mailbox: scope.kind === 'mailbox' ? scope.email : null,
    since: iso(since),
    until: iso(until),
    by,
    reason,
    allow_with: writesOnCommand(scope, command),
  };
}

/** Mailboxes that another account of the API guards. */
export function elsewhereJson(
  elsewhere: readonly GuardedElsewhere[],
): readonly Readonly<Record<'id' | 'mailbox' | 'account', string>>[] {
  return elsewhere.map(({ id, email, account }) => ({ id, mailbox: email, account }));
}

function accountJson(account: AccountState) {
  return {
    name: account.name,
    requests_per_minute: account.requestsPerMinute,
    limit_per_minute: account.limitPerMinute,
    last_success_at: iso(account.lastSuccessAt),
    failing_since: iso(account.failingSince),
    last_failure: account.lastFailure,
    key_rejected: account.keyRejected,
    writable: account.keyWrites,
    judging_failure: account.unjudged?.detail ?? null,
    listed: account.listed,
    unlisted: account.unlisted,
    guarded_elsewhere: elsewhereJson(account.guardedElsewhere ?? []),
    health: account.health,
    queue_length: account.queueLength,
    oldest_due_at: iso(account.oldestDueAt),
  };
}

/** part: judging (warm-up and statistics are read) or details (then connection, DNS and blacklists). */
export function sweepJson(sweep: SweepProgress | undefined, telling: Telling) {
  if (!sweep) return null;
  const { since, part, mailboxes, read, doneAt } = sweep;
  return { since: iso(since), part, mailboxes, read, done_at: iso(doneAt), text: sweepText(sweep, telling) };
}

export function rowJson(row: MailboxRow, explain: Explain) {
  const { mailbox, verdict } = row;
  return {
    account: mailbox.account,
    id: mailbox.id,
    email: mailbox.email,
    name: row.label,
    state: row.state,
    mode: mailbox.warmup?.answer.mode ?? null,
    health_score: row.healthScore,
    dns_failing: row.dns.read ? row.dns.failing : null,
    dns_inconclusive: row.dns.read ? row.dns.inconclusive : null,
    listings: row.listings,
    stats_at: iso(row.statsAt),
    claim: mailbox.memory?.claim ? { kind: mailbox.memory.claim.kind, since: iso(mailbox.memory.claim.since) } : null,
    paused_by: row.state === 'paused_by_others' ? (pausedBy(factsOf(mailbox))?.name ?? null) : null,
    alerts: row.alerts.map((alert) => alert.rule),
    verdict: verdict && mailbox.verdict ? { at: iso(mailbox.verdict.at), ...verdictJson(verdict, explain) } : null,
  };
}

export function decisionJson(decision: RecordedDecision, explain: Explain) {
  const { since, until, count, firstSent, verdict, firstDays, days } = decision;
  return {
    since: iso(since),
    until: iso(until),
    count,
    first_sent: firstSent,
    ...verdictJson(verdict, explain),
    first_days: firstDays.map(dayJson),
    days: days.map(dayJson),
  };
}

const dayJson = ([date, sent, bounced]: DecisionDay) => ({ date, sent, bounced });

export function changeJson(change: Change, zone: string) {
  const { what, from, to, since, at } = change;
  return { what, from, to, since: iso(since), seen_at: iso(at), text: changeSentence(change, zone) };
}

function verdictJson(verdict: Verdict, explain: Explain) {
  return {
    action: verdict.action,
    reason: verdict.reason,
    wanted: verdict.wanted,
    mode: verdict.mode,
    run: verdict.run,
    sent: verdict.sent,
    bounced: verdict.bounced,
    rate_percent: verdict.sent > 0 ? (verdict.bounced * 100) / verdict.sent : null,
    limit_percent: verdict.limitPpm === null ? null : verdict.limitPpm / 10_000,
    window_from: verdict.windowFrom,
    window_to: verdict.windowTo,
    window_days: verdict.windowDays,
    emergency: verdict.emergency !== null,
    bounces_until_breach: verdict.bouncesUntilBreach,
    data_age_seconds: verdict.dataAgeMs / 1_000,
    warnings: verdict.warnings,
    explanation: explain(verdict),
  };
}

export function actionJson(action: Action, explain: Explain) {
  return {
    id: action.id,
    account: action.account,
    mailbox_id: action.mailboxId,
    email: action.email,
    kind: action.kind,
    state: action.state,
    attempts: action.attempts,
    planned_at: iso(action.plannedAt),
    settled_at: iso(action.settledAt),
    next_try_at: iso(action.nextTryAt),
    detail: action.detail,
    verdict: verdictJson(action.verdict, explain),
  };
}

export function outcomeJson({ result, messages, plan, counts }: CommandOutcome) {
  return { result, messages, ...(plan !== undefined && { plan }), ...(counts && { counts }) };
}

/** Until when, and by whom, the messages about an alert are muted. */
export function silencedJson(alert: Alert, silences: readonly Silence[]) {
  const silence = silenceOf(alert, silences);
  return silence && { by: silence.by, until: iso(silence.until) };
}

export function silenceJson({ id, match, by, reason, from, until }: Silence) {
  return { id, match, by, reason, from: iso(from), until: iso(until) };
}

/** Without the payload: it is the receiver's, and it is long. */
export function deliveryJson(delivery: ListedDelivery) {
  const state = publicState(delivery);
  return {
    id: delivery.id,
    channel: delivery.channel,
    title: delivery.title,
    state,
    attempts: delivery.attempts,
    created_at: iso(delivery.createdAt),
    next_attempt_at: state === 'pending' ? iso(delivery.nextAttemptAt) : null,
    settled_at: iso(delivery.settledAt),
    detail: delivery.detail,
  };
}

export function iso(at: EpochMs): string;
export function iso(at: EpochMs | null): string | null;
export function iso(at: EpochMs | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
