// Cells that spreadsheets of other countries computed: a semicolon begins a cell there, and = has a full-width form.
import { expect, test } from 'vitest';
import { csvLine } from '../../src/web/recipes/recipe-routes.ts';

const formula = /^\s*[=+\-@|%＝＋－＠]/;

test.each([
  ...['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '|calc', '%0A=1', ' ; =1', '＝1', '＋1', '－1', '＠A1'],
  ';=1+1',
  '; =1+1',
  ';;@SUM(A1)',
  'box;=HYPERLINK("http://evil.example")',
  '＝1+1',
  '＋1+1',
  ' －1',
  '＠SUM(A1)',
])('%s is no formula, whichever sign divides the cells', (cell) => {
  const line = csvLine(['a', cell]).trimEnd();
  for (const divider of [',', ';', '\t']) {
    const cells = line.split(divider).map((one) => one.replace(/^"/, ''));
    expect(cells.filter((one) => formula.test(one))).toEqual([]);
  }
});

test('an ordinary text with a semicolon stays as it is', () => {
  expect(csvLine(['login failed; try again = later'])).toBe('login failed; try again = later\r\n');
});
