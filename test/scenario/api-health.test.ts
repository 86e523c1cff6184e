// What the API's health check says besides answering: a status that is not ok, a clock that differs, a version.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { scrape } from '../support/scrape.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';

const oliver = 'oliver.hart@northbeam.example';
const scenario = { ...scenarios.calm, fleet: scenarios.calm.fleet.filter(({ email }) => email === oliver) };
const poll = { health: '* * * * *', mailboxes: '*/5 * * * *', stats: '0 * * * *', warmup: '0 * * * *' };

test('H21: a health check that is not ok is announced after five minutes, with its word, and resolved', async () => {
  await using stage = await startMovedDaemon({ scenario, poll });
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
  expect(alert).toMatchObject({ severity: 'warning', title: 'agency: the mailbox API reports "degraded"' });
  await trouble(stage.simulator.url, 'well');
  await stage.run(10 * minuteMs);
  expect(stage.notified('api_unwell')).toEqual(['firing', 'resolved']);
});
