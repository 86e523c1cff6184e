// The running counts beyond one mailbox equal a full recount, whatever happens to the mailboxes and in whatever order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newMailbox } from '../../src/account/record/observe.ts';
import { PooledMailboxes } from '../../src/account/record/pooled-mailboxes.ts';
import type { PooledSum } from '../../src/core/breaker.ts';
import { exact } from '../../src/core/exact.ts';
import { type CountedDay, limitedDays } from '../../src/core/guard/window.ts';
import { domainOf, type MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy, type Policy, warmupModes } from '../../src/core/policy.ts';
import { addDays, dayMs, hourMs, type IsoDate, utcDate } from '../../src/core/time.ts';
import type { EarlierMode, RunState } from '../../src/core/verdict.ts';
import { sampleVerdict } from '../alerts/samples.ts';
import { now as start } from '../guard/samples.ts';
import { rowsUpTo } from '../guard/situations.ts';

const share = process.env['WARMWARDEN_SLOW'] ? 5 : 1;
const domains = ['a.example', 'b.example', 'C.example'];
const ids = [0, 1, 2, 3, 4, 5, 6, 7];
const staleAfterMs = 60 * hourMs;
const strict: Policy = {
  ...defaultPolicy,
  limitsPpm: { slow: 1_000, balanced: 2_000, aggressive: 3_000, recovery: 700 },
};

/** What the test believes of a mailbox, and how it got there. */
interface Known {
  readonly mailbox: MailboxState;
  readonly policy: Policy;
  readonly judged: boolean;
  /** When its rows were taken in: the future is left out as of then. */
  readonly takenAt: number;
}

type Happening =
  | { readonly kind: 'answer'; readonly id: number; readonly rows: MailboxState['stats'] }
  | { readonly kind: 'mode'; readonly id: number; readonly mode: string }
  | { readonly kind: 'run'; readonly id: number; readonly run: RunState }
  | { readonly kind: 'rename'; readonly id: number; readonly domain: string }
  | { readonly kind: 'not_committed'; readonly id: number; readonly mode: string }
  | { readonly kind: 'left' | 'arrived' | 'aged' | 'changed'; readonly id: number }
  | { readonly kind: 'reload' }
  | { readonly kind: 'time'; readonly ms: number };

const id = fc.constantFrom(...ids);
const mode = fc.constantFrom(...warmupModes, 'turbo');
const run = fc.constantFrom<RunState[]>('running', 'running', 'paused', 'not_running', 'unknown');
const rows = fc.option(rowsUpTo(utcDate(start)), { freq: 20 }).map((of) => ({ at: 0, answer: { rows: of } }));
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('answer' as const), id, rows }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mode' as const), id, mode }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), id, run }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('rename' as const), id, domain: fc.constantFrom(...domains) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('not_committed' as const), id, mode }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('left', 'arrived', 'aged', 'changed'),
      id,
    }) as fc.Arbitrary<Happening>,
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 0, max: 12 * hourMs }) }),
  },
  // Somebody sets the clock.
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: -20 * dayMs, max: 20 * dayMs }) }),
  },
);

const lookAt = (now: number, policy: Policy) => ({ policy, now, staleBefore: now - staleAfterMs });

function arrivedAs(number: number, now: number): MailboxState {
  const email = `m${number}@${domains[number % domains.length]}`;
  const answer = {
    id: `m${number}`,
    email,
    provider: null,
    status: 'active',
    healthScore: 90,
    dailyLimit: 40,
    warmupDay: 20,
  };
  const warmup = { status: 'active', mode: 'balanced', dailyLimit: 40, warmupDay: 20, healthScore: 90 };
  const config = { targetDailyLimit: null, replyRate: null, threadRate: null, weekdaysOnly: null };
  const window = { sendWindowStart: null, sendWindowEnd: null };
  const verdict = { at: now, answer: sampleVerdict() };
  const read = { at: now, answer: { ...warmup, config: { ...config, ...window }, recentBounces: [] } };
  return { ...newMailbox('acme', { at: now, answer }), warmup: read, verdict };
}

/** The same mailbox in another mode, with the one before in its memory. */
function inMode(mailbox: MailboxState, to: string, now: number): MailboxState {
  const before = mailbox.warmup?.answer.mode;
  if (!mailbox.warmup || before === to) return mailbox;
  const known = warmupModes.find((one) => one === before);
  const earlier: readonly EarlierMode[] = mailbox.memory?.earlierModes ?? [];
  const earlierModes = known ? [{ mode: known, until: utcDate(now) }, ...earlier] : earlier;
  const memory = { ...(mailbox.memory ?? {}), earlierModes } as MailboxState['memory'];
  return { ...mailbox, memory, warmup: { at: now, answer: { ...mailbox.warmup.answer, mode: to } } };
}

/** Lives through a history, checking after each step. */
class History {
  readonly known = new Map<string, Known>();
  readonly gone = new Map<string, Known>();
  now = start;
  counts = new PooledMailboxes('acme');

  live(step: Happening): void {
    if (step.kind === 'time') this.now += step.ms;
    if (step.kind === 'time') return;
    if (step.kind === 'reload') this.#reload();
    else this.#toOne(step);
  }

  #toOne(step: Exclude<Happening, { kind: 'time' | 'reload' }>): void {
    const key = `m${step.id}`;
    const known = this.known.get(key);
    if (step.kind === 'arrived' && !known) this.#arrive(step.id);
    if (!known || step.kind === 'arrived') return;
    const { mailbox } = known;
    if (step.kind === 'left') {
      this.gone.set(key, known);
      this.known.delete(key);
      this.counts.restore(key, null);
      return;
    }
    if (step.kind === 'not_committed') {
      const before = this.counts.kept(key);
      this.counts.put(inMode(mailbox, step.mode, this.now), lookAt(this.now, strict), true);
      this.counts.restore(key, before);
      return;
    }
    this.#put(known, this.#after(step, known));
  }

  #after(
    step: Exclude<Happening, { kind: 'time' | 'reload' | 'arrived' | 'left' | 'not_committed' }>,
    known: Known,
  ): Known {
    const { mailbox, policy } = known;
    const judged = { ...known, judged: true };
    // Before it was judged, nothing of it was taken in; the same days are not taken in again.
    const firstTakenAt = known.judged ? known.takenAt : this.now;
    switch (step.kind) {
      case 'answer': {
        const stats = step.rows && { ...step.rows, at: this.now };
        return { ...judged, mailbox: { ...mailbox, stats }, takenAt: this.now };
      }
      case 'mode': {
        const moved = inMode(mailbox, step.mode, this.now);
        return { ...judged, mailbox: moved, takenAt: moved === mailbox ? firstTakenAt : this.now };
      }
      case 'run':
        return {
          ...judged,
          mailbox: { ...mailbox, verdict: { at: this.now, answer: sampleVerdict({ run: step.run }) } },
          takenAt: firstTakenAt,
        };
      case 'rename':
        return { ...known, mailbox: { ...mailbox, email: `${mailbox.id}@${step.domain}` } };
      case 'changed':
        return { ...judged, policy: policy === strict ? defaultPolicy : strict, takenAt: this.now };
      default:
        return known;
    }
  }

  #put(before: Known, after: Known): void {
    this.known.set(after.mailbox.id, after);
    const justJudged = after.judged && (!before.judged || after !== before);
    this.counts.put(after.mailbox, lookAt(this.now, after.policy), justJudged);
  }

  #arrive(number: number): void {
    const back = this.gone.get(`m${number}`);
    const mailbox = back?.mailbox ?? arrivedAs(number, this.now);
    const known = { mailbox, policy: defaultPolicy, judged: false, takenAt: this.now };
    this.known.set(mailbox.id, known);
    this.counts.put(mailbox, lookAt(this.now, defaultPolicy), false);
  }

  /** The loop starts over: everything has to be judged again. */
  #reload(): void {
    for (const [key, known] of this.known) this.known.set(key, { ...known, judged: false, takenAt: this.now });
    const looks = [...this.known.values()].map(({ mailbox, policy }) => [mailbox, lookAt(this.now, policy)] as const);
    this.counts = new PooledMailboxes('acme');
    for (const [mailbox, look] of looks) this.counts.put(mailbox, look, false);
  }

  /** Time passes over all of them, as the time tick has it. */
  age(): void {
    for (const { mailbox, policy } of this.known.values()) this.counts.put(mailbox, lookAt(this.now, policy), false);
  }
}

interface Counted {
  readonly domain: string;
  readonly days: readonly (CountedDay & { readonly limitPpm: number })[];
}

/** All that is known, counted from the beginning: who counts, who is unknown, who is waited for. */
function recount({ known, now }: History) {
  const counted: Counted[] = [];
  const others: { readonly domain: string; readonly standing: 'unknown' | 'pending' }[] = [];
  for (const { mailbox, policy, judged, takenAt } of known.values()) {
    const domain = domainOf(mailbox.email);
    const since = now - staleAfterMs;
    const run = mailbox.verdict?.answer.run;
    if (!judged) others.push({ domain, standing: mailbox.firstSeenAt < since ? 'unknown' : 'pending' });
    else if (run !== 'not_running') {
      const mode = mailbox.warmup?.answer.mode ?? null;
      const earlierModes = mailbox.memory?.earlierModes ?? [];
      const { limitsPpm } = policy;
      const limited = limitedDays({
        stats: mailbox.stats?.answer ?? null,
        now: takenAt,
        mode,
        earlierModes,
        limitsPpm,
      });
      const isStale = (mailbox.stats?.at ?? mailbox.firstSeenAt) < since;
      const days = limited?.days.map((day) => ({ ...day, limitPpm: limited.limitOn(day.date) }));
      if (days && !isStale && run !== 'unknown') counted.push({ domain, days });
      else others.push({ domain, standing: 'unknown' });
    }
  }
  return { counted, others };
}

function sumOf(counted: readonly Counted[], from: IsoDate, to: IsoDate) {
  let [sent, bounced, allowed] = [0n, 0n, 0n];
  for (const day of counted.flatMap(({ days }) => days)) {
    if (day.date < from || day.date > to) continue;
    sent += BigInt(day.sent);
    bounced += BigInt(day.bounced);
    allowed += BigInt(day.sent) * BigInt(day.limitPpm);
  }
  return { sent, bounced, allowed };
}

const asSaid = ({ sent, bounced, allowed }: ReturnType<typeof sumOf>): PooledSum => ({
  sent: exact(sent),
  bounced: exact(bounced),
  allowed: exact(allowed),
});

function lastDay(counted: readonly Counted[], now: number): IsoDate | null {
  const dates = counted.flatMap(({ days }) => days.map(({ date }) => date)).sort();
  const newest = dates.at(-1);
  if (newest === undefined) return null;
  const earliest = utcDate(now - 2 * dayMs);
  return newest < earliest ? earliest : newest;
}

const bouncing = (counted: readonly Counted[], from: IsoDate) =>
  counted.filter(({ days }) => days.some(({ date, bounced }) => date >= from && bounced > 0));

/** docs/guard.md, read literally, over a full recount. */
function excessOf(counted: readonly Counted[], mailboxes: number, to: IsoDate | null) {
  if (to === null || mailboxes < 2) return null;
  for (let days = 1; days <= 7; days += 1) {
    const from = addDays(to, 1 - days);
    const sum = sumOf(counted, from, to);
    const enough = bouncing(counted, from).length >= Math.min(mailboxes, 3);
    if (enough && (sum.bounced - 3n) * 1_000_000n >= sum.allowed) return { ...asSaid(sum), from, to };
  }
  return null;
}

function expectSameAs(history: History): void {
  const { counted, others } = recount(history);
  const { counts, now } = history;
  for (const domain of domains.map((name) => name.toLowerCase())) {
    const own = counted.filter((one) => one.domain === domain);
    const unknown = others.filter((one) => one.domain === domain && one.standing === 'unknown').length;
    const pending = others.filter((one) => one.domain === domain && one.standing === 'pending').length;
    const said = counts.domain(domain, now);
    expect(said === null).toBe(own.length + unknown + pending === 0);
    if (!said) continue;
    expect({ counted: said.counted, unknown: said.unknown, pending: said.pending }).toEqual({
      counted: own.length,
      unknown,
      pending,
    });
    const to = lastDay(own, now);
    const excess = excessOf(own, own.length + unknown, to);
    expect(said.excess && { ...said.excess, mailboxes: 0 }).toEqual(excess && { ...excess, mailboxes: 0 });
    const stretches = to === null ? [] : [0, 1, 2, 3, 4, 5, 6].map((back) => sumOf(own, addDays(to, -back), to));
    const isWithinLimits = stretches.every(({ bounced, allowed }) => bounced * 1_000_000n <= allowed);
    const [week] = stretches.slice(-1).map(asSaid);
    expect(said.week()).toEqual(to === null ? null : { ...week, from: addDays(to, -6), to, isWithinLimits });
  }
  const { shift } = counts.shift(now);
  const to = lastDay(counted, now);
  if (to === null || !shift) return;
  const last = { from: addDays(to, -1), to };
  expect(shift.last).toEqual({ ...asSaid(sumOf(counted, last.from, last.to)), ...last });
  const before = { from: addDays(to, -29), to: addDays(to, -2) };
  expect(shift.before).toEqual({ ...asSaid(sumOf(counted, before.from, before.to)), ...before });
  expect(shift.domains).toBe(new Set(bouncing(counted, addDays(to, -1)).map(({ domain }) => domain)).size);
}

test('running counts equal a full recount, through departure, return, rename, reload and what is not committed', () => {
  let excesses = 0;
  fc.assert(
    fc.property(fc.array(happening, { minLength: 20, maxLength: 120 }), (steps) => {
      const history = new History();
      for (const number of ids) history.live({ kind: 'arrived', id: number });
      for (const step of steps) {
        history.live(step);
        history.age();
        expectSameAs(history);
        if (domains.some((name) => history.counts.domain(name.toLowerCase(), history.now)?.excess)) excesses += 1;
      }
    }),
    { numRuns: 100 * share },
  );
  expect(excesses).toBeGreaterThan(20);
});

test('a mailbox whose answer changes nothing keeps its part, and the worst of a domain are named', () => {
  const counts = new PooledMailboxes('acme');
  const policy = defaultPolicy;
  const mailboxes = [3, 1, 5, 0, 2].map((bounced, number) => {
    const stats = { at: start, answer: { rows: [{ ...sampleRow(utcDate(start)), sent: 40, bounced }] } };
    const mailbox = { ...arrivedAs(number * 3, start), stats };
    counts.put(mailbox, lookAt(start, policy), true);
    return mailbox;
  });
  const finding = counts.domain('a.example', start);
  expect(finding).toMatchObject({
    counted: 5,
    unknown: 0,
    pending: 0,
    excess: { bounced: 11, sent: 200, mailboxes: 5 },
  });
  expect(finding?.worst().map(({ email, bounced }) => [email, bounced])).toEqual([
    ['m6@a.example', 5],
    ['m0@a.example', 3],
    ['m12@a.example', 2],
  ]);
  expect(finding?.oldestAt()).toBe(start);
  const [first] = mailboxes;
  if (!first) throw new Error('there are five');
  const source = counts.kept(first.id)?.source;
  counts.put({ ...first, dns: null }, lookAt(start + hourMs, policy), true);
  expect(counts.kept(first.id)?.source).toBe(source);
});

function sampleRow(date: IsoDate) {
  const counts = { delivered: null, opened: null, replied: null, spamLanded: null };
  return { date, sent: 0, bounced: 0, ...counts, inboxRatePercent: null, bounceRatePercent: null };
}
