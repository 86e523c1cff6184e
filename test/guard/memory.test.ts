// What the guard remembers of a mailbox, through the same steps that the watch takes: look, judge, remember; and whose change it was: what we
// claim, what others take back, and when that is a quarrel.
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../src/account/record/observe.ts';
import type { ActionKind, GuardActionKind } from '../../src/core/action.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import {
  afterConfirmed,
  afterOperatorChange,
  firstSight,
  type GuardMemory,
  isContested,
  recentInterventions,
  withoutReversals,
} from '../../src/core/guard/memory.ts';
import { runStateOf } from '../../src/core/guard/run-state.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, dayMs, hourMs, minuteMs, utcDate } from '../../src/core/time.ts';
import type { RunState, Verdict } from '../../src/core/verdict.ts';
import { explainVerdict } from '../../src/core/wording/explain.ts';
import { answered, daysUpTo, listedMailbox, now, row, times, today, warmupAnswer, words } from './samples.ts';

const tomorrow = addDays(today, 1);

/** A mailbox that is watched. */
function watched() {
  let at = now;
  let mailbox = listedMailbox(at);
  const take = (observation: Observation): Verdict | null => {
    const after = answered(mailbox, observation);
    mailbox = after.mailbox;
    return after.verdict;
  };
  const look = {
    stats: (rows: readonly StatsRow[] | null) => take({ route: 'stats', observed: { at, answer: { rows } } }),
    warmup: (mode: string | null, status: string | null = 'active', limit = 40) =>
      take({ route: 'warmup', observed: { at, answer: warmupAnswer(mode, status, limit) } }),
    later: (ms: number) => {
      at += ms;
    },
    now: () => at,
    memory: (): GuardMemory => {
      if (!mailbox.memory) throw new Error('nothing is remembered yet');
      return mailbox.memory;
    },
    remember: (change: Partial<GuardMemory>) => {
      mailbox = { ...mailbox, memory: { ...look.memory(), ...change } };
    },
    /** Our POST was read back with this answer. */
    confirmed: (kind: GuardActionKind, mode: string, status: string) => {
      const rows = mailbox.stats?.answer.rows ?? null;
      const sight = { mode, run: runStateOf(status, words, rows, at), rows, now: at };
      const previousMode = mailbox.warmup?.answer.mode ?? null;
      const memory = afterConfirmed(look.memory(), { kind, actionId: 'action', previousMode, word: status }, sight);
      mailbox = { ...mailbox, memory, warmup: { at, answer: warmupAnswer(mode, status, 40) } };
    },
  };
  return look;
}

/** A mailbox in the mode whose quiet statistics were judged twice. */
function known(mode: string, rows = daysUpTo(today, ...times(30, 40))) {
  const mailbox = watched();
  mailbox.warmup(mode);
  mailbox.stats(rows);
  mailbox.stats(rows);
  return mailbox;
}

describe('at first sight', () => {
  const breach = daysUpTo(today, ...times(5, 40), [40, 3], [40, 2]);

  test('nothing is said before statistics and warm-up were both read, in either order', () => {
    const [one, other] = [watched(), watched()];
    expect(one.warmup('balanced')).toBeNull();
    expect(other.stats(breach)).toBeNull();
    expect(other.warmup('balanced')).toEqual(one.stats(breach));
    expect(other.memory()).toEqual(one.memory());
    expect(one.memory().answersJudged).toBe(1);
  });

  test('a breach acts on the second fresh answer, and a new look at the warm-up is none', () => {
    const mailbox = watched();
    mailbox.warmup('balanced');
    expect(mailbox.stats(breach)).toMatchObject({ action: 'hold', reason: 'first_sight', wanted: 'recovery' });
    expect(mailbox.warmup('balanced')).toMatchObject({ action: 'hold', reason: 'first_sight' });
    expect(mailbox.warmup('balanced')).toMatchObject({ action: 'hold', reason: 'first_sight' });
    expect(mailbox.stats(breach)).toMatchObject({ action: 'recovery', reason: 'bounce_rate_over_limit' });
    expect(mailbox.warmup('balanced')).toMatchObject({ action: 'recovery', reason: 'bounce_rate_over_limit' });
  });

  test('the window has its seven days and is not extended into the past, not even days later', () => {
    const rows = daysUpTo(today, ...times(7, 20, 1), ...times(6, 10), [10, 1]);
    const mailbox = known('slow', rows);
    expect(mailbox.stats(rows)).toMatchObject({ reason: 'insufficient_evidence', sent: 70, bounced: 1, windowDays: 7 });
    mailbox.later(dayMs);
    const next = mailbox.stats([...rows, row(tomorrow, 10, 0)]);
    expect(next).toMatchObject({ reason: 'insufficient_evidence', sent: 80, bounced: 1, windowDays: 8 });
  });

  test.each([
    ['an empty answer', []],
    ['an answer that is no array', null],
  ])('%s is no first sight: the next one is', (_, nothing) => {
    const mailbox = watched();
    mailbox.warmup('slow');
    mailbox.stats(nothing);
    const old = daysUpTo(today, [20, 2], ...times(6, 0), [20, 0]);
    expect(mailbox.stats(old)).toMatchObject({ sent: 20, bounced: 0, reason: 'ok' });
    expect(mailbox.stats(breach)).toMatchObject({ action: 'recovery' });
  });
});

describe('after our switch to recovery', () => {
  const breach = daysUpTo(today, ...times(26, 40), ...times(4, 40, 1));
  const switched = () => {
    const mailbox = known('balanced');
    expect(mailbox.stats(breach)).toMatchObject({ action: 'recovery' });
    mailbox.confirmed('recovery', 'recovery', 'active');
    return mailbox;
  };

  test('bounces that arrive on the day of the switch are no evidence, new ones later are, and pause', () => {
    const mailbox = switched();
    const late = [...breach.slice(0, -1), row(today, 42, 3)];
    expect(mailbox.stats(late)).toMatchObject({ action: 'none', reason: 'ok' });
    mailbox.later(2 * dayMs);
    const [first, second] = [row(tomorrow, 30, 1), row(addDays(today, 2), 30, 1)];
    expect(mailbox.stats([...late, first, second])).toMatchObject({ action: 'pause', sent: 60, bounced: 2 });
  });

  test('an emergency still sees the bounces of the emails that left before', () => {
    const mailbox = switched();
    const late = [...breach.slice(0, -1), row(today, 40, 7)];
    expect(mailbox.stats(late)).toMatchObject({ action: 'pause', reason: 'emergency' });
  });

  test('where the API is a day ahead of UTC, its day counts', () => {
    const mailbox = known('balanced');
    mailbox.stats([...breach, row(tomorrow, 5, 0)]);
    mailbox.confirmed('recovery', 'recovery', 'active');
    expect(mailbox.memory().evidence?.from).toBe(addDays(today, 2));
  });
});

describe('after a change by others', () => {
  const legal = daysUpTo(today, ...times(29, 40, 0), [40, 3]);

  test("another mode restarts the evidence on the next full day: bounces of the old mode are not the new one's", () => {
    const mailbox = known('aggressive', legal);
    expect(mailbox.warmup('slow')).toMatchObject({ action: 'none', reason: 'ok', sent: 0 });
    expect(mailbox.memory().evidence).toEqual({ from: tomorrow, before: null, byOthers: true });
    expect(mailbox.stats(legal)).toMatchObject({ action: 'none', reason: 'ok' });
  });

  test('an emergency counts what it counted before: no change of others takes anything from it', () => {
    const mailbox = known('aggressive', legal);
    mailbox.warmup('slow');
    mailbox.warmup('slow', 'paused');
    mailbox.warmup('slow');
    expect(mailbox.memory().emergencyEvidence).toBeNull();
    const quiet = [...legal.slice(0, -1), row(today, 60, 9)];
    expect(mailbox.stats(quiet)).toMatchObject({ action: 'none' });
    const burst = [...legal.slice(0, -1), row(today, 60, 10)];
    expect(mailbox.stats(burst)).toMatchObject({ action: 'pause', emergency: { sent: 100, bounced: 10 } });
  });

  test('the evidence starts over once in seven days, whatever others do in between or on the seventh', () => {
    const mailbox = known('aggressive', legal);
    const starts = Array.from({ length: 17 }, (_, day) => {
      mailbox.stats(daysUpTo(addDays(today, day), ...times(30, 100, 1)));
      mailbox.warmup(day % 2 === 0 ? 'balanced' : 'slow');
      mailbox.warmup('aggressive', 'paused');
      mailbox.warmup('aggressive');
      mailbox.later(dayMs);
      return mailbox.memory().evidence?.from;
    });
    const [first, second, third] = [1, 9, 17].map((day) => addDays(today, day));
    expect(starts).toEqual([...Array(8).fill(first), ...Array(8).fill(second), third]);
  });

  test('a breach that nobody acted on survives a resume and another mode, but not the switch to recovery', () => {
    const breach = daysUpTo(today, ...times(29, 40, 0), [40, 3]);
    const resumed = known('balanced');
    resumed.warmup('balanced', 'paused');
    expect(resumed.stats(breach)).toMatchObject({ action: 'none', reason: 'already_paused' });
    expect(resumed.warmup('balanced')).toMatchObject({ action: 'recovery', reason: 'bounce_rate_over_limit' });
    const slowed = known('balanced', breach);
    expect(slowed.warmup('slow')).toMatchObject({ action: 'recovery' });
    const recovering = known('balanced', breach);
    expect(recovering.warmup('recovery')).toMatchObject({ action: 'none', reason: 'ok', sent: 0 });
  });

  test('a resume restarts both, so that the bounces which led to the pause do not pause again', () => {
    const burst = daysUpTo(today, ...times(6, 40), [20, 8]);
    const mailbox = known('balanced');
    expect(mailbox.stats(burst)).toMatchObject({ action: 'pause', reason: 'emergency' });
    mailbox.confirmed('pause', 'balanced', 'paused');
    expect(mailbox.stats(burst)).toMatchObject({ action: 'none', reason: 'already_paused' });
    mailbox.later(minuteMs);
    expect(mailbox.warmup('balanced', 'active')).toMatchObject({ action: 'none', reason: 'ok' });
    expect(mailbox.memory()).toMatchObject({ claim: null, evidence: { from: tomorrow, before: null } });
    expect(mailbox.memory().evidence?.byOthers).toBeUndefined();
    expect(mailbox.memory().emergencyEvidence).toEqual({ from: today, before: { sent: 20, bounced: 8 } });
    expect(mailbox.stats(burst)).toMatchObject({ action: 'none', reason: 'ok' });
    const again = [...burst.slice(0, -1), row(today, 23, 11)];
    const verdict = mailbox.stats(again);
    expect(verdict).toMatchObject({ action: 'pause', emergency: { sent: 3, bounced: 3, from: today, again: true } });
    expect(verdict && explainVerdict(verdict)).toMatch(
      /^3 bounces in 3 emails since counting started again on \d+ \w+: 100%\./,
    );
  });
});

test.each([
  ['balanced', 'active'],
  ['recovery', 'active'],
  ['balanced', 'paused'],
  ['balanced', 'suspended'],
] as const)(
  'in %s mode, %s: an answer without mode or status changes no memory but the unjudged day',
  (mode, status) => {
    const mailbox = known(mode, daysUpTo(today, ...times(20, 10), ...times(5, 0)));
    mailbox.warmup(mode, status);
    if (mode === 'recovery') mailbox.confirmed('recovery', mode, status);
    if (status === 'paused') mailbox.confirmed('pause', mode, status);
    const before = mailbox.memory();
    const unjudged = { ...before, unjudgedSince: today };
    expect(mailbox.warmup(null, status)).not.toBeNull();
    expect(mailbox.memory()).toEqual(unjudged);
    // A pause of ours stands until a known running word.
    const reason = status === 'paused' ? 'already_paused' : 'unknown_status';
    expect(mailbox.warmup(mode, 'hibernating')).toMatchObject({ reason });
    expect(mailbox.memory()).toEqual(unjudged);
  },
);

test('a pause of ours ends with the word under which the mailbox ran before, listed or not', () => {
  const rows = daysUpTo(today, ...times(30, 40));
  const mailbox = watched();
  mailbox.warmup('balanced', 'Warming');
  mailbox.stats(rows);
  mailbox.confirmed('pause', 'balanced', 'paused');
  expect(mailbox.warmup('balanced', 'At Risk')).toMatchObject({ reason: 'already_paused' });
  expect(mailbox.warmup('balanced', 'Warming')).toMatchObject({ run: 'running' });
  expect(mailbox.memory().claim).toBeNull();
});

test('an unlisted word in place of a known running one says nothing until a later day has emails', () => {
  const mailbox = known('balanced');
  const breach = daysUpTo(today, ...times(29, 40), [60, 5]);
  const held = { action: 'hold', reason: 'unknown_status' };
  mailbox.warmup('balanced', 'halted');
  expect(mailbox.stats(breach)).toMatchObject(held);
  mailbox.later(dayMs);
  expect(mailbox.stats([...breach, row(tomorrow, 0, 0)])).toMatchObject(held);
  expect(mailbox.stats([...breach, row(tomorrow, 1, 0)])).toMatchObject({ action: 'recovery', run: 'running' });
  expect(mailbox.warmup('balanced', 'halted')).toMatchObject({ action: 'recovery', run: 'running' });
});

test('a mailbox that sends for two days without anything that counts is not judged', () => {
  const mailbox = known('balanced');
  const rows = [...daysUpTo(today, ...times(30, 40)), row(tomorrow, 40, 0), row(addDays(today, 2), 40, 0)];
  mailbox.confirmed('recovery', 'recovery', 'active');
  mailbox.stats(rows.slice(0, -2));
  mailbox.later(dayMs);
  // As a person's restart would leave it that comes once a day.
  mailbox.remember({ evidence: { from: addDays(today, 2), before: null } });
  expect(mailbox.stats(rows.slice(0, -1))).toMatchObject({ action: 'none', reason: 'ok', sent: 0 });
  mailbox.later(dayMs);
  mailbox.remember({ evidence: { from: addDays(today, 3), before: null } });
  expect(mailbox.stats(rows)).toMatchObject({ action: 'hold', reason: 'no_evidence' });
});

test('what a clock that was ahead recorded happened now, and old reversals are forgotten', () => {
  const mailbox = known('recovery');
  const ahead = now + 365 * dayMs;
  const claimed = { kind: 'recovery', actionId: 'action', since: ahead, previousMode: 'slow', under: null } as const;
  const reversals = [now - dayMs, now - minuteMs, ahead];
  mailbox.remember({ interventions: [0, ahead], foundBreachAt: ahead, claim: claimed, reversals });
  mailbox.warmup('recovery');
  const { interventions, foundBreachAt, claim, reversals: kept } = mailbox.memory();
  expect([interventions, foundBreachAt, claim?.since, kept]).toEqual([[0, now], now, now, [now - minuteMs]]);
});

test('interventions count for 60 days to the millisecond', () => {
  const memory = { ...known('balanced').memory(), interventions: [now, now + dayMs] };
  const counts = [60 * dayMs, 60 * dayMs + 1, 61 * dayMs + 1].map((ms) =>
    recentInterventions(memory, defaultPolicy, now + ms),
  );
  expect(counts).toEqual([2, 1, 0]);
});

describe('a change by a person through Warmwarden', () => {
  const sight = (mode: string, run: RunState) => ({ mode, run, rows: daysUpTo(today, ...times(7, 40)), now });
  const done = (kind: ActionKind) => ({ kind, actionId: 'theirs', previousMode: 'balanced', word: 'on hold' });
  const recovered = afterConfirmed(
    firstSight(defaultPolicy, sight('balanced', 'running')),
    { kind: 'recovery', actionId: 'ours', previousMode: 'balanced', word: 'active' },
    sight('recovery', 'running'),
  );
  const paused = afterConfirmed(
    recovered,
    { kind: 'pause', actionId: 'ours too', previousMode: 'recovery', word: 'paused' },
    sight('recovery', 'paused'),
  );

  test('is no claim and no intervention, and its word means paused from then on', () => {
    const memory = afterOperatorChange(
      defaultPolicy,
      firstSight(defaultPolicy, sight('balanced', 'running')),
      done('pause'),
      sight('balanced', 'unknown'),
    );
    expect(memory).toMatchObject({ run: 'paused', claim: null, interventions: [], pauseWord: 'on hold' });
  });

  test('that resumes what we paused is a reversal, restarts the evidence, and leaves our recovery ours', () => {
    const memory = afterOperatorChange(defaultPolicy, paused, done('resume'), sight('recovery', 'unknown'));
    expect(memory).toMatchObject({ run: 'running', claim: recovered.claim, reversals: [now], pauseWord: null });
    expect(memory.evidence).toEqual({ from: addDays(today, 1), before: null });
  });

  test('that sets another mode ends our claim on a recovery', () => {
    const memory = afterOperatorChange(defaultPolicy, recovered, done('mode'), sight('slow', 'running'));
    expect(memory).toMatchObject({ mode: 'slow', claim: null, reversals: [now] });
  });
});

describe('a claim', () => {
  /** So many of a day's emails bounced, beside 60 that did not, after quiet days. */
  const bouncing = (bounced: number, day = today) => daysUpTo(day, ...times(29, 40), [60 + bounced, bounced]);

  /** A mailbox that is in a recovery of ours. */
  function recovering() {
    const mailbox = known('balanced');
    expect(mailbox.stats(bouncing(4))).toMatchObject({ action: 'recovery' });
    mailbox.confirmed('recovery', 'recovery', 'active');
    return mailbox;
  }

  /** An emergency was paused, and a person resumed it. */
  function pausedAndResumed(mailbox: ReturnType<typeof watched>, bounced: number): void {
    expect(mailbox.stats(bouncing(bounced))).toMatchObject({ action: 'pause' });
    mailbox.confirmed('pause', 'balanced', 'paused');
    mailbox.later(hourMs);
    mailbox.warmup('balanced');
  }

  test('comes with our confirmed change, remembers the mode before, and ends with any other mode, which is a reversal', () => {
    const mailbox = recovering();
    expect(mailbox.memory().claim).toMatchObject({ kind: 'recovery', previousMode: 'balanced', actionId: 'action' });
    expect(mailbox.stats(bouncing(4))).toMatchObject({ action: 'none', restore: { mode: 'balanced' } });
    mailbox.later(minuteMs);
    mailbox.warmup('slow');
    expect(mailbox.memory()).toMatchObject({ claim: null, reversals: [mailbox.now()] });
  });

  test('ends with our own restore, which nobody took back', () => {
    const mailbox = recovering();
    mailbox.later(10 * dayMs);
    expect(mailbox.stats(bouncing(0, utcDate(mailbox.now())))).toMatchObject({ action: 'restore' });
    mailbox.confirmed('restore', 'balanced', 'active');
    expect(mailbox.memory()).toMatchObject({ claim: null, reversals: [], mode: 'balanced', interventions: [now] });
  });

  test('that others end twice within a day is a quarrel: the next action is held, until a day after the first', () => {
    const mailbox = known('balanced');
    pausedAndResumed(mailbox, 20);
    expect(isContested(mailbox.memory(), mailbox.now())).toBe(false);
    pausedAndResumed(mailbox, 40);
    expect(mailbox.stats(bouncing(40))).toMatchObject({ action: 'none', reason: 'ok' });
    expect(mailbox.stats(bouncing(60))).toMatchObject({ action: 'hold', reason: 'contested', wanted: 'pause' });
    const [first = 0] = mailbox.memory().reversals;
    const isContestedAt = [first + dayMs - 1, first + dayMs].map((at) => isContested(mailbox.memory(), at));
    expect(isContestedAt).toEqual([true, false]);
    mailbox.later(first + dayMs - mailbox.now());
    expect(mailbox.warmup('balanced')).toMatchObject({ action: 'pause' });
  });

  test('acts again in a quarrel once a person has ended the contest', () => {
    const mailbox = known('balanced');
    for (const bounced of [20, 40]) pausedAndResumed(mailbox, bounced);
    mailbox.stats(bouncing(60));
    mailbox.remember(withoutReversals(mailbox.memory()));
    expect(mailbox.warmup('balanced')).toMatchObject({ action: 'pause' });
  });

  test.each([
    ['ends without a quarrel', 'recovery', 0],
    ['is a reversal as well with another mode beside it', 'balanced', 1],
  ])('whose limit others set %s', (_, mode, reversals) => {
    const mailbox = recovering();
    mailbox.later(2 * dayMs);
    mailbox.warmup(mode, 'active', 12);
    expect(mailbox.memory().claim).toBeNull();
    expect(mailbox.memory().reversals).toHaveLength(reversals);
  });
});
