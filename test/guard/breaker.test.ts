// The breaker: how many actions a fleet is allowed at once, what is held, and how the held ones get their turn.
import { describe, expect, test } from 'vitest';
import {
  admit,
  applyHeld,
  type BreakerState,
  type Candidate,
  closedBreaker,
  discardHeld,
  heldEntries,
  withdraw,
  withdrawOthers,
} from '../../src/core/guard/breaker.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';

const policy = defaultPolicy.breaker;
const start = Date.parse('2026-03-20T10:00:00Z');
const threeDomains = ['a.example', 'b.example', 'c.example'];

/** A breaker over a fleet, with a clock of its own. */
function breakerOver(running: number) {
  let state: BreakerState = closedBreaker;
  let now = start;
  const ask = (number: number, change: Partial<Candidate> = {}): boolean => {
    const domain = threeDomains[number % 3] ?? '';
    const about = { key: `acme/${number}`, account: 'acme', email: `m${number}@${domain}`, domain };
    const usual = { weight: 2, firstSight: false, statsAt: now };
    const answer = admit(state, { ...about, ...usual, ...change }, { policy, running: () => running, now });
    state = answer.state;
    return answer.admitted;
  };
  return {
    ask,
    /** Asks for all of them; the numbers of those that were admitted. */
    askAll: (numbers: readonly number[], change: (number: number) => Partial<Candidate> = () => ({})) =>
      numbers.filter((number) => ask(number, change(number))),
    later: (ms: number) => {
      now += ms;
    },
    withdraw: (number: number) => {
      state = withdraw(state, `acme/${number}`);
    },
    discardHeld: () => {
      state = discardHeld(state);
    },
    applyHeld: () => {
      state = applyHeld(state);
    },
    now: () => now,
    open: () => state.openSince !== null,
    held: () => heldEntries(state).map(({ key }) => Number(key.slice('acme/'.length))),
    state: () => state,
  };
}

function numbers(count: number, from = 0): readonly number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

test('accounts that left the API hold nothing any more; what was done to their mailboxes still counts', () => {
  const heldBy = (account: string, number: number, held = true) => {
    const seen = { at: start, held, firstSight: false, weight: 2, domain: 'a.example', email: `m${number}@a.example` };
    return { key: `${account}/${number}`, account, ...seen };
  };
  const entries = [heldBy('acme', 1), heldBy('beta', 2), heldBy('beta', 3, false)];
  const open = { ...closedBreaker, openSince: start, entries, approved: ['beta/4', 'acme/5'] };
  const state = withdrawOthers(open, new Set(['acme']));
  expect(heldEntries(state).map(({ key }) => key)).toEqual(['acme/1']);
  expect([state.openSince, state.approved, state.entries.length]).toEqual([start, ['acme/5'], 2]);
  expect(withdrawOthers(open, new Set(['gamma']))).toMatchObject({ openSince: null, approved: [] });
  expect(withdrawOthers(open, new Set(['acme', 'beta']))).toBe(open);
});

describe('admission', () => {
  test.each([
    [0, 5],
    [50, 5],
    [51, 6],
    [60, 6],
    [131, 14],
    [250, 25],
    [10_000, 25],
  ])('of %i running mailboxes the one that makes it %i is held, and all after it', (running, threshold) => {
    const breaker = breakerOver(running);
    expect(breaker.askAll(numbers(40))).toEqual(numbers(threshold - 1));
    expect(breaker.open()).toBe(true);
    expect(breaker.held()).toHaveLength(40 - threshold + 1);
  });

  test('two domains never trip it, and the third does when it comes, this mailbox included', () => {
    const breaker = breakerOver(60);
    const twoDomains = (number: number) => ({ domain: threeDomains[number % 2] ?? '' });
    expect(breaker.askAll(numbers(20), twoDomains)).toHaveLength(20);
    expect(breaker.ask(20, { domain: 'c.example' })).toBe(false);
    expect(breaker.ask(21, { domain: 'a.example' })).toBe(false);
    expect(breaker.held().sort()).toEqual([20, 21]);
  });

  test('an hour later earlier actions count no longer, not a moment before', () => {
    const breaker = breakerOver(60);
    breaker.askAll(numbers(5));
    breaker.later(policy.windowMs - 1);
    expect(breaker.ask(5)).toBe(false);
    breaker.withdraw(5);
    breaker.later(1);
    expect(breaker.ask(5)).toBe(true);
  });
});

describe('while it is open', () => {
  function tripped(running = 60, change: (number: number) => Partial<Candidate> = () => ({})) {
    const breaker = breakerOver(running);
    breaker.askAll(numbers(running), change);
    return breaker;
  }

  test('after the window a tenth of the running mailboxes goes each 15 minutes, the worst first', () => {
    const weight = (number: number) => ({ weight: (number * 7) % 60 });
    const breaker = tripped(60, weight);
    const heldAtFirst = breaker.held();
    breaker.later(policy.windowMs - 1);
    expect(breaker.askAll(heldAtFirst, weight)).toEqual([]);
    breaker.later(1);
    const gone: number[] = [];
    for (let round = 1; round <= 9; round += 1) {
      const waiting = numbers(60).filter((number) => heldAtFirst.includes(number) && !gone.includes(number));
      const worst = [...waiting].sort((one, other) => weight(other).weight - weight(one).weight).slice(0, 6);
      const admitted = breaker.askAll(waiting, weight);
      expect(admitted.toSorted()).toEqual(worst.toSorted());
      const rest = waiting.filter((number) => !admitted.includes(number));
      expect(breaker.askAll(rest, weight)).toEqual([]);
      gone.push(...admitted);
      breaker.later(15 * minuteMs - 1);
      expect(breaker.askAll(rest, weight)).toEqual([]);
      breaker.later(1);
    }
    expect(gone).toHaveLength(54);
  });

  test('one that tripped at first sight never lets a second step through', () => {
    const breaker = tripped(60, () => ({ firstSight: true }));
    for (let hours = 0; hours < 30; hours += 1) {
      expect(breaker.askAll(numbers(54, 6))).toEqual([]);
      breaker.later(hourMs);
    }
    expect(breaker.open()).toBe(true);
  });

  test('the second step takes statistics from after the window only', () => {
    const breaker = tripped();
    breaker.later(policy.windowMs + 20 * minuteMs);
    const readBefore = { statsAt: breaker.now() - 20 * minuteMs - 1 };
    expect(breaker.askAll(numbers(54, 6), () => readBefore)).toEqual([]);
    expect(breaker.ask(6, { statsAt: breaker.now() - 20 * minuteMs })).toBe(true);
  });

  test('worse mailboxes that nobody could read for an hour hold nobody back', () => {
    const worse = (number: number) => ({ weight: number < 30 ? 9 : 2 });
    const breaker = tripped(60, worse);
    breaker.later(policy.windowMs);
    expect(breaker.askAll(numbers(30, 30), worse)).toHaveLength(6);
  });

  test('one newcomer that trips it does not make a jump of known mailboxes a first sight', () => {
    const newcomer = (number: number) => ({ firstSight: number === 5 });
    const breaker = tripped(60, newcomer);
    expect(breaker.state().atFirstSight).toBe(false);
    breaker.later(policy.windowMs);
    expect(breaker.askAll(breaker.held(), newcomer)).toHaveLength(6);
  });

  test('it closes when the last held mailbox wants nothing any more, and admits as before', () => {
    const breaker = tripped(12);
    const held = breaker.held();
    for (const number of held.slice(1)) breaker.withdraw(number);
    expect(breaker.open()).toBe(true);
    breaker.withdraw(held[0] ?? 0);
    expect(breaker.state()).toMatchObject({ openSince: null, trickle: [] });
    breaker.later(policy.windowMs);
    expect(breaker.ask(50)).toBe(true);
  });

  test('it closes also when the last held mailbox was not read for longer than the window', () => {
    const breaker = tripped(12);
    const held = breaker.held();
    breaker.later(3 * policy.windowMs);
    // One that still breaches is asked first: nothing of the others may be forgotten.
    breaker.ask(held[0] ?? 0);
    expect(breaker.held().length).toBeGreaterThanOrEqual(held.length - 1);
    for (const number of held) breaker.withdraw(number);
    expect(breaker.open()).toBe(false);
  });
});

describe('what a person decides', () => {
  test('apply lets all go that were held, at once, however many, also at first sight', () => {
    const breaker = breakerOver(60);
    expect(breaker.askAll(numbers(60), () => ({ firstSight: true }))).toHaveLength(5);
    breaker.applyHeld();
    expect(breaker.askAll(numbers(55, 5))).toHaveLength(55);
    expect(breaker.open()).toBe(false);
  });

  test('discard closes it: nothing is held or let go, and what was done still counts for the window', () => {
    const breaker = breakerOver(60);
    expect(breaker.askAll(numbers(20))).toHaveLength(5);
    breaker.discardHeld();
    expect([breaker.open(), breaker.held(), breaker.state().approved]).toEqual([false, [], []]);
    expect(breaker.askAll(numbers(20, 30))).toHaveLength(0);
  });

  test('apply speaks for the held ones only: what breaches next is counted as before', () => {
    const breaker = breakerOver(60);
    breaker.askAll(numbers(20));
    breaker.applyHeld();
    breaker.askAll(numbers(20));
    breaker.later(policy.windowMs);
    expect(breaker.askAll(numbers(20, 30))).toHaveLength(5);
    expect(breaker.open()).toBe(true);
  });
});
