// A bag has what was put in and not taken out, as a set has, whatever comes and goes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Bag } from '../src/world/interrupt.ts';

test('a bag holds what a set would hold', () => {
  const steps = fc.array(fc.record({ what: fc.constantFrom('add', 'delete', 'clear'), thing: fc.nat(9) }));
  fc.assert(
    fc.property(steps, (all) => {
      const [bag, set] = [new Bag<number>(), new Set<number>()];
      for (const { what, thing } of all) {
        if (what === 'add' && !set.has(thing)) bag.add(thing);
        if (what === 'delete') bag.delete(thing);
        if (what === 'clear' && thing === 0) bag.clear();
        if (what === 'add') set.add(thing);
        if (what === 'delete') set.delete(thing);
        if (what === 'clear' && thing === 0) set.clear();
        expect([[...bag].sort(), bag.size]).toEqual([[...set].sort(), set.size]);
      }
    }),
  );
});
