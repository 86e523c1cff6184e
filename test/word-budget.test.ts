// Every page of the documents keeps to its number of words.
import { expect, test } from 'vitest';
import { countText, pageCounts, wordsIn } from '../tools/docs/count.ts';

test('no page has more words than its budget', () => {
  const counts = pageCounts();
  expect(counts.length).toBeGreaterThan(15);
  expect(counts.filter(({ words, budget }) => words > budget)).toEqual([]);
});

test('a word has a letter or a digit', () => {
  expect(wordsIn('# Two words\n| --- | 1 % |\n```\nnpm ci && npm start\n```')).toBe(7);
  expect(
    countText([{ page: 'a.md', words: 3, budget: 2 }])
      .split('\n')
      .at(-1),
  ).toMatch(/^all +3 +2 +1$/);
});
