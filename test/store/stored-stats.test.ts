// Statistics in the store: shorter than the answer, the same when read back, and also read as earlier versions wrote them.
import { expect, test } from 'vitest';
import { statsText, storedStats } from '../../src/store/schema/stored-stats.ts';
import { answers } from './records.ts';

const [row] = answers.stats.answer.rows;
const nothing = { ...row, date: null, sent: null, bounced: null, delivered: null, inboxRatePercent: null };

test.each([
  ['of a day', { rows: [row] }],
  [
    'with a health score, without one, and with none',
    { rows: [{ ...row, healthScore: 98.5 }, row, { ...row, healthScore: null }] },
  ],
  ['of which nothing is known', { rows: [nothing] }],
  ['without a day', { rows: [] }],
  ['that were no list', { rows: null }],
])('statistics %s are read back as they were, in either form', (_, answer) => {
  const read = (text: string) => storedStats(JSON.parse(text));
  expect(read(statsText(answer))).toEqual(answer);
  expect(read(JSON.stringify(answer))).toEqual(answer);
});

test('thirty days take less than a third of what the answer takes', () => {
  const rows = Array.from({ length: 30 }, () => ({ ...row, healthScore: 98.5 }));
  expect(statsText({ rows }).length * 3).toBeLessThan(JSON.stringify({ rows }).length);
});
