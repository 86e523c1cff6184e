// A simulated fleet for the alerts beyond one mailbox: what its pooled counts say, poll by poll.

import type { StatsRow } from '../../../src/core/answers.ts';
import { accountShift, domainExcess, domainWeek, type Pools, poolsOf } from '../../../src/core/guard/pooled-rules.ts';
import { type LimitedDays, limitedDays } from '../../../src/core/guard/window.ts';
import { defaultPolicy, type WarmupMode } from '../../../src/core/policy.ts';
import { addDays, dayMs, type IsoDate } from '../../../src/core/time.ts';
import { rowOf, verdictAt } from './alarms.ts';
import { type History, pollsPerDay } from './history.ts';

const firstDay: IsoDate = '2026-01-05';
const firstDayMs = Date.parse(`${firstDay}T00:00:00Z`);
const longestDays = 1_000;
const dates: readonly IsoDate[] = Array.from({ length: longestDays }, (_, day) => addDays(firstDay, day));

export const mailboxesPerDomain = 5;

/** The end of a poll; a poll shows what happened until its end. */
function momentOf(poll: number): number {
  return firstDayMs + ((poll + 1) * dayMs) / pollsPerDay - 1;
}

/** The days of one history, or of several together, that a poll shows: the last `count`, today as far as it got. */
class DaysSoFar {
  readonly #histories: readonly History[];
  readonly #mode: WarmupMode;
  readonly #count: number;
  #days: LimitedDays['days'] = [];
  #next = 0;

  constructor(histories: readonly History[], mode: WarmupMode, count: number) {
    this.#histories = histories;
    this.#mode = mode;
    this.#count = count;
  }

  upTo(poll: number): LimitedDays | null {
    for (; this.#next <= poll; this.#next += 1) {
      const date = dates[Math.floor(this.#next / pollsPerDay)] ?? firstDay;
      const today = this.#days.at(-1);
      const before = today?.date === date ? today : { date, sent: 0, bounced: 0 };
      const sum = (field: 'sent' | 'bounced') =>
        this.#histories.reduce((total, history) => total + (history[field][this.#next] ?? 0), before[field]);
      const rest = today?.date === date ? this.#days.slice(0, -1) : this.#days.slice(1 - this.#count);
      this.#days = [...rest, { ...before, sent: sum('sent'), bounced: sum('bounced') }];
    }
    const rows = this.#days.map(({ date, sent, bounced }) => ({ ...rowOf(0, sent, bounced), date }));
    const at = momentOf(poll);
    const answers = { stats: { at, answer: { rows } }, warmup: { at, answer: { mode: this.#mode } }, memory: null };
    return limitedDays(answers, defaultPolicy);
  }
}

/** Mailboxes that all count, each in the domain that `domainOf` names. */
function pooled(days: readonly DaysSoFar[], poll: number, domainOf: (index: number) => string): Pools {
  return poolsOf(
    days.map((one, index) => ({ domain: domainOf(index), standing: 'counted' as const, days: one.upTo(poll) })),
  );
}

const daysOfDomainRule = 7;
const daysOfShiftRule = 30;

/**
 * The polls at which `shared_bounces` fires for the mailboxes of one domain. It is asked only where a bounce came (in
 * between only emails are added), and at every poll while it fires.
 */
export function domainAlerts(histories: readonly History[], mode: WarmupMode): readonly number[] {
  const days = histories.map((history) => new DaysSoFar([history], mode, daysOfDomainRule));
  const polls = histories[0]?.sent.length ?? 0;
  const fired: number[] = [];
  let isFiring = false;
  for (let poll = 0; poll < polls; poll += 1) {
    if (!isFiring && !histories.some(({ bounced }) => bounced[poll])) continue;
    const now = momentOf(poll);
    const domain = pooled(days, poll, () => 'd').domains.get('d');
    if (!domain) continue;
    const isOver = domainExcess(domain, now) !== null;
    if (isOver && !isFiring) fired.push(poll);
    isFiring = isOver || (isFiring && domainWeek(domain, now)?.isWithinLimits === false);
  }
  return fired;
}

/** The polls at which `shared_bounces` fires. A domain's mailboxes are added up first: the rule knows domains only. */
export function shiftAlerts(domains: readonly (readonly History[])[], mode: WarmupMode): readonly number[] {
  const days = domains.map((histories) => new DaysSoFar(histories, mode, daysOfShiftRule));
  const polls = domains[0]?.[0]?.sent.length ?? 0;
  const fired: number[] = [];
  let isFiring = false;
  for (let poll = 0; poll < polls; poll += 1) {
    const shift = accountShift(
      pooled(days, poll, (index) => `d${index}`),
      momentOf(poll),
    );
    if (!shift) continue;
    if (shift.isShifted && !isFiring) fired.push(poll);
    isFiring = shift.isShifted || (isFiring && !shift.hasEnded);
  }
  return fired;
}

/** The polls at which `bounce_burst` fires. A breach belongs to other alerts, and restarts the evidence. */
export function burstAlerts(history: History, mode: WarmupMode): readonly number[] {
  const rows: StatsRow[] = [];
  const fired: number[] = [];
  let [evidenceDay, isFiring] = [0, false];
  for (const [poll, arrived] of history.bounced.entries()) {
    const day = Math.floor(poll / pollsPerDay);
    const today = rows[day];
    rows[day] = rowOf(day, (today?.sent ?? 0) + (history.sent[poll] ?? 0), (today?.bounced ?? 0) + arrived);
    if (arrived === 0 && !isFiring) continue;
    const { action, burst } = verdictAt(rows, { policy: defaultPolicy, mode, poll, evidenceDay });
    const isBreach = action === 'recovery' || action === 'pause';
    if (isBreach) evidenceDay = day + 1;
    const isBurst = !isBreach && Boolean(burst);
    if (isBurst && !isFiring) fired.push(poll);
    isFiring = isBurst;
  }
  return fired;
}
