// Statistics in the store: as they are in memory, the same when read back.
import { expect, test } from 'vitest';
import { DamagedRowError } from '../../src/store/failure.ts';
import { readStats, statsText } from '../../src/store/schema/stored-stats.ts';
import { now, dayRow as row, verdictOf } from './records.ts';

const nothing = { ...row, date: null, sent: null, bounced: null, delivered: null, inboxRatePercent: null };
const key = { mailbox_id: 'm1', route: 'stats' };
const read = (text: string) => readStats(text, key).stats.rows;

test.each([
  ['of a day', { rows: [row] }],
  [
    'with a health score, without one, and with none',
    { rows: [{ ...row, healthScore: 98.5 }, row, { ...row, healthScore: null }] },
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
  ...[
    '{"rows":"","judgedAt":5,"verdict":null}',
    '{"rows":"","judgedAt":null,"verdict":{}}',
    '{"rows":[null]}',
    '[]',
    '{}',
    '{"rows":5}',
  ],
  ...['{"rows":[[]]}', '{"rows":[{}]}', '{"rows":[{"date":null,"sent":"x"}]}'],
  ...['!x!', '!1e+999!', '!Infinity!', '!99999999!', '!-1!', '!0.5!'].map((day) => `"${day}000000000"`),
  ...['', '{half', '"half', '"~"', '"abc"', '7', '{"rows":"~","judgedAt":1,"verdict":{}}'],
])('a row with %s in it is damaged', (text) => {
  expect(() => read(text)).toThrow(DamagedRowError);
});
