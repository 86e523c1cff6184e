// What mailboxes have in common is said as what it is: the narrowest that explains them, two where two may be meant, or nothing.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Affected, sharedCauses } from '../../src/alerts/shared-cause.ts';
import { affected, causeOf, type Traits } from './incident-samples.ts';

const many = (count: number, traits: (index: number) => Traits, kinds?: readonly string[]) =>
  Array.from({ length: count }, (_, index) => affected(index, traits(index), kinds ? { kinds } : {}));
const atGoogle = (domains: number) => (index: number) => ({
  domain: `g${index % domains}.example`,
  provider: 'google',
});
const ofX = (provider: string) => () => ({ domain: 'x.example', provider });
const spread = (accounts: number) => (index: number) => ({
  account: accounts === 1 ? 'acme' : `a${index % accounts}`,
  domain: `d${index}.example`,
  provider: `p${index % (accounts === 1 ? 3 : 6)}`,
});
const strays = many(2, (index) => ({ domain: `s${index}.example`, provider: 'google' }));
/** A fleet of which nothing else is known. */
const alone = { sharing: () => 0 };
const causes = (pool: readonly Affected[]) =>
  sharedCauses(pool, alone).map((one) => `${causeOf(one)}: ${one.members.length}, ${one.kind}`);

describe('the cause of mailboxes that bounce at the same time', () => {
  test('of what a large fleet shares, three that bounce in one hour are chance: one more for every 200 mailboxes', () => {
    const found = (count: number, sharing: number) =>
      sharedCauses(many(count, atGoogle(count)), { sharing: () => sharing }).map(causeOf);
    expect([found(3, 199), found(3, 200), found(4, 200), found(7, 1_000), found(8, 1_000)]).toEqual([
      ['provider google'],
      [],
      ['provider google'],
      [],
      ['provider google'],
    ]);
    expect(sharedCauses(many(3, ofX('google')), { sharing: () => 5_000 }).map(causeOf)).toEqual(['domain x.example']);
  });

  const kind = 'block (policy_block)';
  const ofY = many(4, () => ({ domain: 'y.example', provider: 'google' }));
  const others = many(6, atGoogle(3), ['hard (invalid_recipient)']).map(renamed);
  const torn = affected(7, { domain: 'g9.example', provider: 'google' }, { kinds: ['a', kind] });
  const atOneIp = many(6, (index) => ({
    domain: `d${index % 3}.example`,
    provider: `p${index % 2}`,
    ip: '203.0.113.7',
  }));

  test.each([
    ['one provider over many domains', many(16, atGoogle(5)), ['provider google: 16']],
    ['one domain, narrower than the provider', many(5, ofX('google')), ['domain x.example: 5']],
    ['one ip under several domains', atOneIp, ['ip 203.0.113.7: 6']],
    ['the account, without anything narrower', many(9, spread(1)), ['account acme: 9']],
    ['the API, when several accounts have it', many(12, spread(4)), ['base_url https://api.example: 12']],
    ['one domain, with two strays at its provider', [...many(5, ofX('google')), ...strays], ['domain x.example: 5']],
    [
      'two causes at once, although one account has all of them',
      [...many(16, atGoogle(5)), ...many(5, ofX('microsoft'))],
      ['provider google: 16', 'domain x.example: 5'],
    ],
    [
      'two domains at one provider, which need not be it',
      [...many(5, ofX('google')), ...ofY],
      ['domain x.example: 5', 'domain y.example: 4'],
    ],
    [
      'another kind of bounce as another cause',
      [...many(6, atGoogle(3)), ...others],
      ['provider google: 6', 'provider google: 6, hard (invalid_recipient)'],
    ],
    [
      'of as many kinds of bounce the one that the others have',
      [...many(6, atGoogle(3)), torn],
      ['provider google: 7'],
    ],
  ])('%s', (_, pool, expected) => {
    expect(causes(pool)).toEqual(expected.map((cause) => (cause.includes(',') ? cause : `${cause}, ${kind}`)));
  });
});

function renamed(one: Affected): Affected {
  return { ...one, key: `other/${one.key}` };
}

const anyone = fc.record({
  domain: fc.integer({ min: 0, max: 4 }),
  provider: fc.constantFrom('google', 'microsoft', 'yahoo'),
  account: fc.constantFrom('one', 'two'),
  ip: fc.constantFrom(undefined, '203.0.113.1', '203.0.113.2'),
  kinds: fc.subarray(['hard', 'soft', 'block'], { maxLength: 2 }),
});

test('in whatever order: the same causes, no mailbox in two, and each has the cause and the kind of its incident', () => {
  fc.assert(
    fc.property(fc.array(anyone, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (people, chance) => {
      const pool = people.map(({ domain, kinds, ip, ...rest }, index) =>
        affected(index, { ...rest, domain: `d${domain}.example`, ...(ip ? { ip } : {}) }, { kinds }),
      );
      const found = sharedCauses(pool, alone);
      const members = found.flatMap((one) => one.members.map(({ key }) => key));
      expect(new Set(members).size).toBe(members.length);
      for (const { cause, kind, members: own } of found) {
        expect(own.length).toBeGreaterThanOrEqual(3);
        for (const one of own) {
          expect(one.traits[cause.attribute]).toBe(cause.value);
          expect(kind === null ? one.kinds.length === 0 : one.kinds.includes(kind)).toBe(true);
        }
      }
      const shuffled = pool
        .map((one) => ({ one, rank: Number(chance.next().value) }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ one }) => one);
      expect(sharedCauses(shuffled, alone)).toEqual(found);
    }),
  );
});
