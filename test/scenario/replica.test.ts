// A daemon that is one of several: it does what is its work, shows who does the rest, and stops what it loses.
import { request } from 'undici';
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { MovedMembership, replica } from '../support/moved-membership.ts';
import { amelia, oliver, stormOf } from '../watch/duty.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

async function begin() {
  const membership = new MovedMembership();
  const { openStore } = membership;
  const stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll, second: [oliver], openStore });
  return {
    stage,
    membership,
    requests: () => stage.simulator.requests.length,
    unguarded: () =>
      stage
        .fleet()
        .guarding()
        .filter(({ unguarded }) => unguarded !== null)
        .map(({ account }) => account),
    probe: async (path: string) => {
      const { statusCode, body } = await request(`${stage.url()}${path}`);
      return `${statusCode} ${await body.text()}`;
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

test('it asks for all work, does none that it has not got, and says what nobody does', async () => {
  await using scene = await begin();
  const { stage, membership } = scene;
  expect(membership.wanted).toEqual(['notify', 'account:agency', 'account:second', 'clock']);
  membership.others = [replica('host-b', ['account:second'])];
  await membership.give('notify', 'free');
  await stage.run(3 * minuteMs);
  expect([scene.requests(), scene.unguarded()]).toEqual([0, ['agency']]);
  expect(await scene.probe('/readyz')).toMatch(
    /account agency is not guarded since .*: no replica of Warmwarden guards it/,
  );
  expect(await scene.probe('/metrics')).toContain('warmwarden_leases_held 0');
  await membership.give('account:agency', 'inherited');
  await stage.run(5 * minuteMs);
  expect(scene.unguarded()).toEqual([]);
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
  const metrics = await scene.probe('/metrics');
  expect(metrics).toContain('warmwarden_leases_held 1');
  expect(metrics).toContain('warmwarden_account_guarded{account="agency"} 1');
  expect(metrics).not.toContain('account="second"');
  expect(stage.notified('account_unguarded')).toEqual(['firing', 'resolved']);
});

test('what is given away, and what is lost, ends; what is taken again goes on with what is stored', async () => {
  await using scene = await begin();
  const { stage, membership } = scene;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  const known = stage.mailbox(amelia)?.stats?.at ?? 0;
  expect(known).toBeGreaterThan(0);
  const given = membership.takeBack('account:agency');
  await stage.run(minuteMs);
  await given;
  membership.others = [replica('host-b', ['account:agency'])];
  const before = stage.simulator.requests.length;
  await stage.run(5 * minuteMs);
  const asked = stage.simulator.requests.slice(before).filter(({ path }) => path === '/v1/mailboxes').length;
  expect(asked).toBe(5);
  expect(await scene.probe('/metrics')).toContain('warmwarden_leases_held 1');
  const lost = membership.lose();
  await stage.run(minuteMs);
  await lost;
  const after = scene.requests();
  await stage.run(5 * minuteMs);
  expect(scene.requests()).toBe(after);
  membership.others = [];
  await membership.give('account:agency', 'inherited');
  expect(stage.mailbox(amelia)?.stats?.at).toBe(known);
  await stage.run(30 * minuteMs);
  expect(stage.mailbox(amelia)?.stats?.at).toBeGreaterThan(known);
});
