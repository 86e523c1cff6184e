// Statistics in the store: as they are in memory, the same when read back.
import { expect, test } from 'vitest';
import { DamagedRowError } from '../../src/store/failure.ts';
import { statsText, storedStats } from '../../src/store/rows.ts';
import { dayRow as row } from './records.ts';

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
])('statistics %s are read back as they were', (_, answer) => {
  expect(storedStats(statsText(answer), key)).toEqual(answer);
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
  expect(() => storedStats(text, key)).toThrow(DamagedRowError);
});
