// A secret is found wherever it stands, whatever letters it is made of.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Redactor } from '../../src/api/http/redactor.ts';

const beside = fc.string({ maxLength: 40 });

test('no text that is shown holds the key, or a secret of another part of the configuration', () => {
  const secret = fc.string({ minLength: 12, maxLength: 40, unit: 'binary' });
  fc.assert(
    fc.property(secret, secret, beside, beside, (own, other, before, after) => {
      const shown = new Redactor(own, [other]).text(`${before}${own}${after}${other}${before}`);
      fc.pre(!`${before}[key]${after}[hidden]${before}`.includes(own));
      expect(shown).not.toContain(own);
    }),
  );
});
