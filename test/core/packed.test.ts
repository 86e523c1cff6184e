// Numbers as a short text: sums come back exactly, however large, and plain wherever that is exact.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exact } from '../../src/core/exact.ts';
import { Packer, Unpacker } from '../../src/core/packed.ts';

test('sums are read as they were packed', () => {
  const sums = fc.array(fc.oneof(fc.maxSafeNat(), fc.maxSafeInteger(), fc.bigInt()).map((sum) => exact(BigInt(sum))));
  fc.assert(
    fc.property(sums, (all) => {
      const packer = new Packer();
      for (const sum of all) packer.addExact(sum);
      const unpacker = new Unpacker(packer.packed());
      expect(all.map(() => unpacker.nextExact())).toEqual(all);
      expect(unpacker.isAtEnd).toBe(true);
    }),
  );
});

test('texts that are written at the same time, and long ones, do not mix', () => {
  const short = (value: number) => new Packer().add(value).packed();
  const [one, other] = [new Packer(), new Packer()];
  const values = Array.from({ length: 5_000 }, (_, index) => index * 1_000);
  for (const value of values) {
    one.add(value);
    other.add(value + 1);
  }
  const [first, second] = [one.packed(), other.packed()];
  expect(short(7)).toBe(short(7));
  for (const [text, more] of [
    [first, 0],
    [second, 1],
  ] as const) {
    const unpacker = new Unpacker(text);
    expect(values.map(() => unpacker.next())).toEqual(values.map((value) => value + more));
    expect(unpacker.isAtEnd).toBe(true);
  }
});

test('a packer that has given its text away takes nothing more: its letters are another’s', () => {
  const packer = new Packer().add(1);
  packer.packed();
  expect(() => packer.add(2)).toThrow('one text');
});
