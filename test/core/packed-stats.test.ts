// Statistics in little room: exactly what they were, whatever an API sends.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { PackedStats } from '../../src/core/packed-stats.ts';
import { addDays } from '../../src/core/time.ts';

const day: StatsRow = {
  ...{ date: '2026-03-04', sent: 38, bounced: 1, delivered: 37, opened: 12, replied: 5, spamLanded: 0 },
  ...{ inboxRatePercent: 97.5, bounceRatePercent: 2.63, healthScore: 98.5 },
};
const value = fc.option(
  fc.oneof(
    fc.nat({ max: 100 }),
    fc.nat(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.nat({ max: 10_000 }).map((hundredths) => hundredths / 100),
  ),
);
const anyRow = fc.record({
  date: fc.option(fc.integer({ min: 0, max: 40_000 }).map((later) => addDays('1970-01-01', later))),
  ...{ sent: value, bounced: value, delivered: value, opened: value, replied: value, spamLanded: value },
  ...{ inboxRatePercent: value, bounceRatePercent: value },
});
const anyRows = fc.array(
  fc.oneof(
    anyRow,
    fc.tuple(anyRow, value).map(([row, healthScore]) => ({ ...row, healthScore })),
  ),
);

test('whatever rows are packed are the rows that are read, also from the text', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      const { text } = PackedStats.of({ rows });
      expect(PackedStats.fromText(text)?.rows).toEqual(rows);
    }),
  );
});

test('the rows of one answer are not those of another, whichever was asked last', () => {
  const [one, other] = [PackedStats.of({ rows: [day] }), PackedStats.of({ rows: [{ ...day, sent: 7 }] })];
  expect([one, other, one].map(({ rows }) => rows?.[0]?.sent)).toEqual([38, 7, 38]);
  expect(one.rows).toBe(one.rows);
});

test('the rows of the last sixteen answers are not made again: an answer is judged when others have been read after it', () => {
  const rows = [day];
  const read = PackedStats.of({ rows });
  const others = Array.from({ length: 15 }, (_, sent) => PackedStats.of({ rows: [{ ...day, sent }] }));
  expect(read.rows).toBe(rows);
  for (const other of others) expect(other.rows).toHaveLength(1);
  expect(read.rows).toBe(rows);
  for (const sent of [15, 16, 17]) PackedStats.of({ rows: [{ ...day, sent }] });
  expect(others[0]?.rows?.[0]?.sent).toBe(0);
});

test('rows that are read after others of the same beginning are what was packed', () => {
  const variants = fc.array(fc.tuple(fc.nat({ max: 5 }), anyRows), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(anyRows, variants, (rows, others) => {
      const answers = [rows, ...others.map(([kept, rest]) => [...rows.slice(0, kept), ...rest])];
      const texts = answers.map((answer) => PackedStats.of({ rows: answer }).text);
      const read = [...texts, ...texts.toReversed()].map((text) => PackedStats.fromText(text)?.rows);
      expect(read).toEqual([...answers, ...answers.toReversed()]);
    }),
  );
});

/** What a packed text is, read from its definition. */
const packedValue = '(?:[\\]-|]*[0-O]|[~-]|!-?\\d+(?:\\.\\d+)?(?:e[+-]\\d{1,3})?!)';
const packedText = new RegExp(`^"(?:${packedValue}{10})*"$`);

test('a text that was damaged is refused unless it still is one of whole rows with real dates', () => {
  const letter = fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code));
  const damage = fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.option(letter));
  let refused = 0;
  const property = fc.property(anyRows, damage, (rows, [place, taken, put]) => {
    const { text } = PackedStats.of({ rows });
    const at = place % text.length;
    const damaged = text.slice(0, at) + (put ?? '') + text.slice(at + taken);
    const read = PackedStats.fromText(damaged);
    if (read === null) {
      refused += 1;
      return;
    }
    expect(damaged).toMatch(packedText);
    for (const { date } of read.rows ?? []) expect(date ?? '1970-01-01').toMatch(/^\d{4}-\d\d-\d\d$/);
  });
  fc.assert(property, { numRuns: 500 });
  expect(refused).toBeGreaterThan(100);
});

test.each([
  '',
  '"',
  'null ',
  '"!1e999!"',
  '"}000000000"',
  '"!1000000000"',
  '"P000000000"',
  '"000000000"',
  '"000000000!1"',
])('the text %j is none', (text) => {
  expect(PackedStats.fromText(text)).toBeNull();
});

test('what is no real date is none', () => {
  expect(PackedStats.fromText(PackedStats.of({ rows: [{ ...day, date: '2026-02-30' }] }).text)?.rows).toEqual([
    { ...day, date: null },
  ]);
});

test('thirty days take less than an eighth of what they take as JSON', () => {
  const rows = Array.from({ length: 30 }, (_, later) => ({ ...day, date: addDays('2026-02-20', later) }));
  expect(PackedStats.of({ rows }).text.length * 8).toBeLessThan(JSON.stringify({ rows }).length);
});

test('as JSON they are what they were', () => {
  expect(JSON.parse(JSON.stringify(PackedStats.of({ rows: [day] })))).toEqual({ rows: [day] });
});
