// Facts that several answers have in common: the schema of each, and how it is read. Unknown values are null.
import { z } from 'zod';
import type { Action } from '../../core/action.ts';
import { type Change, guardStates, type SweepProgress } from '../../core/mailbox.ts';
import { percent } from '../../core/policy.ts';
import type { DecisionDay, DecisionSpan } from '../../core/records.ts';
import type { EpochMs } from '../../core/time.ts';
import { reasons, type Verdict, verdictActions } from '../../core/verdict.ts';
import { changeSentence } from '../../core/wording/causes.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import { sweepText } from '../../core/wording/forecast.ts';
import { factsOf, holders, pausedBy } from '../../core/wording/states.ts';
import type { World } from '../../world/world.ts';
import type { MailboxRow } from '../overview/fleet.ts';

/** Time of an answer, and the IANA name of the zone of times in its sentences. */
export interface AnswerTime {
  readonly now: EpochMs;
  readonly zone: string;
}

interface TimeParts {
  readonly world: Pick<World, 'clock'>;
  readonly timeZone: () => string;
}

export function answerTimeOf({ world, timeZone }: TimeParts): AnswerTime {
  return { now: world.clock.now(), zone: timeZone() };
}

export const moment = z.iso.datetime();
export const text = z.string();
export const count = z.int().min(0);
export const number = z.number();
export const timeZone = text.describe('Of times in sentences: `alerts.time_zone`.');
export const texts = z.array(text).readonly();
export const nextCursor = text.nullable().describe('The `cursor` of the next page; null: this is the last.');

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
  limit_percent: number.nullable().describe('The bounce limit.'),
  window_from: z.iso.date().nullable().describe('The first day that counts.'),
  window_to: z.iso.date().nullable(),
  window_days: count,
  emergency: z
    .strictObject({
      ...{ sent: count, bounced: count, from: z.iso.date() },
      again: z.literal(true).optional().describe('Counting started again during that day, such as at a resume.'),
    })
    .nullable()
    .describe(
      'Counts of the newest emails, where so many bounced that it is an emergency in any mode. They decide then.',
    ),
  bounces_until_breach: number.nullable().describe('Further bounces until a breach.'),
  data_age_seconds: number.describe('How old the statistics were when they were judged.'),
  warnings: texts,
  explanation: text.describe('The decision in a sentence.'),
};

const verdict = z.strictObject(verdictFields).meta({ id: 'verdict', description: 'A decision of the guard.' });

export const datedVerdict = z.strictObject({ at: moment, ...verdictFields });

const dayCounts = listOf(z.strictObject({ date: z.iso.date(), sent: count.nullable(), bounced: count.nullable() }));

export const decision = z
  .strictObject({
    since: moment.describe('When it was first decided.'),
    until: moment.describe('When it was last decided.'),
    count: count.describe('How many answers led to it, up to 75 minutes ago. A restart may leave some out.'),
    first_sent: count.describe('Emails in the window at `since`; the other numbers are those at `until`.'),
    ...verdictFields,
    first_days: dayCounts.describe('The days in the window, as they were at `since`.'),
    days: dayCounts.describe('The days in the window, as they were at `until`.'),
  })
  .meta({ id: 'decision', description: 'A [verdict](#verdict) to which consecutive answers led, with more fields.' });

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

export const mailbox = z
  .strictObject({
    account: text,
    id: text,
    email: text,
    name: text.describe('Its address, followed by its id when another mailbox of the account has the same address.'),
    state: z.enum(guardStates),
    mode: text.nullable(),
    health_score: number.nullable().describe('0 to 100.'),
    dns_failing: texts.nullable().describe('Records that fail.'),
    dns_inconclusive: texts.nullable(),
    listings: z.union([count, z.literal('listed'), z.null()]).describe('Blacklists that list it.'),
    stats_at: moment.nullable().describe('When its statistics were read last.'),
    claim: z
      .strictObject({ kind: text, since: moment })
      .nullable()
      .describe('The change by Warmwarden that is in force.'),
    paused_by: text
      .nullable()
      .describe('Who paused its warm-up through Warmwarden, if a person did and it is still paused.'),
    held: z
      .strictObject({
        since: moment.nullable().describe('null: unknown.'),
        by: z
          .enum(holders)
          .describe('person: through Warmwarden; others: in another way, such as in the warm-up service.'),
        name: text.nullable().describe('Name of the person.'),
        text: text.describe('Since when, by whom and why, in sentences.'),
        ends: text.describe('What ends it.'),
      })
      .nullable()
      .describe('A pause, a recovery by Warmwarden, or an action that is held; null if there is none.'),
    alerts: texts.describe('Rules that fire for it.'),
    verdict: datedVerdict.nullable().describe('The newest [verdict](#verdict), with `at`.'),
  })
  .meta({ id: 'mailbox', description: 'A guarded mailbox.' });

/** First sweep of an account; null if it is over. */
export const firstSweep = z
  .strictObject({
    since: moment,
    mailboxes: count,
    read: count,
    done_at: moment.nullable().describe('When it is expected to end.'),
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

export function sweepFacts(sweep: SweepProgress | undefined, time: AnswerTime) {
  return sweep ? { ...sweep, text: sweepText(sweep, time) } : null;
}

export function rowFacts(row: MailboxRow) {
  const { mailbox: state, dns } = row;
  return {
    ...state,
    ...row,
    name: row.label,
    mode: state.warmup?.answer.mode ?? null,
    dnsFailing: dns?.failing ?? null,
    dnsInconclusive: dns?.inconclusive ?? null,
    claim: state.memory?.claim ?? null,
    pausedBy: row.state === 'paused_by_others' ? (pausedBy(factsOf(state))?.name ?? null) : null,
    alerts: row.alerts.map((alert) => alert.rule),
    verdict: row.verdict && state.verdict ? { at: state.verdict.at, ...verdictFacts(row.verdict) } : null,
  };
}

export function decisionFacts(recorded: DecisionSpan) {
  return {
    ...recorded,
    ...verdictFacts(recorded.verdict),
    firstDays: recorded.firstDays.map(dayFacts),
    days: recorded.days.map(dayFacts),
  };
}

const dayFacts = ([date, sent, bounced]: DecisionDay) => ({ date, sent, bounced });

export function changeFacts(change: Change, zone: string) {
  return { ...change, seenAt: change.at, text: changeSentence(change, zone) };
}

function verdictFacts(verdict: Verdict) {
  const { sent, bounced, limitPpm } = verdict;
  return {
    ...verdict,
    ratePercent: sent > 0 ? (bounced * 100) / sent : null,
    limitPercent: limitPpm === null ? null : percent(limitPpm),
    dataAgeSeconds: verdict.dataAgeMs / 1_000,
    explanation: explainVerdict(verdict),
  };
}

export function actionFacts(action: Action) {
  return { ...action, verdict: verdictFacts(action.verdict) };
}
