// The whole process stands still for two minutes, in the midst of a POST: nothing is doubled, and no alarm stays.
import { setTimeout as pass } from 'node:timers/promises';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { week } from '../support/other-api.ts';
import { until } from '../support/until.ts';

const stoppedForMs = 125_000;

test('after SIGSTOP and SIGCONT two minutes later it goes on as if nothing had been', async () => {
  await using stage = await Stage.open();
  const mailbox = stage.api.add('box@fleet.example');
  const daemon = stage.start();
  await until('the mailbox to be known', () => stage.api.reads('/v1/stats', mailbox).length >= 3);
  const posted = new Promise<void>((resolve) => {
    stage.api.applied = (asked) => {
      if (asked.mailboxId !== mailbox.id) return;
      daemon.kill('SIGSTOP');
      resolve();
    };
  });
  mailbox.days = week(40, 4);
  await posted;
  await pass(stoppedForMs);
  daemon.kill('SIGCONT');
  const acted = () => stage.receiver.alerts().filter(({ rule }) => rule === 'guard_acted');
  await until('the action to be told', () => acted().length > 0);
  const reads = stage.api.reads('/v1/stats', mailbox).length;
  await until('ten more readings', () => stage.api.reads('/v1/stats', mailbox).length >= reads + 10);
  // Longer than a loop may stand still before it counts as stuck.
  await pass(75_000);
  const url = await daemon.onDuty();
  const { statusCode, body } = await request(`${url}/readyz`);
  expect([statusCode, await body.text()]).toEqual([200, 'ready\n']);
  expect((await stage.metrics()).value('account_guarded', { account: 'acme' })).toBe(1);
  expect(stage.api.posts(mailbox).map(({ body: change }) => change)).toEqual([
    { mailbox_id: mailbox.id, action: 'update_config', config: { warmup_mode: 'recovery' } },
  ]);
  expect(acted()).toHaveLength(1);
  expect(stage.receiver.alerts().filter(({ rule }) => rule === 'crashed')).toEqual([]);
});
