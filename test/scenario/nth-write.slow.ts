// Every single write of the store fails once in a short story, at its beginning and at its commit; and five in a row (WARMWARDEN_SLOW=1: any).
import { expect, test } from 'vitest';
import { playWith } from './nth-write.ts';

const withinMs = 1_200_000;

test.each([
  ['begin immediate', 1],
  ['commit', 1],
  ['begin immediate', 5],
] as const)(
  'a failure at "%s", %i in a row, costs no guard, no action and no message, wherever it comes',
  async (at, inARow) => {
    const wrong: string[] = [];
    let last = Number.POSITIVE_INFINITY;
    for (let from = 1; from <= last; from += process.env['WARMWARDEN_SLOW'] ? 1 : inARow) {
      try {
        const { begun } = await playWith(({ nth }) => nth >= from && nth < from + inARow, { at });
        last = Math.min(last, begun);
      } catch (error) {
        wrong.push(`from ${from}: ${error}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(last).toBeGreaterThan(50);
  },
  withinMs,
);
