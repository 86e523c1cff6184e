// Globs, which mailboxes are guarded, and the order in which profile, guard and overrides count.
import { describe, expect, test } from 'vitest';
import type { Config, GuardOverride, GuardSettings } from '../../src/config/config.ts';
import { LiveConfig, resolvePolicy, selects, tagsOf } from '../../src/config/mailbox-rules.ts';
import { fitsGlob } from '../../src/core/mailbox-pattern.ts';
import { defaultPolicy } from '../../src/core/policy.ts';

const mailbox = { email: 'Ann@VIP.example', id: 'mb_1' };
type Override = Pick<GuardOverride, 'match' | 'guard'>;
const policy = (guard: GuardSettings, overrides: Override[] = []) => resolvePolicy({ guard, overrides }, mailbox);

describe('a glob', () => {
  test.each([
    ['*', '', true],
    ['*@vip.example', 'ann@vip.example', true],
    ['*@VIP.example', 'ann@vip.EXAMPLE', true],
    ['a?n@*', 'ann@x', true],
    ['a?n@*', 'an@x', false],
    ['*a*b*', 'xxaxxbxx', true],
    ['*ab', 'aab', true],
    ['*@vip.example', 'ann@vip.example.org', false],
    ['a.n', 'axn', false],
    ['a*', 'a*', true],
    ['', 'a', false],
  ])('%s on %s is %s', (glob, text, fits) => {
    expect(fitsGlob(glob, text)).toBe(fits);
  });

  test('with many stars still answers at once', () => {
    expect(fitsGlob('*a'.repeat(150), 'a'.repeat(149) + 'b'.repeat(10_000))).toBe(false);
  });
});

describe('the mailboxes of an account', () => {
  const guarded = (include: string[], exclude: string[]) => selects({ mailboxes: { include, exclude } }, mailbox);

  test('are included by glob or by exact id', () => {
    expect(guarded(['*@vip.example'], [])).toBe(true);
    expect(guarded(['mb_1'], [])).toBe(true);
    expect(guarded(['mb_*'], [])).toBe(false);
    expect(guarded(['MB_1'], [])).toBe(false);
  });

  test('are excluded even where they are included too', () => {
    expect(guarded(['*'], ['ann@*'])).toBe(false);
  });
});

describe('the policy of a mailbox', () => {
  test('profile literal sets one bounce and seven days', () => {
    expect(policy({ profile: 'literal' })).toEqual({ ...defaultPolicy, minBounces: 1, windowMaxDays: 7 });
  });

  test('explicit keys beat the profile, whichever of the two stands in an override', () => {
    expect(policy({ profile: 'literal', minBounces: 3 }).minBounces).toBe(3);
    expect(policy({ minBounces: 3 }, [{ match: '*', guard: { profile: 'literal' } }])).toMatchObject({
      minBounces: 3,
      windowMaxDays: 7,
    });
  });

  test('all overrides that match apply, later ones win, key by key', () => {
    const overrides: Override[] = [
      { match: '*@vip.example', guard: { enforce: false, emergency: { days: 3 } } },
      { match: '*@other.example', guard: { onBreach: 'alert' } },
      { match: 'mb_1', guard: { enforce: true, emergency: { minBounces: 9 }, limitsPpm: { slow: 1 } } },
    ];
    expect(policy({ onBreach: 'pause' }, overrides)).toEqual({
      ...defaultPolicy,
      onBreach: 'pause',
      emergency: { minBounces: 9, ratePpm: 100_000, days: 3 },
      limitsPpm: { ...defaultPolicy.limitsPpm, slow: 1 },
    });
  });

  test('never has a window above its maximum, even when two overrides say so together', () => {
    const overrides = [
      { match: '*', guard: { windowMaxDays: 10 } },
      { match: '*', guard: { windowDays: 20 } },
    ];
    expect(policy({}, overrides)).toMatchObject({ windowDays: 20, windowMaxDays: 20 });
  });
});

test('the tags of a mailbox are those of its account and of every override that matches, each name once, the later value', () => {
  const overrides = [
    { match: '*@vip.example', tags: ['vip', 'client=a'], guard: {} },
    { match: 'm7', tags: ['slow', 'client=south'], guard: {} },
  ];
  const tags = (id: string, email: string) => tagsOf({ tags: ['client=a'], overrides }, { id, email });
  expect(tags('m7', 'x@vip.example')).toEqual(['client=south', 'vip', 'slow']);
  expect(tags('m8', 'x@other.example')).toEqual(['client=a']);
});

test('an account may have mailboxes with each tag that an override gives in place of its own', () => {
  const overrides = [
    { match: '*@vip.example', tags: ['vip', 'client=a'], guard: {} },
    { match: 'nobody@south.example', tags: ['client=south'], guard: {} },
  ];
  const accounts = [{ name: 'key', tags: ['client=a', 'slow'], overrides }];
  const { tags } = new LiveConfig({ accounts } as unknown as Config);
  expect(tags.choicesOf('key')).toEqual([['client=a', 'client=a', 'client=south'], ['slow']]);
  expect(tags.choicesOf('other')).toEqual([]);
});
