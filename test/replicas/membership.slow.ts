// Several replicas on a real PostgreSQL, each with a clock of its own that moves with the others', stands still, or jumps.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Scope } from '../../src/store/replicas/membership.ts';
import { TestPostgres } from '../support/postgres.ts';
import { type Joined, Rig } from './rig.ts';

let postgres: TestPostgres;
let rig: Rig;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());
beforeEach(async () => {
  rig = await Rig.on(await postgres.database());
  return () => rig[Symbol.asyncDispose]();
});

const accounts = (count: number) => Array.from({ length: count }, (_, index) => `account:a${index}` as const);
const scopes = [...accounts(6), 'notify', 'clock'] as const;

test('the first one takes all at once; the others get their share one by one once all is calm for a minute', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const others = [await rig.join('second', scopes), await rig.join('third', scopes)];
  await rig.clock.advance(50_000);
  expect(first.holds().length).toBe(8);
  await rig.until(() => others.every((one) => one.accounts().length === 2), 60_000);
  expect([first, ...others].map((one) => one.accounts().length)).toEqual([2, 2, 2]);
  expect(first.said.filter((line) => line.startsWith('release')).length).toBe(4);
  expect(others.flatMap(({ said }) => said)).toHaveLength(4);
  expect(others.every(({ said }) => said.every((line) => line.endsWith('handed_over')))).toBe(true);
  expect(rig.doubled).toEqual([]);
  await rig.clock.advance(120_000);
  expect([first, ...others].map((one) => one.accounts().length)).toEqual([2, 2, 2]);
});

test('what one had that ends without a word is inherited by the others within 18 s, each its share', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const [second, third] = [await rig.join('second', scopes), await rig.join('third', scopes)];
  await rig.clock.advance(5_000);
  await first.kill();
  await rig.until(() => [...second.holds(), ...third.holds()].length === 8, 18_000);
  expect([second.accounts().length, third.accounts().length]).toEqual([3, 3]);
  expect([...second.said, ...third.said].every((line) => line.endsWith('inherited'))).toBe(true);
  expect(
    second.membership
      .replicas()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['second', 'third']);
});

test('one that froze past its deadline holds nothing when it wakes, hears that all is lost, and joins again under a new id', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const second = await rig.join('second', scopes);
  const { self } = first.membership;
  first.freeze();
  await rig.until(() => second.holds().length === 8, 20_000);
  first.thaw();
  expect([first.holds(), first.membership.mayPost()]).toEqual([[], false]);
  await expect(first.write(scopes[0])).rejects.toThrow('refused');
  await rig.until(() => first.said.includes('lost'), 5_000);
  expect(first.membership.self).not.toBe(self);
  await rig.until(() => first.accounts().length === 3 && second.accounts().length === 3, 90_000);
  expect(rig.doubled).toEqual([]);
});

test('a jump of the wall clock ends what is held until the next beat', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  first.jump(5_000);
  expect(first.holds()).toEqual([]);
  await rig.until(() => first.holds().length === 8, 4_000);
  expect(first.said.filter((line) => line === 'lost')).toEqual([]);
});

test('an outage longer than the deadline costs no replica its work: none was seen silent', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const second = await rig.join('second', scopes);
  await rig.clock.advance(5_000);
  rig.isAway = true;
  await rig.clock.advance(25_000);
  expect([first.holds(), second.holds()]).toEqual([[], []]);
  rig.isAway = false;
  await rig.until(() => first.holds().length === 8, 5_000);
  await rig.clock.advance(18_000);
  expect([first.said.includes('lost'), second.said.includes('lost')]).toEqual([false, false]);
});

test('one that stops gives each account away as soon as its work is over, and goes', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const second = await rig.join('second', scopes);
  await rig.clock.advance(5_000);
  const slow = first.holdUp('account:a0');
  const stopped = first.membership.stop();
  await rig.until(() => second.holds().length === 7, 10_000);
  expect(first.holds()).toEqual(['account:a0']);
  slow();
  await rig.until(() => second.holds().length === 8, 10_000);
  await stopped;
  expect(second.said.every((line) => line.endsWith('handed_over'))).toBe(true);
  await rig.until(() => second.membership.replicas().length === 1, 5_000);
  expect(rig.doubled).toEqual([]);
});

test('an account that one alone can not reach is offered to another, once in 15 minutes', async () => {
  const [first, second] = [await rig.join('first', accounts(2)), await rig.join('second', accounts(2))];
  await rig.until(() => first.accounts().length === 1 && second.accounts().length === 1, 90_000);
  const [hard] = first.accounts();
  if (!hard) throw new Error('nothing held');
  first.membership.offer(hard);
  await rig.until(() => second.accounts().length === 2, 10_000);
  second.membership.offer(hard);
  await rig.clock.advance(5_000);
  expect(second.accounts()).toContain(hard);
});

test('an account that is no longer wanted is released, and one that only some want goes to one of them', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const second = await rig.join('second', ['account:other']);
  await rig.until(() => second.holds().length === 1, 5_000);
  first.want(['clock']);
  await rig.until(() => first.holds().length === 1, 5_000);
  second.want(scopes);
  await rig.until(() => second.holds().length === 7, 15_000);
  expect(rig.doubled).toEqual([]);
});

test('one whose lease somebody else has or nobody has is told to end it, and one holds it afterwards', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const second = await rig.join('second', scopes);
  await rig.clock.advance(5_000);
  const holders = (scope: Scope) => [first, second].filter((one) => one.membership.holds(scope));
  await rig.db.updateTable('leases').set({ owner: second.membership.self }).where('scope', '=', 'notify').execute();
  await rig.until(() => holders('notify').length === 1 && first.said.includes('abandon notify'), 10_000);
  expect(holders('notify')).toEqual([second]);
  await rig.db.deleteFrom('leases').where('scope', '=', 'account:a0').execute();
  await rig.until(() => holders('account:a0').length === 1 && first.said.includes('abandon account:a0'), 10_000);
  await rig.clock.advance(10_000);
  expect(holders('account:a0').length).toBe(1);
  // What it had begun may still be under way: nobody takes it for free.
  expect([...first.said.slice(8), ...second.said].filter((line) => line.endsWith('free'))).toEqual([]);
  expect(first.said.filter((line) => line.startsWith('abandon'))).toEqual(['abandon notify', 'abandon account:a0']);
  expect([first.said.includes('lost'), second.said.includes('lost')]).toEqual([false, false]);
});

test('when all leases are deleted each work has one holder again within seconds', async () => {
  const all: Joined[] = [];
  for (const name of ['first', 'second', 'third']) all.push(await rig.join(name, scopes));
  const counts = () => scopes.map((scope) => all.filter(({ membership }) => membership.holds(scope)).length);
  const once = scopes.map(() => 1);
  await rig.until(() => String(counts()) === String(once), 10_000);
  await rig.db.deleteFrom('leases').execute();
  const abandoned = () => all.flatMap(({ said }) => said).filter((line) => line.startsWith('abandon')).length;
  await rig.until(() => abandoned() === scopes.length && String(counts()) === String(once), 15_000);
  await rig.clock.advance(20_000);
  expect(counts()).toEqual(once);
});

/** Until it says why it can't have its work; then until it can. */
async function overdue(one: Joined, mend: () => void): Promise<string> {
  await rig.until(() => one.membership.overdue !== null, 60_000);
  expect(one.holds()).toEqual([]);
  const said = one.membership.overdue?.message ?? '';
  mend();
  await rig.until(() => one.holds().length === scopes.length, 20_000);
  expect(one.membership.overdue).toBe(null);
  return said;
}

test('a single replica says why it has no work: its clock, what the database refuses, a lost connection, work that does not end', async () => {
  const first = await rig.join('first', []);
  await rig.clock.advance(5_000);
  first.jump(45_000);
  await rig.clock.advance(5_000);
  first.want(scopes);
  await rig.clock.advance(15_000);
  expect(first.membership.overdue).toBe(null);
  expect(await overdue(first, () => first.jump(-45_000))).toMatch(
    /^the clock of first is 45 s ahead of the clock of the PostgreSQL server/,
  );

  rig.isAway = true;
  const back = () => {
    rig.isAway = false;
  };
  expect(await overdue(first, back)).toBe('Connection terminated unexpectedly');

  const welcome = () => {
    rig.refuses = null;
  };
  rig.refuses = 'enter';
  await rig.forgetReplicas();
  expect(await overdue(first, welcome)).toBe('permission denied');
  rig.refuses = 'take';
  await rig.db.deleteFrom('leases').execute();
  expect(await overdue(first, welcome)).toBe('permission denied');

  const ended = first.holdUpLoss();
  await rig.forgetReplicas();
  expect(await overdue(first, ended)).toBe(
    'the replica first lost its work, but has not ended it yet, and takes no new work before that',
  );
});

test('one of several whose clock is off lacks nothing while the others have all work', async () => {
  const first = await rig.join('first', scopes);
  await rig.until(() => first.holds().length === 8, 5_000);
  const second = await rig.join('second', []);
  second.jump(-45_000);
  await rig.clock.advance(5_000);
  second.want(scopes);
  await rig.clock.advance(10 * 60_000);
  expect([first.holds().length, second.holds(), second.membership.overdue]).toEqual([8, [], null]);
  // It learned that the other one takes nothing, and did not go on giving.
  expect(first.said.filter((line) => line.startsWith('release')).length).toBe(1);
  second.jump(45_000);
  await rig.until(() => second.accounts().length === 3, 16 * 60_000);
});
