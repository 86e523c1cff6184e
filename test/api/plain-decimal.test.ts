// A plain decimal is read by hand: it is what the expression says that it stands for.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlainDecimal } from '../../src/api/plain-decimal.ts';

const expression = /^\s*-?\d+(\.\d+)?\s*$/;

test('a text is a plain decimal exactly when it is one by the expression', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'0123456789.-+eE x\u00a0\n') });
  fc.assert(
    fc.property(fc.oneof(letters, fc.double().map(String), fc.string()), (text) => {
      expect(isPlainDecimal(text)).toBe(expression.test(text));
    }),
    { numRuns: 2_000 },
  );
});

test.each(['98.50', '0', '-3', ' 100.00\n', '007'])('%j is one', (text) => expect(isPlainDecimal(text)).toBe(true));
test.each(['', '-', '.', '5.', '.5', '1.2.3', '1e5', '0x10', '--1', '1 2', 'Infinity', '٣'])('%j is none', (text) =>
  expect(isPlainDecimal(text)).toBe(false),
);
