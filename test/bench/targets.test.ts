// How a figure is held against its target, and when the benchmark fails for it.
import { expect, test } from 'vitest';
import { heldAgainst } from '../../tools/bench/targets.ts';

const atMost = { wanted: 2, is: 'at most', of: 'ratio', enforced: true } as const;
const measured = { bench: 'duty', figure: 'cpu', ours: 3, peer: 1 };

test('a target that is missed is said to be missed, and fails from twice the target on', () => {
  expect(heldAgainst(atMost, { ...measured, ours: 2 })).toMatchObject({ ratio: 2, holds: true, fails: false });
  expect(heldAgainst(atMost, measured)).toMatchObject({ ratio: 3, holds: false, fails: false });
  expect(heldAgainst(atMost, { ...measured, ours: 5 })).toMatchObject({ ratio: 5, holds: false, fails: true });
});

test('a target that is not enforced yet fails nothing, however far away it is', () => {
  expect(heldAgainst({ ...atMost, enforced: false }, { ...measured, ours: 50 })).toMatchObject({
    holds: false,
    fails: false,
  });
});

test('at least: half of it is the bound', () => {
  const atLeast = { wanted: 4_000, is: 'at least', of: 'ours', enforced: true } as const;
  expect(heldAgainst(atLeast, { ...measured, ours: 2_500 })).toMatchObject({ holds: false, fails: false });
  expect(heldAgainst(atLeast, { ...measured, ours: 1_900 })).toMatchObject({ holds: false, fails: true });
});
