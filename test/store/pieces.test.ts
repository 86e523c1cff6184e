// Rows that go into one statement each come in lists of few lengths, all of them, in their order.
import { expect, test } from 'vitest';
import { ofFewLengths, rowsAPiece } from '../../src/store/pieces.ts';

test('rows come in lists of few lengths, in their order', () => {
  const lengths = new Set<number>();
  for (let count = 0; count <= rowsAPiece; count += 1) {
    const rows = Array.from({ length: count }, (_, row) => row);
    const lists = [...ofFewLengths(rows)];
    expect(lists.flat()).toEqual(rows);
    for (const { length } of lists) lengths.add(length);
  }
  expect([...lengths].sort((a, b) => a - b)).toEqual([1, 2, 4, 8, 16, 32, 64]);
});
