// The guard's own judge over a simulated mailbox: when it would act, when each alarm restarts the evidence the next day.

import type { StatsRow } from '../../../src/core/answers.ts';
import { judge } from '../../../src/core/guard/judge.ts';
import type { Policy, WarmupMode } from '../../../src/core/policy.ts';
import { addDays, dayMs, type IsoDate } from '../../../src/core/time.ts';
import type { Verdict } from '../../../src/core/verdict.ts';
import { type History, pollsPerDay } from './history.ts';

/** The first simulated day, a Monday. */
const firstDay: IsoDate = '2026-01-05';
export const firstDayMs = Date.parse(`${firstDay}T00:00:00Z`);

const dates: IsoDate[] = Array.from({ length: 200 }, (_, day) => addDays(firstDay, day));

export interface Alarm {
  /** Of the poll that saw it; a poll shows what happened until its end. */
  readonly poll: number;
  readonly verdict: Verdict;
}

export interface Watch {
  readonly policy: Policy;
  readonly mode: WarmupMode;
  readonly history: History;
  /** Stops at the first alarm from this poll on; with Infinity it looks at the whole history. */
  readonly stopFrom: number;
  /** Polls to look at. */
  readonly polls: number;
  /** true: every single poll is judged; slow, to prove that the others need not be. */
  readonly judgeAll: boolean;
}

/**
 * Every alarm in order. Volume does not react; first sight and breaker are off, as in the study.
 *
 * The judge is asked wherever the bounces changed, at the first poll of a day, and after a hold. In between only emails
 * were added to a day that counts anyway: that dilutes every window that it looks at, so a verdict without an action
 * stays one. (The extension ends earlier with more emails, but it was under 1/limit emails before its last day, and no
 * day of a window that is extended holds as much, so two bounces are a breach with that day or without it.)
 * The first poll of a day is left out where even all bounces of 30 days over the emails of seven are no alarm.
 */
export function alarmsOf(watch: Watch): readonly Alarm[] {
  const { policy, mode, history, judgeAll } = watch;
  const alarms: Alarm[] = [];
  const rows: StatsRow[] = [];
  const day = { sent: 0, bounced: 0 };
  let evidenceDay = 0;
  let held = false;
  for (let poll = 0; poll < watch.polls; poll += 1) {
    const today = Math.floor(poll / pollsPerDay);
    const fresh = poll % pollsPerDay === 0;
    if (fresh) [day.sent, day.bounced] = [0, 0];
    day.sent += history.sent[poll] ?? 0;
    const arrived = history.bounced[poll] ?? 0;
    day.bounced += arrived;
    rows[today] = rowOf(today, day.sent, day.bounced);
    const asked = judgeAll || arrived > 0 || held || (fresh && mightAct(rows, watch, evidenceDay));
    if (!asked) continue;
    const verdict = verdictAt(rows, { policy, mode, poll, evidenceDay });
    held = verdict.action === 'hold';
    if (verdict.action !== 'recovery' && verdict.action !== 'pause') continue;
    alarms.push({ poll, verdict });
    if (poll >= watch.stopFrom) break;
    evidenceDay = today + 1;
  }
  return alarms;
}

/** What the judge says at the end of a poll, of a mailbox whose evidence began on a day (0: with its first). */
export function verdictAt(
  rows: readonly StatsRow[],
  at: { readonly policy: Policy; readonly mode: WarmupMode; readonly poll: number; readonly evidenceDay: number },
): Verdict {
  const { policy, mode, poll, evidenceDay } = at;
  const now = firstDayMs + ((poll + 1) * dayMs) / pollsPerDay - 1;
  const evidence = evidenceDay === 0 ? null : { from: dates[evidenceDay] ?? firstDay, before: null };
  return judge(policy, {
    mode,
    run: 'running',
    weekdaysOnly: false,
    rows: rows.slice(-policy.windowMaxDays),
    now,
    statsAt: now,
    evidence,
    // An emergency must not fire again on the bounces that it acted upon: the open loop restarts this evidence, too.
    emergencyEvidence: evidence,
    unjudgedSince: null,
    foundBreachAt: null,
    recentInterventions: 0,
    firstSight: false,
    claim: null,
    contested: false,
  });
}

/** A day as the API shows it, read: percentages with two decimals, 0.00 of nothing. */
export function rowOf(day: number, sent: number, bounced: number): StatsRow {
  const delivered = Math.max(0, sent - bounced);
  return {
    date: dates[day] ?? null,
    sent,
    bounced,
    delivered,
    opened: delivered,
    replied: 0,
    spamLanded: 0,
    healthScore: null,
    inboxRatePercent: 100,
    bounceRatePercent: sent === 0 ? 0 : Math.round((bounced / sent) * 10_000) / 100,
  };
}

/**
 * Every window holds at least the emails of its base (an emergency: of its last days) and at most all bounces: where even
 * those counts are no alarm, no window is one.
 */
function mightAct(rows: readonly StatsRow[], { policy, mode }: Watch, evidenceDay: number): boolean {
  const today = rows.length - 1;
  let [bounced, baseSent, newestSent] = [0, 0, 0];
  for (let day = Math.max(evidenceDay, rows.length - policy.windowMaxDays); day <= today; day += 1) {
    const sent = rows[day]?.sent ?? 0;
    bounced += rows[day]?.bounced ?? 0;
    if (day > today - policy.windowDays) baseSent += sent;
    if (day > today - policy.emergency.days) newestSent += sent;
  }
  const mightBreach = bounced >= policy.minBounces && bounced * 1e6 > policy.limitsPpm[mode] * baseSent;
  const { minBounces, ratePpm } = policy.emergency;
  return mightBreach || (bounced >= minBounces && bounced * 1e6 >= ratePpm * newestSent);
}
