// The heap that the queue is made of, against a sorted list.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlotHeap } from '../../src/api/poll/slot-heap.ts';

test('whatever is put in, moved and taken out: the first is the smallest, and equals go by slot', () => {
  const step = fc.record({
    slot: fc.integer({ min: 0, max: 40 }),
    key: fc.option(fc.integer({ min: -5, max: 5 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const [heap, naive] = [new SlotHeap(), new Map<number, number>()];
      for (const { slot, key } of steps) {
        if (key === null) {
          heap.delete(slot);
          naive.delete(slot);
        } else {
          heap.set(slot, key);
          naive.set(slot, key);
        }
        const [first] = [...naive].toSorted(([a, one], [b, other]) => one - other || a - b);
        expect([heap.first(), heap.size, heap.keyOf(slot)]).toEqual([first?.[0] ?? null, naive.size, key]);
        expect(heap.countBelow(0)).toBe([...naive.values()].filter((one) => one < 0).length);
      }
    }),
    { numRuns: 300 },
  );
});

test('an account of more mailboxes than two bytes can count keeps its order', () => {
  const heap = new SlotHeap();
  for (let slot = 0; slot < 70_000; slot += 1) heap.set(slot, (slot * 7_919) % 70_001);
  const order: number[] = [];
  for (let first = heap.first(); first !== null; first = heap.first()) {
    order.push(heap.keyOf(first) ?? Number.NaN);
    heap.delete(first);
  }
  expect(order).toHaveLength(70_000);
  expect(order.every((key, index) => index === 0 || (order[index - 1] ?? 0) <= key)).toBe(true);
});
