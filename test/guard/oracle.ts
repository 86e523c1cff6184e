// A second reading of the guard's policy, written from its description alone and in another shape than src/core/guard:
// day numbers instead of dates, one array indexed by age in days, exact big integers instead of floating point.
import type { FleetPressure } from '../../src/cli/decide.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import type { Situation } from '../../src/core/guard/judge.ts';
import type { Policy } from '../../src/core/policy.ts';
import type { EvidenceStart } from '../../src/core/verdict.ts';

/** What the oracle says, in the verdict's words. */
export interface OracleVerdict {
  readonly action: string;
  readonly reason: string;
  readonly wanted: string;
  readonly sent: number;
  readonly bounced: number;
  readonly limitPpm: number | null;
}

/** The emails of one day; 'illegible' when a count is missing, negative or no integer. */
type DayCounts = readonly [sent: bigint, bounced: bigint] | 'illegible';

/** What leads to another verdict than the counts do. */
interface OtherReading {
  readonly history: History;
  /** It takes bounces away. */
  readonly denies: boolean;
}

/** Days by age: [0] is the newest day, [1] the day before it. A hole is a day without a row. */
type History = readonly (DayCounts | undefined)[];

const none: readonly [bigint, bigint] = [0n, 0n];
const million = 1_000_000n;

/** Days since 1970 of a calendar date, null for a text that is none. */
function dayNumber(text: string | null): number | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '');
  if (!parts) return null;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const at = new Date(Date.UTC(year, month - 1, day));
  const real = at.getUTCFullYear() === year && at.getUTCMonth() === month - 1 && at.getUTCDate() === day;
  return real ? at.getTime() / 86_400_000 : null;
}

function countsOf(row: StatsRow): DayCounts {
  const legible = [row.sent, row.bounced].every((count) => Number.isSafeInteger(count) && (count ?? -1) >= 0);
  return legible ? [BigInt(row.sent ?? 0), BigInt(row.bounced ?? 0)] : 'illegible';
}

/** More sent wins, then more bounced; beside an illegible row nobody knows which is right. */
function heavier(a: DayCounts | undefined, b: DayCounts): DayCounts {
  if (a === undefined) return b;
  if (a === 'illegible' || b === 'illegible') return 'illegible';
  return [a, b].sort((x, y) => Number(y[0] - x[0]) || Number(y[1] - x[1]))[0] ?? b;
}

interface Reading {
  /** Day number of the newest row; null without a usable row. */
  readonly newest: number | null;
  readonly history: History;
  readonly undated: boolean;
}

function read(rows: readonly StatsRow[], todayNumber: number, keepsBlank = false): Reading {
  const dated = rows.map((row) => ({ day: dayNumber(row.date), counts: countsOf(row) }));
  const inTime = dated.flatMap(({ day, counts }) => (day !== null && day <= todayNumber + 1 ? [{ day, counts }] : []));
  // Rows of zeros for tomorrow are no newest day where there is another.
  const ofTomorrow = inTime.filter(({ day }) => day > todayNumber);
  const isBlank = ofTomorrow.every(({ counts }) => counts !== 'illegible' && counts[0] === 0n && counts[1] === 0n);
  const usable =
    !keepsBlank && isBlank && ofTomorrow.length < inTime.length
      ? inTime.filter(({ day }) => day <= todayNumber)
      : inTime;
  const newest = usable.reduce<number | null>((most, { day }) => (most === null || day > most ? day : most), null);
  const history: (DayCounts | undefined)[] = [];
  for (const { day, counts } of usable) {
    const age = (newest ?? day) - day;
    if (age < 1_000) history[age] = heavier(history[age], counts);
  }
  return { newest, history, undated: dated.some(({ day }) => day === null) };
}

const between = (day: number, first: number, last: number) => day >= first && day <= last;

/** The rows of each age, those first that count. */
function rowsByAge(rows: readonly StatsRow[], newest: number): ReadonlyMap<number, readonly StatsRow[]> {
  const byAge = new Map<number, StatsRow[]>();
  for (const row of rows) {
    const day = dayNumber(row.date);
    if (day !== null && day <= newest) byAge.set(newest - day, [...(byAge.get(newest - day) ?? []), row]);
  }
  const weight = ({ sent, bounced }: StatsRow) => (sent ?? 0) * 1e6 + (bounced ?? 0);
  for (const [age, doubles] of byAge) {
    if (doubles.some((row) => countsOf(row) === 'illegible')) byAge.delete(age);
    else
      byAge.set(
        age,
        [...doubles].sort(
          (a, b) =>
            weight(b) - weight(a) ||
            Number((a.delivered ?? 1e9) > (b.delivered ?? 1e9)) - Number((a.delivered ?? 1e9) < (b.delivered ?? 1e9)) ||
            (b.bounceRatePercent ?? -1) - (a.bounceRatePercent ?? -1),
        ),
      );
  }
  return byAge;
}

/** The same days by a second row, by the rate, and by what was delivered. */
function otherReadings(rows: readonly StatsRow[], newest: number, todayNumber: number): readonly OtherReading[] {
  const legible = rowsByAge(rows, newest);
  const { history } = read(rows, newest - 1, true);
  const withBounces = (denies: boolean, bouncesOf: (row: StatsRow, age: number) => number | null): OtherReading => ({
    denies,
    history: Array.from(history, (counts, age) => {
      const row = legible.get(age)?.[0];
      const bounces = row ? bouncesOf(row, age) : null;
      return row && bounces !== null ? ([BigInt(row.sent ?? 0), BigInt(bounces)] as const) : counts;
    }),
  });
  const byRate = ({ sent, bounced, bounceRatePercent: percent }: StatsRow): number | null => {
    const [s, b] = [sent ?? 0, bounced ?? 0];
    if (s === 0 || percent === null || percent < 0 || (percent >= 100 && b >= s)) return null;
    return Math.abs((b / s) * 100 - percent) <= 0.01 ? null : Math.floor((percent * s) / 100 + 0.5);
  };
  const counted = [...legible].map(([, [first]]) => first);
  const isDeliveryCounted = counted.some((row) => (row?.delivered ?? 0) > 0);
  const byDelivery = ({ sent, bounced, delivered }: StatsRow, age: number): number | null => {
    const missed = (sent ?? 0) - (delivered ?? 0);
    if (!isDeliveryCounted || delivered === null || missed < 0 || delivered < 0) return null;
    return newest - age < todayNumber - 1 ? missed : Math.min(missed, bounced ?? 0);
  };
  const second: OtherReading = {
    denies: false,
    history: Array.from(history, (counts, age) => {
      const others = legible.get(age)?.slice(1) ?? [];
      const [worst] = [...others].sort((a, b) => (b.bounced ?? 0) - (a.bounced ?? 0) || (a.sent ?? 0) - (b.sent ?? 0));
      return worst ? ([BigInt(worst.sent ?? 0), BigInt(worst.bounced ?? 0)] as const) : counts;
    }),
  };
  const denying = withBounces(true, (row) => ((row.bounced ?? 0) > (row.sent ?? 0) ? byRate(row) : null));
  return [second, withBounces(false, byRate), withBounces(false, byDelivery), denying];
}

/** The history as evidence: days before the start are gone, its first day counts without what it already held. */
function since(history: History, newest: number, start: EvidenceStart | null): History {
  const first = start && dayNumber(start.from);
  if (!start || first === null) return history;
  return Array.from(history, (counts, age) => {
    const day = newest - age;
    if (day < first) return undefined;
    if (day > first || counts === undefined || counts === 'illegible' || !start.before) return counts;
    const left = (now: bigint, then: number) => (now > BigInt(then) ? now - BigInt(then) : 0n);
    return [left(counts[0], start.before.sent), left(counts[1], start.before.bounced)] as const;
  });
}

/** Sum of the days of age 0 to `days` - 1; what can't be read adds nothing. */
function total(history: History, days: number): readonly [bigint, bigint] {
  return history
    .slice(0, days)
    .map((counts) => (counts === undefined || counts === 'illegible' ? none : counts))
    .reduce<readonly [bigint, bigint]>(([sent, bounced], [s, b]) => [sent + s, bounced + b], none);
}

function illegibleWithin(history: History, days: number): boolean {
  return history.slice(0, days).includes('illegible');
}

/** Length of the evidence window in days: the shortest that holds 1/limit emails, within the policy's bounds. */
function windowLength(history: History, policy: Policy, limitPpm: number | null): number {
  let days = policy.windowDays;
  if (limitPpm === null) return days;
  const enough = (sent: bigint) => sent * BigInt(limitPpm) >= million;
  while (days < policy.windowMaxDays && !enough(total(history, days)[0]) && history[days] !== 'illegible') days += 1;
  return days;
}

/** docs/decisions/0004: where the longer window would hide a breach of the base window, the base window counts. */
function unhidden(history: History, policy: Policy, limitPpm: number | null, length: number): number {
  if (limitPpm === null) return length;
  const isBreach = (days: number) => {
    const [sent, bounced] = total(history, days);
    const enough = bounced >= BigInt(policy.minBounces) && bounced <= sent;
    return enough && bounced * million > BigInt(limitPpm) * sent;
  };
  return isBreach(policy.windowDays) && !isBreach(length) ? policy.windowDays : length;
}

/** Weekdays of day numbers: 1970-01-01 was a Thursday; 0 is Sunday. */
const isAtWeekend = (day: number) => [0, 6].includes((day + 4) % 7);

/** Days on which the mailbox would have sent, after the newest row and up to today: its history does not show that it rests on them. */
function missedDays(newest: number, todayNumber: number, weekdaysOnly: boolean, history: History): number {
  const mailed = history.flatMap((counts, age) =>
    counts === 'illegible' || (counts?.[0] ?? 0n) > 0n ? [newest - age] : [],
  );
  const restsAtWeekends = weekdaysOnly || (mailed.length > 0 && !mailed.some(isAtWeekend));
  const restsOn = (day: number) => {
    const sameWeekday = [7, 14, 21, 28].map((ago) => day - ago);
    const isShown = sameWeekday.some((date) => date <= newest && date > newest - history.length);
    return mailed.length > 0 && isShown && !sameWeekday.some((date) => mailed.includes(date));
  };
  let missed = 0;
  for (let day = newest + 1; day <= todayNumber && missed < 100; day += 1) {
    if (!(restsAtWeekends && isAtWeekend(day)) && !restsOn(day)) missed += 1;
  }
  return missed;
}

/** Rows must be legible whether or not they are evidence; more bounced than sent in both pools is no emergency. */
function isEmergency(history: History, evidence: History, policy: Policy): boolean {
  const { days, minBounces, ratePpm } = policy.emergency;
  const [late, early] = total(evidence, days);
  const length = early > late ? policy.windowDays : days;
  if (illegibleWithin(history, days) || illegibleWithin(history, length)) return false;
  const [sent, bounced] = total(evidence, length);
  return bounced <= sent && bounced >= BigInt(minBounces) && bounced * million >= BigInt(ratePpm) * sent;
}

/** The same, with as many emails a day as were counted before they were lost. */
function isEmergencyBeside(
  evidence: History,
  policy: Policy,
  { sent: was, days: over }: { sent: number; days: number },
): boolean {
  const { days, ratePpm } = policy.emergency;
  const [late, early] = total(evidence, days);
  const [sent, bounced] = total(evidence, early > late ? policy.windowDays : days);
  return Number(bounced) * 1e6 >= ratePpm * Math.max(Number(sent), (was * days) / over);
}

/** For a week after it was found in recovery mode with a breach one bounce is enough. */
function isFoundLately({ windowDays }: Policy, { mode, foundBreachAt, now }: Situation): boolean {
  return mode === 'recovery' && foundBreachAt !== null && (now - foundBreachAt) / 86_400_000 < windowDays;
}

/** The shortest of one to three newest days with at least three bounces more than the limit allows. */
function burstLength(evidence: History, limitPpm: number): number | null {
  const isBurst = (days: number) => {
    const [sent, bounced] = total(evidence, days);
    return (bounced - 3n) * million >= BigInt(limitPpm) * sent;
  };
  return [1, 2, 3].find(isBurst) ?? null;
}

/** Days with emails that are later than the day since which nothing was judged; none where the last look was judged. */
function daysUnjudged({ rows, unjudgedSince, now, apiAheadMs = 0 }: Situation): readonly number[] {
  const since = dayNumber(unjudgedSince);
  const { newest, history } = read(rows ?? [], Math.floor((now + apiAheadMs) / 86_400_000));
  if (newest === null || since === null) return [];
  const sends = (counts: DayCounts | undefined) => counts !== undefined && counts !== 'illegible' && counts[0] > 0n;
  return Array.from(history, (counts, age) => (sends(counts) ? newest - age : since)).filter((day) => day > since);
}

/** Reasons of a hold for which nothing can be said of the bounces. */
const blinding = [
  'bad_payload',
  'invalid_row',
  'unknown_mode',
  'implausible_counts',
  'no_evidence',
  'missing_counts',
  'contradicting_counts',
];

/** What is said of a mailbox whose word says that it does not run, although emails left that the word did not see. */
function againstWord(running: OracleVerdict, asSaid: OracleVerdict): OracleVerdict {
  if (blinding.includes(running.reason)) return running;
  if (asSaid.reason === 'not_running' && running.reason === 'emergency') return running;
  const isWanted = running.wanted === 'recovery' || running.wanted === 'pause';
  return isWanted ? { ...running, action: 'hold', reason: 'word_against_counts' } : asSaid;
}

/** The verdict, in the order of the policy; the breaker, its step 8, is not in it. */
export function oracle(written: Policy, situation: Situation): OracleVerdict {
  const isFound = isFoundLately(written, situation);
  const policy = isFound ? { ...written, minBounces: 1 } : written;
  const todayNumber = Math.floor(situation.now / 86_400_000);
  const apiDay = Math.floor((situation.now + (situation.apiAheadMs ?? 0)) / 86_400_000);
  const { newest, history, undated } = read(situation.rows ?? [], apiDay);
  const limitPpm = new Map<string | null, number>(Object.entries(policy.limitsPpm)).get(situation.mode) ?? null;
  const evidence = newest === null ? [] : since(history, newest, situation.evidence);
  const length = unhidden(evidence, policy, limitPpm, windowLength(evidence, policy, limitPpm));
  const [sent, bounced] = total(evidence, length);
  const notified = { sent: Number(sent), bounced: Number(bounced), limitPpm };
  const hold = (reason: string, wanted = 'hold'): OracleVerdict => ({ action: 'hold', reason, wanted, ...notified });
  /** What is no hold: with an unknown status word it becomes one. */
  const say = (action: string, reason: string, wanted = action): OracleVerdict =>
    situation.run === 'unknown' ? hold('unknown_status', wanted) : { action, reason, wanted, ...notified };

  if (situation.run === 'paused' || situation.run === 'not_running') {
    const asSaid = say('none', situation.run === 'paused' ? 'already_paused' : 'not_running');
    const isDenied = daysUnjudged(situation).some((day) => day >= todayNumber - 1);
    return isDenied ? againstWord(oracle(written, { ...situation, run: 'running' }), asSaid) : asSaid;
  }
  if (situation.rows === null) return hold('bad_payload');
  const isBurning =
    newest !== null && isEmergency(history, since(history, newest, situation.emergencyEvidence), policy);
  if (situation.lost) {
    const [first, last] = [dayNumber(situation.lost.from) ?? 0, dayNumber(situation.lost.to) ?? 0];
    const left = total(
      history.map((counts, age) => (between((newest ?? 0) - age, first, last) ? counts : undefined)),
      history.length,
    );
    const isGutted = Number(left[0]) * 4 <= situation.lost.sent;
    const burning = newest === null ? [] : since(history, newest, situation.emergencyEvidence);
    const lost = { sent: situation.lost.sent, days: last - first + 1 };
    if (!isBurning || (isGutted && !isEmergencyBeside(burning, policy, lost)))
      return { ...hold('missing_counts'), sent: Number(left[0]), bounced: Number(left[1]) };
  }
  const isBlank = history.every(
    (counts) => counts === undefined || (counts !== 'illegible' && counts[0] + counts[1] === 0n),
  );
  if (isBlank && situation.expectsEmails && !undated) return hold('missing_counts');
  if (newest === null)
    return undated ? hold('invalid_row') : { action: 'none', reason: 'no_data', wanted: 'none', ...notified };
  if (missedDays(newest, todayNumber, situation.weekdaysOnly, history) > policy.staleAfterDays)
    return hold('stale_data');
  const gradeOf = (counted: History): number => {
    if (isEmergency(counted, since(counted, newest, situation.emergencyEvidence), policy)) return 2;
    if (limitPpm === null) return 0;
    const counts = since(counted, newest, situation.evidence);
    const [s, b] = total(counts, unhidden(counts, policy, limitPpm, windowLength(counts, policy, limitPpm)));
    return b >= BigInt(policy.minBounces) && b <= s && b * million > BigInt(limitPpm) * s ? 1 : 0;
  };
  const byCounts = gradeOf(history);
  const isDenied = otherReadings(situation.rows ?? [], newest, todayNumber).some((other) =>
    other.denies ? gradeOf(other.history) < byCounts : byCounts === 0 && gradeOf(other.history) > 0,
  );
  if (isDenied) return hold('contradicting_counts');
  const recent = since(history, newest, situation.emergencyEvidence);
  if (isEmergency(history, recent, policy)) return say('pause', 'emergency');
  if (limitPpm === null) return hold('unknown_mode');
  if (undated || illegibleWithin(history, policy.windowDays)) return hold('invalid_row');
  const [lastSent, lastBounced] = total(history, policy.windowDays);
  if (bounced > sent && !(isFound && lastBounced <= lastSent)) return hold('implausible_counts');
  const breach = (): OracleVerdict => {
    const inRecovery = situation.mode === 'recovery';
    const repeated = situation.recentInterventions + 1 >= policy.maxInterventions.count;
    const choice = inRecovery ? policy.onRecoveryBreach : policy.onBreach;
    const reason = repeated ? 'repeat_offender' : 'bounce_rate_over_limit';
    const wanted = inRecovery || repeated || choice === 'pause' ? 'pause' : 'recovery';
    if (choice === 'alert') return say('none', reason, wanted);
    return situation.firstSight ? hold('first_sight', wanted) : say(wanted, reason);
  };
  const over = bounced * million > BigInt(limitPpm) * sent;
  const breaches = over && bounced >= BigInt(policy.minBounces);
  const burst = burstLength(evidence, limitPpm);
  if (!breaches && policy.burst === 'act' && burst !== null) {
    const [burstSent, burstBounced] = total(evidence, burst);
    const said = breach();
    return said.reason === 'unknown_status'
      ? said
      : { ...said, sent: Number(burstSent), bounced: Number(burstBounced) };
  }
  if (!over) {
    if (!isFound || lastBounced * million <= BigInt(limitPpm) * lastSent) {
      return sent === 0n && daysUnjudged(situation).length >= 2 ? hold('no_evidence') : say('none', 'ok');
    }
    const asFound = { sent: Number(lastSent), bounced: Number(lastBounced), limitPpm };
    return { ...say('none', 'insufficient_evidence'), ...(situation.run === 'unknown' ? notified : asFound) };
  }
  return breaches ? breach() : say('none', 'insufficient_evidence');
}

/** Step 8 as the page puts it: at least max(5, min(10% of the running, 25)) mailboxes across at least 3 domains. */
export function oracleTrips(breaker: Policy['breaker'], pressure: FleetPressure): boolean {
  const share = (BigInt(breaker.sharePpm) * BigInt(pressure.active) + million - 1n) / million;
  const threshold = Math.max(breaker.minMailboxes, Math.min(Number(share), breaker.maxMailboxes));
  return pressure.pending >= threshold && pressure.distinct_domains >= breaker.minDomains;
}
