// Conditions become alerts: what fires, what waits, what resolves, whatever the order of events.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Condition } from '../../src/alerts/condition.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { alertBook, start } from './samples.ts';

const facts = { title: 'a title', sentences: ['A sentence.'], numbers: { data_age_seconds: 1 } };

function condition(change: Partial<Condition> = {}): Condition {
  return {
    subject: { rule: 'dns_failing', account: 'acme', mailboxId: null, email: null, object: 'acme.example' },
    severity: 'critical',
    active: true,
    forMs: 0,
    observations: 1,
    clearObservations: 1,
    facts,
    ...change,
  };
}

/** An alert book that reads one condition. */
function keeper() {
  const book = alertBook();
  return { ...book, see: (change: Partial<Condition>, now: number) => book.see([condition(change)], now) };
}

test('an acknowledgement stays while the words change, and ends when the alert is more severe', () => {
  const kept = keeper();
  kept.see({ severity: 'warning' }, start);
  const acknowledged = { by: 'ann', reason: '', at: start + 1 };
  for (const [name, alert] of kept.alerts) kept.alerts.set(name, { ...alert, acknowledged });
  kept.see({ severity: 'warning', facts: { ...facts, sentences: ['More.'] } }, start + 2);
  expect(kept.only()).toMatchObject({ acknowledged, facts: { sentences: ['More.'] } });
  kept.see({}, start + 3);
  expect([kept.kinds(), kept.only()?.acknowledged]).toEqual([['firing', 'worsened'], undefined]);
});

test('resolving takes its observations in a row, and unknown neither counts nor interrupts', () => {
  const kept = keeper();
  kept.see({ clearObservations: 2 }, start);
  kept.see({ clearObservations: 2, active: false }, start + 1);
  kept.see({ clearObservations: 2 }, start + 2);
  kept.see({ clearObservations: 2, active: false }, start + 3);
  expect(kept.kinds()).toEqual(['firing']);
  kept.see({ clearObservations: 2, active: 'unknown' }, start + 4);
  kept.see({ clearObservations: 2, active: false }, start + 5);
  expect(kept.kinds()).toEqual(['firing', 'resolved']);
});

test('a firing alert keeps its facts fresh without telling, and an age that grew is no change', () => {
  const kept = keeper();
  kept.see({}, start);
  expect(kept.see({ facts: { ...facts, numbers: { data_age_seconds: 60 } } }, start + 1).changed).toEqual([]);
  const worse = { ...facts, sentences: ['It is worse.'] };
  expect(kept.see({ facts: worse }, start + 2)).toMatchObject({
    changed: [{ facts: worse, status: 'firing' }],
    transitions: [],
  });
});

const move = fc.record({
  after: fc.integer({ min: 0, max: 4 * minuteMs }),
  what: fc.constantFrom(true, false, 'unknown' as const, 'time' as const),
  object: fc.constantFrom('a.example', 'b.example'),
});
const shape = fc.record({
  forMs: fc.constantFrom(0, 3 * minuteMs),
  observations: fc.constantFrom(1, 2),
  clearObservations: fc.constantFrom(1, 2),
});

test('whatever happens: firing and resolved take turns, unknown changes nothing, and nothing fires too early', () => {
  fc.assert(
    fc.property(shape, fc.array(move, { maxLength: 40 }), (rule, moves) => {
      const kept = keeper();
      const inRow = new Map<string, number>();
      let now = start;
      for (const { after, what, object } of moves) {
        now += after;
        const before = kept.notified.length;
        const subject = { ...condition().subject, object };
        const changes = what === 'time' ? kept.wait(now) : kept.see({ ...rule, active: what, subject }, now);
        if (what === 'unknown') expect(changes).toEqual({ changed: [], dropped: [], transitions: [] });
        if (what === true) inRow.set(object, (inRow.get(object) ?? 0) + 1);
        if (what === false) inRow.set(object, 0);
        for (const { kind, alert } of kept.notified.slice(before)) {
          if (kind !== 'firing') continue;
          expect(now - alert.since).toBeGreaterThanOrEqual(rule.forMs);
          expect(inRow.get(alert.object ?? '')).toBeGreaterThanOrEqual(rule.observations);
        }
      }
      for (const object of ['a.example', 'b.example']) {
        const kinds = kept.notified.filter(({ alert }) => alert.object === object).map(({ kind }) => kind);
        expect(kinds.every((kind, index) => kind === (index % 2 === 0 ? 'firing' : 'resolved'))).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test('what fires again within half an hour is unstable: it fires until it has been calm for as long', () => {
  const kept = keeper();
  const calm = { ...facts, title: 'all well' };
  kept.see({}, start);
  kept.see({ active: false, facts: calm }, start + minuteMs);
  kept.see({}, start + 5 * minuteMs);
  expect(kept.kinds()).toEqual(['firing', 'resolved', 'firing']);
  expect(kept.only()).toMatchObject({ unstable: { times: 2, calm: null }, facts: { title: 'a title (unstable)' } });
  for (let time = 3; time < 8; time += 1) {
    const at = start + 5 * time * minuteMs;
    kept.see({ active: false, facts: calm }, at);
    expect(kept.only()).toMatchObject({ status: 'firing', facts: { title: 'all well (unstable)' } });
    kept.see({}, at + minuteMs);
    expect(kept.only()?.unstable).toEqual({ times: time, calm: null });
  }
  const last = start + hourMs;
  kept.see({ active: false, facts: calm }, last);
  kept.see({ active: false, facts: calm }, last + 29 * minuteMs);
  kept.wait(last + 29 * minuteMs);
  expect([kept.kinds().length, kept.alerts.size]).toEqual([3, 1]);
  kept.wait(last + 30 * minuteMs);
  expect(kept.notified.at(-1)).toMatchObject({ kind: 'resolved', alert: { facts: { title: 'all well' } } });
  expect([kept.kinds().length, kept.alerts.size]).toEqual([4, 0]);
});

test('an unstable alert that gets more severe is told of, and one that comes after half an hour is a new one', () => {
  const kept = keeper();
  kept.see({ severity: 'warning' }, start);
  kept.see({ active: false }, start + minuteMs);
  kept.see({ severity: 'warning' }, start + 2 * minuteMs);
  kept.see({}, start + 3 * minuteMs);
  expect(kept.kinds()).toEqual(['firing', 'resolved', 'firing', 'worsened']);
  kept.see({ active: false }, start + 4 * minuteMs);
  kept.wait(start + 34 * minuteMs);
  kept.see({}, start + 65 * minuteMs);
  expect(kept.only()?.unstable).toBeUndefined();
});
