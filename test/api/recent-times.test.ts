// Times that are remembered for a while are those that a plain list would have, whatever comes and goes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentTimes } from '../../src/api/restraint.ts';

const step = fc.record({
  later: fc.integer({ min: 0, max: 50 }),
  forgetAfter: fc.option(fc.integer({ min: 0, max: 200 })),
});

test('as a list that is filtered', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.integer({ min: 0, max: 300 }), (steps, span) => {
      const times = new RecentTimes();
      let [now, plain] = [0, [] as number[]];
      for (const { later, forgetAfter } of steps) {
        now += later;
        times.add(now);
        plain.push(now);
        if (forgetAfter === null) continue;
        times.forgetUntil(now - forgetAfter);
        plain = plain.filter((time) => time > now - forgetAfter);
      }
      const copy = times.copy();
      for (const one of [times, copy]) {
        expect(one.length).toBe(plain.length);
        expect([-1, 0, 1, plain.length - 1, plain.length].map((index) => one.at(index))).toEqual(
          [-1, 0, 1, plain.length - 1, plain.length].map((index) => plain[index]),
        );
        expect(one.countAfter(now - span)).toBe(plain.filter((time) => time > now - span).length);
      }
      copy.add(now + 1);
      expect(times.length).toBe(plain.length);
    }),
    { numRuns: 200 },
  );
});
