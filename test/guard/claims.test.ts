// Whose change it was: what we claim, what others take back, and when that is a quarrel. Through afterAnswer, as the watch does.
import { describe, expect, test } from 'vitest';
import { afterAnswer, confirm } from '../../src/account/record/after-answer.ts';
import type { Observation } from '../../src/account/record/observe.ts';
import { actionAfter } from '../../src/core/action.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { type GuardMemory, isContested, withoutReversals } from '../../src/core/guard/memory.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { dayMs, hourMs, minuteMs, secondMs, utcDate } from '../../src/core/time.ts';
import { daysUpTo, listedMailbox, now, times, today, warmupAnswer, words } from './samples.ts';

const quiet: readonly (readonly [number, number])[] = times(30, 40);

/** A mailbox on duty: people and we change it, its emails bounce or not, and each look is an answer. */
function onDuty(mode = 'balanced') {
  let at = now;
  let ids = 0;
  let rows: readonly StatsRow[] = daysUpTo(today, ...quiet);
  const warmup = { mode, status: 'active', limit: 40 };
  let mailbox = listedMailbox(at);
  const answer = () => warmupAnswer(warmup.mode, warmup.status, warmup.limit);
  const read = (observation: Observation) => {
    const context = { policy: defaultPolicy, words, now: at, hasRead: () => true, enforce: true, timeZone: 'UTC' };
    const fleet = {
      breaker: closedBreaker,
      running: () => 100,
      actionsOf: () => [],
      apiAheadMs: 0,
      accountHasShrunk: () => false,
    };
    mailbox = afterAnswer(mailbox, observation, { ...context, ...fleet, newId: () => `a${++ids}` }).mailbox;
  };
  const look = () => {
    read({ route: 'warmup', observed: { at, answer: answer() } });
    read({ route: 'stats', observed: { at, answer: { rows } } });
    return mailbox.verdict?.answer;
  };
  look();
  look();
  return {
    look,
    later: (ms: number) => {
      at += ms;
    },
    /** A person, or another tool. */
    set: (change: Partial<typeof warmup>) => Object.assign(warmup, change),
    /** So many of today's emails bounced, beside 60 that did not, after quiet days. */
    bounce: (bounced: number) => {
      rows = daysUpTo(utcDate(at), ...times(29, 40), [60 + bounced, bounced]);
      return look();
    },
    /** The planned action is sent and read back. */
    act: () => {
      const { action } = mailbox;
      if (action?.state !== 'planned') throw new Error('nothing is planned');
      if (action.kind === 'pause') warmup.status = 'paused';
      else warmup.mode = action.targetMode ?? '';
      at += secondMs;
      mailbox = { ...mailbox, action: actionAfter(action, { kind: 'opened', before: action.before, at }) };
      mailbox = confirm(mailbox, { at, answer: answer() }, { policy: defaultPolicy, words, now: at, apiAheadMs: 0 });
      look();
      return action.kind;
    },
    endContest: () => {
      if (mailbox.memory) mailbox = { ...mailbox, memory: withoutReversals(mailbox.memory) };
    },
    now: () => at,
    memory: (): GuardMemory => {
      if (!mailbox.memory) throw new Error('nothing is remembered yet');
      return mailbox.memory;
    },
  };
}

/** An emergency of ours that was paused, and that a person resumed. */
function pausedAndResumed(mailbox: ReturnType<typeof onDuty>, bounced: number): void {
  mailbox.bounce(bounced);
  expect(mailbox.act()).toBe('pause');
  mailbox.later(hourMs);
  mailbox.set({ status: 'active' });
  mailbox.look();
}

test('a claim comes with our confirmed change, remembers the mode before, and ends with any other mode, which is a reversal', () => {
  const mailbox = onDuty('aggressive');
  // The window of 300 emails has 2% at six bounces.
  expect(mailbox.bounce(7)?.reason).toBe('bounce_rate_over_limit');
  mailbox.act();
  expect(mailbox.memory().claim).toMatchObject({ kind: 'recovery', previousMode: 'aggressive', actionId: 'a1' });
  expect(mailbox.look()).toMatchObject({ action: 'none', restore: { mode: 'aggressive' } });
  mailbox.later(minuteMs);
  mailbox.set({ mode: 'slow' });
  mailbox.look();
  expect(mailbox.memory()).toMatchObject({ claim: null, reversals: [mailbox.now()] });
});

test('a claim ends with our own restore, which nobody took back', () => {
  const mailbox = onDuty();
  mailbox.bounce(4);
  expect(mailbox.act()).toBe('recovery');
  mailbox.later(10 * dayMs);
  expect(mailbox.bounce(0)?.action).toBe('restore');
  expect(mailbox.act()).toBe('restore');
  expect(mailbox.memory()).toMatchObject({ claim: null, reversals: [], mode: 'balanced' });
  expect(mailbox.memory().interventions).toHaveLength(1);
});

describe('what others take back', () => {
  test('twice within a day is a quarrel: the next action is held, until a day after the first', () => {
    const mailbox = onDuty();
    pausedAndResumed(mailbox, 20);
    expect(isContested(mailbox.memory(), mailbox.now())).toBe(false);
    pausedAndResumed(mailbox, 40);
    expect(isContested(mailbox.memory(), mailbox.now())).toBe(true);
    const held = mailbox.bounce(60);
    expect(held).toMatchObject({ action: 'hold', reason: 'contested', wanted: 'pause' });
    const [first = 0] = mailbox.memory().reversals;
    expect(isContested(mailbox.memory(), first + dayMs - 1)).toBe(true);
    expect(isContested(mailbox.memory(), first + dayMs)).toBe(false);
    mailbox.later(first + dayMs - mailbox.now());
    expect(mailbox.look()).toMatchObject({ action: 'pause' });
  });

  test('in a quarrel only actions are held, until a person ends the contest', () => {
    const mailbox = onDuty();
    for (const bounced of [20, 40]) pausedAndResumed(mailbox, bounced);
    expect(mailbox.look()).toMatchObject({ action: 'none', reason: 'ok' });
    mailbox.bounce(60);
    mailbox.endContest();
    expect(mailbox.look()).toMatchObject({ action: 'pause' });
  });
});

test('a limit that others set ends our claim without a quarrel; with another mode beside it, it is a reversal as well', () => {
  for (const [change, reversals] of [
    [{ limit: 12 }, 0],
    [{ limit: 12, mode: 'balanced' }, 1],
  ] as const) {
    const mailbox = onDuty();
    mailbox.bounce(4);
    expect(mailbox.act()).toBe('recovery');
    mailbox.later(2 * dayMs);
    mailbox.set(change);
    mailbox.look();
    expect(mailbox.memory()).toMatchObject({ claim: null });
    expect(mailbox.memory()?.reversals).toHaveLength(reversals);
  }
});
