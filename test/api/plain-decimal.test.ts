// Which texts are plain decimals.
import { expect, test } from 'vitest';
import { isPlainDecimal } from '../../src/api/answers.ts';

test.each(['98.50', '0', '-3', ' 100.00\n', '007'])('%j is one', (text) => expect(isPlainDecimal(text)).toBe(true));
test.each(['', '-', '.', '5.', '.5', '1.2.3', '1e5', '0x10', '--1', '1 2', 'Infinity', '٣'])('%j is none', (text) =>
  expect(isPlainDecimal(text)).toBe(false),
);
