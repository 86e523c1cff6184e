// Facts that several answers have in common: the schema of each, and its JSON. Names are in snake_case, times ISO 8601, unknown values
// null. The schemas are strict: an answer has no other field.
import { z } from 'zod';
import type { Action } from '../../core/action.ts';
import type { Change } from '../../core/change.ts';
import type { DecisionDay, RecordedDecision } from '../../core/decision.ts';
import { guardStates, type SweepProgress } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { reasons, type Verdict, verdictActions } from '../../core/verdict.ts';
import { changeSentence } from '../../core/wording/causes.ts';
import { sweepText } from '../../core/wording/forecast.ts';
import { factsOf, pausedBy } from '../../core/wording/paused.ts';
import type { World } from '../../world/world.ts';
import type { MailboxRow } from '../overview/fleet-view.ts';

export type Explain = (verdict: Verdict) => string;

/** When the answer is made, and in which zone its sentences give times: an IANA name. */
export interface AnswerTime {
  readonly now: EpochMs;
  readonly zone: string;
}

export function answerTimeOf({
  world,
  timeZone,
}: {
  readonly world: Pick<World, 'clock'>;
  readonly timeZone: () => string;
}): AnswerTime {
  return { now: world.clock.now(), zone: timeZone() };
}

export function iso(at: EpochMs): string;
export function iso(at: EpochMs | null): string | null;
export function iso(at: EpochMs | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

export const moment = z.iso.datetime();
export const text = z.string();
export const count = z.int().min(0);
export const number = z.number();
export const timeZone = text.describe(
  'The time zone of times in sentences (`alerts.time_zone`); all other times are in UTC.',
);
export const texts = z.array(text).readonly();
export const nextCursor = text.nullable().describe('The `cursor` of the next page; null: this is the last.');

/** A list of what `shape` describes. */
export function listOf<Shape extends z.ZodType>(shape: Shape) {
  return z.array(shape).readonly();
}

const verdictFields = {
  action: z.enum(verdictActions).describe('What the guard decided.'),
  reason: z.enum(reasons).describe('Why, out of a closed set of words.'),
  wanted: z.enum(verdictActions).describe('What it would do if nothing held it back.'),
  mode: text.nullable(),
  run: text.describe('Whether the warm-up runs: running, paused, not_running or unknown.'),
  sent: count.describe('Emails in the window.'),
  bounced: count,
  rate_percent: number.nullable(),
  limit_percent: number.nullable(),
  window_from: z.iso.date().nullable(),
  window_to: z.iso.date().nullable(),
  window_days: count,
  emergency: z.boolean().describe('Whether so many of the newest emails bounced that it is an emergency in any mode.'),
  bounces_until_breach: number.nullable(),
  data_age_seconds: number.describe('How old the statistics were when they were judged.'),
  warnings: texts,
  explanation: text.describe('The decision in a sentence.'),
};

const verdict = z.strictObject(verdictFields).meta({ id: 'verdict', description: 'A decision of the guard.' });

/** A verdict with when it was given. */
export const datedVerdict = z.strictObject({ at: moment, ...verdictFields });

const dayCounts = listOf(z.strictObject({ date: z.iso.date(), sent: count.nullable(), bounced: count.nullable() }));

export const decision = z
  .strictObject({
    since: moment.describe('When it was first decided.'),
    until: moment.describe('When it was last decided.'),
    count: count.describe('How many answers led to it.'),
    first_sent: count.describe('Emails in the window at `since`; the other numbers are those at `until`.'),
    ...verdictFields,
    first_days: dayCounts.describe('The days in the window, as they were at `since`.'),
    days: dayCounts.describe('The days in the window, as they were at `until`.'),
  })
  .meta({ id: 'decision', description: 'The same decision on consecutive answers.' });

export const actionFields = {
  id: text,
  account: text,
  mailbox_id: text,
  email: text,
  kind: text.describe('recovery, pause, restore, resume, mode or limit.'),
  state: text.describe('planned, open, confirmed, refused, unconfirmed or dropped.'),
  attempts: count,
  planned_at: moment,
  settled_at: moment.nullable(),
  next_try_at: moment.nullable(),
  detail: text.nullable().describe('What came back.'),
  verdict,
};

export const action = z
  .strictObject(actionFields)
  .meta({ id: 'action', description: 'A change of a mailbox, from the plan to the outcome.' });

const dnsNames = texts.nullable();

export const mailboxFields = {
  account: text,
  id: text,
  email: text,
  name: text.describe('Its address, followed by its id when another mailbox of the account has the same address.'),
  state: z.enum(guardStates),
  mode: text.nullable(),
  health_score: number.nullable(),
  dns_failing: dnsNames,
  dns_inconclusive: dnsNames,
  listings: z.union([count, z.literal('listed'), z.null()]).describe('Blacklists that list it.'),
  stats_at: moment.nullable().describe('When its statistics were read last.'),
  claim: z
    .strictObject({ kind: text, since: moment })
    .nullable()
    .describe('The change by Warmwarden that is in force.'),
  paused_by: text
    .nullable()
    .describe('Who paused its warm-up through Warmwarden, if a person did and it is still paused.'),
  alerts: texts.describe('Rules that fire for it.'),
  verdict: datedVerdict.nullable().describe('The newest [verdict](#verdict), with `at`.'),
};

export const mailbox = z.strictObject(mailboxFields).meta({ id: 'mailbox', description: 'A guarded mailbox.' });

/** null: it is over. */
export const firstSweep = z
  .strictObject({
    since: moment,
    part: text.describe('judging or details.'),
    mailboxes: count,
    read: count,
    done_at: moment.nullable().describe('When this part is expected to end.'),
    text,
  })
  .nullable();

export const change = z
  .strictObject({
    what: text,
    from: text.nullable(),
    to: text.nullable(),
    since: moment.describe('When Warmwarden last read the old value.'),
    seen_at: moment,
    text,
  })
  .describe('What others changed.');

/** part: judging (warm-up and statistics are read) or details (then connection, DNS and blacklists). */
export function sweepJson(sweep: SweepProgress | undefined, telling: AnswerTime) {
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
