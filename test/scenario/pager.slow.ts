// A whole daemon with a pager: a pause by Warmwarden pages, also across a restart, until a person resumes the warm-up.
import { expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { jonas, oliver, stormOf } from '../account/duty.ts';
import { routingKey, StrictReceiver } from '../support/strict-receivers.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

it('a pause pages under one key until a person resumes the warm-up; nothing else of that day does', async () => {
  let now = () => 0;
  await using pager = await StrictReceiver.start('pagerduty', () => now());
  await using stage = await startMovedDaemon({ scenario: stormOf(jonas, oliver), poll });
  now = stage.clock.now;
  await stage.reload((config) => {
    config.alerts.channels.push({ name: 'pager', type: 'pagerduty', url: pager.url, routing_key: routingKey });
    Object.assign(config.alerts, { routes: [{ match: { rule: 'guard_*' }, channels: ['hook', 'pager'] }] });
  });
  const told = () => pager.taken().map(({ event_action: action, dedup_key: key }) => `${action} ${key}`);
  await stage.until('the page', () => told().length > 0, 12 * hourMs);
  const key = `guard_paused|agency|${stage.mailbox(jonas).id}`;
  expect(told()).toEqual([`trigger ${key}`]);
  await stage.restart();
  await stage.run(2 * hourMs);
  expect(told()).toEqual([`trigger ${key}`]);
  const resumed = await stage.command('resume', { mailbox: jonas });
  expect(resumed).toMatchObject({ result: 'done' });
  await stage.run(2 * minuteMs);
  expect(told().slice(0, 2)).toEqual([`trigger ${key}`, `resolve ${key}`]);
});
