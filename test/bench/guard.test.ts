import { expect, test } from 'vitest';
import { defaultPolicy, literalProfile, warmupModes } from '../../src/core/policy.ts';
import { alarmsOf } from '../../tools/bench/guard/alarms.ts';
import { runCell } from '../../tools/bench/guard/cell.ts';
import { seededChance, seedOf } from '../../tools/bench/guard/chance.ts';
import { type Column, columns } from '../../tools/bench/guard/columns.ts';
import { simulateHistory } from '../../tools/bench/guard/history.ts';
import { figuresOf } from '../../tools/bench/guard.ts';

// A tenth of the histories in `npm test`, all of them in `npm run proofs`.
const share = process.env['WARMWARDEN_SLOW'] ? 1 : 0.1;

const literal = { ...defaultPolicy, ...literalProfile };

function column(name: string): Column {
  const found = columns.find((one) => one.name === name);
  if (!found) throw new Error(`no column ${name}`);
  return found;
}

const historyOf = (name: string, index: number, mode = 'slow' as (typeof warmupModes)[number], days = 90) =>
  simulateHistory(mode, column(name), days, seededChance(seedOf(7, mode, name, index)));

test('the literal rule raises 1.42 alarms on a slow mailbox of 0.1%, as the study says, and the measured rule less than a quarter', () => {
  const cell = { mode: 'slow', column: column('fp_0.1pct'), mailboxes: 1_000, seed: 3 } as const;
  const [ours, bare] = runCell(cell, [defaultPolicy, literal]);
  if (ours?.kind !== 'steady' || bare?.kind !== 'steady') throw new Error('the column is steady');
  expect(Math.abs(bare.interventionsPer90Days - 1.42)).toBeLessThan(0.15);
  expect(ours.interventionsPer90Days).toBeLessThan(bare.interventionsPer90Days / 4);
  expect(ours.interventionsPer90Days).toBeGreaterThan(0);
});

test('asking the judge only where bounces came or a day began finds the alarms of every single poll', () => {
  for (const mode of warmupModes) {
    for (const { name } of columns) {
      for (const policy of [defaultPolicy, literal]) {
        const history = historyOf(name, 1, mode, 60 * share);
        const watch = { policy, mode, history, stopFrom: Number.POSITIVE_INFINITY, polls: history.sent.length };
        const every = alarmsOf({ ...watch, judgeAll: true }).map(({ poll }) => poll);
        expect(alarmsOf({ ...watch, judgeAll: false }).map(({ poll }) => poll)).toEqual(every);
      }
    }
  }
});

test('a guard that needs three bounces misses the targets that it should miss', () => {
  const lazy = { ...defaultPolicy, minBounces: 3 };
  const cell = { mode: 'slow', column: column('3x'), mailboxes: 300, seed: 5 } as const;
  const [ours, bare] = runCell(cell, [lazy, literal]);
  if (!ours || !bare) throw new Error('two policies, two results');
  const missed = figuresOf({ ...cell, ours, literal: bare }).filter(({ holds }) => !holds);
  expect(missed.map(({ figure }) => figure)).toEqual(['slow/3x/median_days', 'slow/3x/mean_bounces']);
});
