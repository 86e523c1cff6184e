// What of an answer is written: nothing of what the store knows, but often enough that neither a crash nor a store that fails costs much.
import { expect, test } from 'vitest';
import { Unwritten } from '../../src/account/commit/unwritten.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import type { TickRecord } from '../../src/store/records.ts';
import {
  actionOf,
  alertOf,
  answers,
  arrivedMailbox,
  dayRow,
  memory,
  noAlerts,
  now,
  verdictOf,
} from '../store/records.ts';

const before = arrivedMailbox('m1', { ...answers, memory });

/** A tick that read the statistics again, and the same as before. */
function tick(change: Partial<TickRecord> = {}): TickRecord {
  const decision = { verdict: verdictOf(), unchanged: true, judged: 1, days: [] };
  const nothing = { changes: [], actions: [], alerts: noAlerts, breaker: null };
  return { mailbox: before, remembers: true, answered: 'stats', decision, ...nothing, ...change };
}

/** After a first write at `now`; `written` takes its place at a moment, and says what was left to write. */
function begun() {
  const unwritten = new Unwritten();
  const take = (record: TickRecord, at: number) => {
    const left = unwritten.of(before, record, at);
    if (left) unwritten.written(left, at);
    return left;
  };
  expect(take(tick(), now)).toMatchObject({ answered: 'stats', remembers: false, decision: { judged: 1 } });
  return { take };
}

test('an answer, a memory and a decision as before are not written again', () => {
  const { take } = begun();
  expect(take(tick(), now + 5 * secondMs)).toBeNull();
});

test('a row that did not change is written every 5 minutes, its decision every 15, with all the judgements since', () => {
  const { take } = begun();
  const other = arrivedMailbox('m2', { ...answers, memory });
  const written: number[] = [];
  for (let at = 10 * secondMs; at <= 30 * minuteMs; at += 10 * secondMs) {
    // Another mailbox keeps the account from being silent.
    take(
      tick({ mailbox: other, changes: [{ since: now, at: now, what: 'mode', from: 'slow', to: 'balanced' }] }),
      now + at,
    );
    const left = take(tick(), now + at);
    if (left) written.push(at / minuteMs, left.decision?.judged ?? 0);
  }
  expect(written).toEqual([5, 0, 10, 0, 15, 90, 20, 0, 25, 0, 30, 90]);
});

test('the row of a decision that only counts more emails is written every 15 minutes, and when the decision ends', () => {
  const unwritten = new Unwritten();
  const written: unknown[] = [];
  let mailbox = before;
  const judged = (second: number, unchanged: boolean) => {
    const at = now + second * secondMs;
    const sent = 160 + second;
    const row = { ...dayRow, sent };
    const verdict = verdictOf({ sent });
    const next = { ...before, stats: { at, answer: { rows: [row] } }, verdict: { at, answer: verdict } };
    const left = unwritten.of(
      mailbox,
      tick({ mailbox: next, decision: { verdict, unchanged, judged: 1, days: [] } }),
      at,
    );
    unwritten.written(left ?? expect.fail('each answer is another one'), at);
    mailbox = next;
    const decision = left?.decision;
    if (!decision) return;
    const { ended } = decision;
    written.push([second, decision.judged, ended ? [ended.judged, ended.verdict.sent - 160, ended.at - now] : null]);
  };
  for (let second = 0; second <= 960; second += 60) judged(second, true);
  judged(970, false);
  judged(980, false);
  expect(written).toEqual([
    [0, 1, null],
    [900, 15, null],
    [970, 1, [1, 960, 960 * secondMs]],
    [980, 1, null],
  ]);
});

test('an account that is polled writes every 15 seconds: a store that fails is noticed', () => {
  const { take } = begun();
  const written = Array.from({ length: 60 }, (_, second) => take(tick(), now + second * secondMs) !== null);
  expect(written.flatMap((was, second) => (was ? [second] : []))).toEqual([15, 30, 45]);
});

test('a mailbox that is judged again as before, on the same answers, is not written', () => {
  const { take } = begun();
  expect(take(tick({ answered: null }), now + 10 * minuteMs)).toBeNull();
  const turned = { verdict: verdictOf(), unchanged: false, judged: 1, days: [] };
  expect(take(tick({ answered: null, decision: turned }), now + 10 * minuteMs)).not.toBeNull();
});

test('another answer, another memory, and whatever happened is written at once', () => {
  const { take } = begun();
  const row = { ...dayRow, sent: 999 };
  const answered = { ...before, stats: { at: now, answer: { rows: [row] } } };
  const recovered = { ...before, memory: { ...memory, mode: 'recovery' } };
  const changed = [
    tick({ mailbox: answered }),
    tick({ mailbox: recovered }),
    tick({ actions: [actionOf('m1')] }),
    tick({ alerts: { ...noAlerts, changed: [alertOf('m1')] } }),
    tick({ alerts: { ...noAlerts, dropped: ['x'] } }),
    tick({ decision: { verdict: verdictOf(), unchanged: false, judged: 1, days: [] } }),
  ];
  const remembers = changed.map((record, index) => take(record, now + index + 1)?.remembers);
  expect(remembers).toEqual([false, true, true, true, true, true]);
});

test('that a mailbox was judged once more is no other memory, but the second time is', () => {
  const unwritten = new Unwritten();
  const judged = (from: number, to: number) => {
    const mailboxes = [from, to].map((answersJudged) =>
      arrivedMailbox('m1', { ...answers, memory: { ...memory, answersJudged } }),
    );
    return unwritten.of(mailboxes[0] ?? before, tick({ mailbox: mailboxes[1] ?? before }), now)?.remembers;
  };
  expect([judged(0, 1), judged(1, 2), judged(2, 3), judged(40, 41)]).toEqual([true, true, false, false]);
});

test('a clock that was set back does not keep rows from being written', () => {
  const { take } = begun();
  expect(take(tick(), now - minuteMs)).not.toBeNull();
});
