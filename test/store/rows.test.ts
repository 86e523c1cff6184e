// Statistics in the store: as they are in memory, the same when read back.
import { expect, test } from 'vitest';
import { DamagedRowError } from '../../src/store/failure.ts';
import { readStats, statsText } from '../../src/store/rows.ts';
import { now, dayRow as row, verdictOf } from './records.ts';

const nothing = { ...row, date: null, sent: null, bounced: null, delivered: null, inboxRatePercent: null };
const key = { mailbox_id: 'm1', route: 'stats' };

test.each([
  ['of a day', { rows: [row] }],
  [
    'with a health score',
    {
      rows: [
        { ...row, healthScore: 98.5 },
        { ...row, healthScore: null },
      ],
    },
  ],
  ['of which nothing is known', { rows: [nothing] }],
  ['without a day', { rows: [] }],
  ['that were no list', { rows: null }],
])('statistics %s are read back as they were, with a verdict and without', (_, answer) => {
  const judged = { at: now, answer: verdictOf({ sent: 12, warnings: ['odd'] }) };
  for (const beside of [null, judged]) {
    const text = statsText(answer, beside);
    expect(readStats(text, key)).toMatchObject({ stats: { rows: answer.rows }, judged: beside });
    // `store check` looks whether it is.
    expect(() => JSON.parse(text)).not.toThrow();
  }
});

test.each([
  '',
  '{half',
  '7',
  '[]',
  '{}',
  '{"rows":5}',
  '{"rows":[null]}',
  '{"rows":[{}]}',
  '{"rows":[["2026-03-04",1]]}',
])('a row with %s in it is damaged', (text) => {
  expect(() => readStats(text, key)).toThrow(DamagedRowError);
});
