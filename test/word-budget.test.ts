// Every page of the documents keeps to its number of words.
import { expect, test } from 'vitest';
import { countText, pageCounts, pageTexts, wordsIn } from '../tools/docs/count.ts';
import { styleOf } from '../tools/docs/style.ts';

test('no page has more words than its budget', () => {
  const counts = pageCounts();
  expect(counts.length).toBeGreaterThan(15);
  expect(counts.filter(({ words, budget }) => words > budget)).toEqual([]);
});

test('a word has a letter or a digit', () => {
  expect(wordsIn('# Two words\n| --- | 1% |\n```\nnpm ci && npm start\n```')).toBe(7);
  expect(
    countText([{ page: 'a.md', words: 3, budget: 2 }])
      .split('\n')
      .at(-1),
  ).toMatch(/^all +3 +2 +1$/);
});

test('sentences are short: 12 words on average, and few of more than 30', () => {
  const { wordsASentence, longPercent } = styleOf(pageTexts());
  expect(wordsASentence).toBeLessThan(12);
  expect(longPercent).toBeLessThan(2);
});

test('code, headings and tables have no sentences; a code block counts per 1,000 words', () => {
  const text =
    '# Not a sentence. Really\n\nTwo words. Three more words\n\n```\nnot. These\n```\n\n| not | these |\n- One item';
  expect(styleOf([text])).toMatchObject({ sentences: 3, wordsASentence: 7 / 3, longPercent: 0 });
  expect(styleOf([text]).blocks).toBeCloseTo(1_000 / 13);
});
