// A write of the store fails at the worst moments of a short story; nth-write.slow.ts tries them all. docs/faults.md O3.
import { expect, test } from 'vitest';
import { type Moment, playWith } from './nth-write.ts';

const first = (met: (moment: Moment) => boolean) => (moment: Moment) => moment.failed === 0 && met(moment);

test.each([
  ['the first mailbox list', first(({ nth }) => nth === 1)],
  ['the intent', first(({ action }) => action === 'planned')],
  ['the outcome of an action that a reload waits for', first(({ action }) => action === 'open')],
  ['the message about it', first(({ action }) => action === 'confirmed')],
] as const)('a write that fails while it records %s costs no guard, no action and no message', async (_, fails) => {
  expect(await playWith(fails)).toMatchObject({ failed: 1 });
});
