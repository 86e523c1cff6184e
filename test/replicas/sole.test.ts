// A process that shares its store with nobody: what it wants is its own.
import { expect, test } from 'vitest';
import { SoleMembership } from '../../src/store/replicas/sole.ts';

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('all that is wanted is begun, what is no longer wanted is ended, and each step waits for the one before', async () => {
  const membership = new SoleMembership();
  const said: string[] = [];
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  void membership.want(['account:a', 'clock']);
  expect(membership.holds('account:a')).toBe(false);
  membership.follow({
    taken: async (scope, how) => {
      said.push(`${scope} ${how}`);
      if (scope === 'account:a') await finished;
      said.push(`${scope} begun`);
    },
    release: async (scope) => void said.push(`${scope} ends, held ${membership.holds(scope)}`),
    abandon: async () => void said.push('abandon'),
    lost: async () => void said.push('lost'),
  });
  await nextTurn();
  expect(membership.holds('account:a')).toBe(true);
  void membership.want(['clock', 'notify']);
  await nextTurn();
  expect(said).toEqual(['account:a free', 'clock free', 'clock begun', 'notify free', 'notify begun']);
  finish();
  await membership.want([]);
  expect(said.slice(5).toSorted()).toEqual([
    'account:a begun',
    'account:a ends, held true',
    'clock ends, held true',
    'notify ends, held true',
  ]);
  expect([membership.holds('account:a'), membership.holds('clock'), membership.replicas()]).toEqual([false, false, []]);
});
