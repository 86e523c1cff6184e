// Who takes and gives what, so that all have about as much; and what a clock that differs leads to.
import { expect, test } from 'vitest';
import type { Scope } from '../../src/store/replicas/membership.ts';
import { type Holding, mayOffer, toEnd, toGive, toTake } from '../../src/store/replicas/shares.ts';
import { type Skew, warnOfSkew } from '../../src/store/replicas/skew.ts';
import { logTo, movedClock } from '../../src/world/world.ts';

const scopes = (count: number) => Array.from({ length: count }, (_, index): Scope => `account:a${index}`);

/** Owners in the order of the accounts; null: nobody. `self` is a. */
function situation(owners: readonly (string | null)[], wants: Readonly<Record<string, readonly Scope[]>>) {
  const all = scopes(owners.length);
  const about = {
    name: '',
    version: '',
    startedAt: 0,
    beat: 0,
    configDigest: '',
    reloadFailure: null,
    storeFailure: null,
  };
  return {
    self: 'a',
    sight: {
      now: 0,
      missing: [],
      replicas: Object.entries(wants).map(([id, wants]) => ({ ...about, id, wants })),
      leases: owners.map((owner, index) => ({ scope: all[index] ?? 'clock', owner, offeredMsAgo: null })),
    },
    wanted: all,
    held: new Set(all.filter((_, index) => owners[index] === 'a')),
    freeSince: new Map<Scope, number>(all.map((scope) => [scope, 0])),
    declinedUntil: new Map<Scope, number>(),
    now: 0,
  };
}

const three = scopes(6);
const alike = { a: three, b: three, c: three };

test('each takes its share of what nobody has, and more only when the others leave it', () => {
  const free = situation(['a', null, null, null, 'gone', 'b'], alike);
  expect(toTake(free)).toEqual({ scopes: three.slice(1, 5), room: 1 });
  expect(toTake({ ...free, now: 3_000 }).room).toBe(4);
  // One that wants nothing yet has no share.
  expect(toTake(situation([null, null, null, null, null, null], { a: three, b: [] })).room).toBe(6);
});

test('what a replica gave away it does not take back at once', () => {
  const given = {
    ...situation([null, null], { a: scopes(2), b: scopes(2) }),
    declinedUntil: new Map([[three[0] ?? 'clock', 5]]),
  };
  expect(toTake(given).scopes).toEqual(['account:a1']);
  expect(toTake({ ...given, now: 5 }).scopes).toEqual(['account:a0', 'account:a1']);
});

test('the one with the most gives one to who has two fewer and wants it', () => {
  expect(toGive(situation(['a', 'a', 'a', 'b', 'b', 'c'], alike))).toBe('account:a0');
  expect(toGive(situation(['a', 'a', 'b', 'b', 'b', 'c'], alike))).toBeNull();
  expect(toGive(situation(['a', 'a', 'b', 'b', 'c', 'c'], alike))).toBeNull();
  expect(toGive(situation(['a', 'a', 'a'], { a: scopes(3), b: [three[1] ?? 'clock'] }))).toBe('account:a1');
  expect(toGive(situation(['a', 'a', 'a'], { a: scopes(3), b: [] }))).toBeNull();
});

test('what one replica can not reach is offered where another wants it, not again within 15 minutes', () => {
  const here = situation(['a', 'b'], { a: scopes(2), b: scopes(2) });
  const offered = (offeredMsAgo: number) => ({
    ...here,
    sight: { ...here.sight, leases: here.sight.leases.map((lease) => ({ ...lease, offeredMsAgo })) },
  });
  expect(mayOffer(here, 'account:a0')).toBe(true);
  expect(mayOffer(offered(60_000), 'account:a0')).toBe(false);
  expect(mayOffer(offered(900_000), 'account:a0')).toBe(true);
  expect(mayOffer(situation(['a'], { a: scopes(1) }), 'account:a0')).toBe(false);
});

test('what is held without its lease is ended, but for what is being given away', () => {
  const { leases } = situation(['a', 'b', null, 'a', null], {}).sight;
  const ended = (holding: Holding) => toEnd({ self: 'a', leases }, new Map(scopes(6).map((one) => [one, holding])));
  const without = ['account:a1', 'account:a2', 'account:a4', 'account:a5'];
  expect([ended('ours'), ended('going'), ended('giving')]).toEqual([without, without, []]);
  expect(toEnd({ self: 'a', leases: [] }, new Map())).toEqual([]);
});

test('a clock that differs is told once when it gets worse', () => {
  const lines: string[] = [];
  const log = logTo((line) => lines.push(JSON.parse(line).msg), { level: 'info', format: 'json' }, movedClock(0));
  let skew: Skew = 'small';
  for (const ms of [0, 1_900, -2_100, 2_500, 31_000, 40_000, 100, -31_000]) skew = warnOfSkew(ms, skew, log);
  expect(skew).toBe('excessive');
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'the clock of this machine and that of the PostgreSQL server differ',
    'this replica takes no more accounts',
    'this replica takes no more accounts',
  ]);
});
