// What begins and ends is told once each: an API that says it is unwell, and what happens while nobody is on duty.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident } from '../../tools/simulator/scenario.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { oliver, stormOf } from '../account/duty.ts';
import { scrape } from '../support/scrape.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

const calm = { ...scenarios.calm, fleet: stormOf(oliver).fleet };
const byTheMinute = { health: '* * * * *', mailboxes: '*/5 * * * *', stats: '0 * * * *', warmup: '0 * * * *' };

test('H21: a health check that is not ok is announced after five minutes, with its word, and resolved', async () => {
  await using stage = await startMovedDaemon({ scenario: calm, poll: byTheMinute });
  await stage.run(3 * minuteMs);
  const shown = async (status: string) =>
    (await scrape(stage.url())).value('api_health', { account: 'agency', status });
  expect([await shown('ok'), await shown('other')]).toEqual([1, 0]);
  await trouble(stage.simulator.url, 'unwell');
  await stage.run(4 * minuteMs);
  expect([await shown('ok'), await shown('other'), stage.notified('api_unwell')]).toEqual([0, 1, []]);
  await stage.run(4 * minuteMs);
  expect(stage.notified('api_unwell')).toEqual(['firing']);
  const [alert] = stage.told('api_unwell');
  expect(alert).toMatchObject({ severity: 'warning', title: 'agency: the API reports "degraded"' });
  await trouble(stage.simulator.url, 'well');
  await stage.run(10 * minuteMs);
  expect(stage.notified('api_unwell')).toEqual(['firing', 'resolved']);
});

const three = ['a@early.example', 'b@late.example', 'c@calm.example'].map((email) => ({ ...settled(0), email }));
const dns = (domain: string, from: number, until: object = {}): Incident => ({
  ...{ kind: 'dns', mailbox: `*@${domain}`, records: ['spf'], from },
  ...until,
});

test('tells once what began and once what ended while nobody was on duty', async () => {
  const incidents = [dns('early.example', 2 * hourMs, { until: 8 * hourMs }), dns('late.example', 8 * hourMs)];
  const scenario = { name: 'away', summary: 'A domain breaks.', fleet: three, incidents };
  await using stage = await startMovedDaemon({ scenario, poll: { ...poll, dns: '25 * * * *' } });
  const told = () => stage.told('dns_failing').filter(({ status }) => status !== 'reminder');
  const notified = () => told().map(({ title, status }) => `${status} ${title.split(':')[0]}`);
  await stage.run(6 * hourMs);
  expect(notified()).toEqual(['firing early.example']);
  await stage.awayUntil(stage.clock.now() + 4 * hourMs);
  await stage.run(2 * hourMs);
  expect(notified().sort()).toEqual(['firing early.example', 'firing late.example', 'resolved early.example']);
  await stage.restart();
  await stage.run(2 * hourMs);
  expect(notified()).toHaveLength(3);
});
