// The rules beyond one mailbox: golden cases, bounces that many mailboxes share, and the days that count.
import { describe, expect, test } from 'vitest';
import type { StatsAnswer } from '../../src/core/answers.ts';
import {
  accountShift,
  domainExcess,
  domainWeek,
  type Pools,
  poolsOf,
  type Standing,
} from '../../src/core/guard/pooled-rules.ts';
import { limitedDays } from '../../src/core/guard/window.ts';
import { defaultPolicy, type WarmupMode } from '../../src/core/policy.ts';
import { addDays, type IsoDate } from '../../src/core/time.ts';
import type { EarlierMode } from '../../src/core/verdict.ts';
import cases from './pooled-cases.json' with { type: 'json' };
import { daysUpTo, now, row, times, today } from './samples.ts';

interface PooledSample {
  readonly domain: string;
  readonly mode: WarmupMode;
  /** [sent, bounced], the oldest first. */
  readonly days: readonly (readonly [number, number])[];
  /** Its newest day; today where nothing is said. */
  readonly until?: IsoDate;
  readonly earlierModes?: readonly EarlierMode[];
  readonly standing?: Standing;
}

/** The days of a mailbox with these answers. */
function limited(rows: StatsAnswer['rows'], mode: string | null = 'slow', earlierModes: readonly EarlierMode[] = []) {
  const answers = {
    stats: { at: now, answer: { rows } },
    warmup: { at: now, answer: { mode } },
    memory: { earlierModes },
  };
  return limitedDays(answers, defaultPolicy);
}

/** An account of such mailboxes. */
function accountOf(samples: readonly PooledSample[]): Pools {
  return poolsOf(
    samples.map(({ domain, mode, days, until = today, earlierModes = [], standing = 'counted' }) => {
      const rows = daysUpTo(until, ...days);
      return { domain, standing, days: standing === 'counted' ? limited(rows, mode, earlierModes) : null };
    }),
  );
}

/** The same mailbox again and again. */
function each(count: number, sample: PooledSample): readonly PooledSample[] {
  return Array.from({ length: count }, () => sample);
}

type Excess = Readonly<Record<'sent' | 'bounced' | 'allowed' | 'mailboxes', number>> & { readonly from: string };

interface PooledCase {
  readonly id: string;
  readonly about: string;
  readonly mailboxes: readonly PooledSample[];
  /** By domain: its excess, or null, and whether its week is within the limits. */
  readonly expected: {
    readonly domains?: Readonly<Record<string, Excess | null>>;
    readonly within?: Readonly<Record<string, boolean>>;
  };
}

test.each(cases as unknown as readonly PooledCase[])('golden case $id: $about', ({ mailboxes, expected }) => {
  const account = accountOf(mailboxes);
  for (const [name, wanted] of Object.entries(expected.domains ?? {})) {
    const domain = account.domains.get(name);
    if (!domain) throw new Error(`no mailbox of ${name}`);
    const excess = domainExcess(domain, now);
    const said = excess && {
      from: excess.from,
      sent: Number(excess.sent),
      bounced: Number(excess.bounced),
      allowed: Number(excess.allowed) / 1e6,
      mailboxes: excess.mailboxes,
    };
    expect(said).toEqual(wanted);
  }
  for (const [name, wanted] of Object.entries(expected.within ?? {})) {
    const domain = account.domains.get(name);
    const week = domain ? domainWeek(domain, now) : null;
    expect(week?.isWithinLimits).toBe(wanted);
  }
});

/** Six domains of ten mailboxes, each with so many emails and bounces a day over 28 days, and then over the last two. */
function shifting(before: readonly [number, number], last: PooledSample['days'], days = 28) {
  const one = (domain: string): readonly PooledSample[] =>
    each(10, { domain, mode: 'balanced', days: [...times(days, ...before), ...last] });
  return [1, 2, 3, 4, 5, 6].flatMap((number) => one(`d${number}.example`));
}

describe('shared_bounces', () => {
  // 60 mailboxes, one bounce a week each in 280 emails: 8.6 a day.
  const usual = (domain: string, index: number): PooledSample => ({
    domain,
    mode: 'balanced',
    days: Array.from({ length: 30 }, (_, day) => [40, (day + index) % 7 === 0 ? 1 : 0] as const),
  });
  const fleet = Array.from({ length: 60 }, (_, index) => usual(`d${index % 6}.example`, index));
  const times2 = (sample: PooledSample, from: number): PooledSample => ({
    ...sample,
    days: sample.days.map(([sent, bounced], day) => [sent, day >= from ? bounced * 3 : bounced] as const),
  });

  test('sees a rate that has doubled, with at least 12 bounces more, on at least five domains', () => {
    const shift = accountShift(accountOf(fleet.map((one) => times2(one, 28))), now);
    expect(shift).toMatchObject({ isShifted: true, hasEnded: false, domains: 6 });
    expect(shift?.last).toMatchObject({ from: '2025-03-19', to: today, sent: 4_800 });
    expect(shift?.before).toMatchObject({ from: '2025-02-19', to: '2025-03-18', sent: 67_200 });
  });

  test('not on four domains', () => {
    const few = fleet.map((one, index) => ({ ...times2(one, 28), domain: `d${index % 4}.example` }));
    expect(accountShift(accountOf(few), now)).toMatchObject({ isShifted: false, hasEnded: false, domains: 4 });
  });

  test.each([
    ['as many as before', [20, 1], 0, false],
    ['11 more', [200, 0], 11, false],
    ['12 more', [200, 0], 12, true],
  ] as const)('%s', (_, [sent, bounced], more, isShifted) => {
    const samples = shifting([sent, bounced], times(2, sent, bounced)).map((sample, index) => {
      if (index >= more) return sample;
      // One bounce on each of the first mailboxes, spread over the domains by turns.
      return { ...sample, domain: `d${index % 6}.example`, days: [...sample.days.slice(0, -1), [200, 1] as const] };
    });
    expect(accountShift(accountOf(samples), now)?.isShifted).toBe(isShifted);
  });

  test('does not begin its days at a row for tomorrow without emails', () => {
    const until = addDays(today, 1);
    const samples = (sent: number) => ({ ...usual('d1.example', 0), until, days: [[sent, 0]] as const });
    const shiftOf = (sent: number) =>
      accountShift(accountOf([...shifting([40, 0], times(2, 40, 1)), samples(sent)]), now);
    expect(shiftOf(0)).toMatchObject({ isShifted: true, last: { to: today, bounced: 120 } });
    expect(shiftOf(1)).toMatchObject({ last: { to: until, bounced: 60 } });
  });

  test('needs 14 days of rows, and emails in the days before', () => {
    const doubled = (sent: number, days?: number) =>
      accountShift(accountOf(shifting([sent, 0], times(2, 40, 1), days)), now);
    expect(doubled(40, 11)).toBeNull();
    expect(doubled(40, 12)).toMatchObject({ isShifted: true });
    expect(doubled(0)).toBeNull();
  });

  test('ends below one and a half times the rate before, not at it', () => {
    const hasEnded = (bounces: number) =>
      accountShift(accountOf(shifting([40, 2], times(2, 40, bounces))), now)?.hasEnded;
    expect([hasEnded(2), hasEnded(3), hasEnded(4)]).toEqual([true, false, false]);
    const paused = shifting([40, 2], times(2, 0, 0));
    expect(accountShift(accountOf(paused), now)?.hasEnded).toBe(true);
  });
});

describe('the days of a mailbox', () => {
  test.each([
    ['no rows', []],
    ['no list', null],
    ['an undated row', [row(today, 20, 0), row(null, 20, 0)]],
    ['an unreadable day of the last seven', [row(today, 20, 0), row(addDays(today, -6), null, 0)]],
    ['more bounces than emails', [row(today, 2, 3)]],
  ])('with %s do not count', (_, rows) => {
    expect(limited(rows)).toBeNull();
  });

  test('count without what is unreadable before the last seven, and without the future', () => {
    const rows = [...daysUpTo(today, ...times(2, 20)), row(addDays(today, -7), null, 0), row(addDays(today, 2), 9, 9)];
    expect(limited(rows)?.days.map(({ date }) => date)).toEqual([addDays(today, -1), today]);
    expect(limited(rows, 'turbo')).toBeNull();
  });

  test('have the limit of the mode that the mailbox had on that day, the day of a change that of the mode before', () => {
    const earlierModes: readonly EarlierMode[] = [
      { mode: 'slow', until: addDays(today, -1) },
      { mode: 'aggressive', until: addDays(today, -3) },
    ];
    const days = limited(daysUpTo(today, ...times(5, 20)), 'recovery', earlierModes);
    expect(days?.days.map(({ date }) => days.limitOn(date))).toEqual([20_000, 20_000, 5_000, 5_000, 3_000]);
  });
});
