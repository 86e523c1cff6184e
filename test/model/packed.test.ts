// Numbers as a short text: sums come back exactly, however large, and plain wherever that is exact.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exact } from '../../src/model/exact.ts';
import { Packer, Unpacker } from '../../src/model/packed.ts';

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
