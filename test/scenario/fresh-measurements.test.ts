// DNS and blacklists come from a cache of the API: where an answer decides, a fresh measurement is asked for (docs/faults.md T5).
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { scenarios } from '../../src/simulator/scenarios.ts';
import { scrape } from '../support/scrape.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const oliver = 'oliver.hart@northbeam.example';
const fleet = scenarios.calm.fleet.filter(({ email }) => email === oliver);
const poll = {
  health: '0 * * * *',
  mailboxes: '*/5 * * * *',
  stats: '0 * * * *',
  warmup: '0 * * * *',
  dns: '*/20 * * * *',
  blacklist: '50 */6 * * *',
};

test('T5: a record that stops passing is measured again before it is announced, and before its alert is resolved', async () => {
  const broken = { kind: 'dns', mailbox: oliver, records: ['spf'], from: 2 * hourMs, until: 8 * hourMs } as const;
  await using stage = await startMovedDaemon({
    scenario: { name: 'dns', summary: 'SPF fails for six hours.', fleet, incidents: [broken] },
    poll,
  });
  const asked = () =>
    stage.simulator.requests
      .filter(({ path }) => path.startsWith('/v1/dns'))
      .map(({ at, path }) => ({ at, fresh: path.includes('refresh=true') }));
  const fresh = () => asked().filter((one) => one.fresh);
  await stage.run(100 * minuteMs);
  expect([asked().length > 3, fresh()]).toEqual([true, []]);
  await stage.until('the failure to be told', () => stage.told('dns_failing').length === 1, 3 * hourMs);
  expect(fresh()).toHaveLength(1);
  await stage.until('the end to be told', () => stage.told('dns_failing').length === 2, 9 * hourMs);
  const moments = fresh().map(({ at }) => at);
  const gaps = moments.slice(1).map((at, index) => at - (moments[index] ?? 0));
  expect([moments.length > 3, Math.min(...gaps) >= hourMs]).toEqual([true, true]);
  const checkedAt = Date.parse(stage.mailbox(oliver).dns?.answer.checkedAt ?? '') / 1_000;
  const metrics = await scrape(stage.url());
  expect(metrics.value('measurement_timestamp_seconds', { mailbox: oliver, route: 'dns' })).toBe(checkedAt);
});

test('an operator who refreshes a mailbox gets fresh measurements, once an hour', async () => {
  await using stage = await startMovedDaemon({ scenario: { ...scenarios.calm, fleet }, poll });
  await stage.run(10 * minuteMs);
  const fresh = () => stage.simulator.requests.filter(({ path }) => path.includes('refresh=true')).length;
  await stage.command('refresh', { mailbox: oliver });
  await stage.run(2 * minuteMs);
  expect(fresh()).toBe(2);
  await stage.command('refresh', { mailbox: oliver });
  await stage.run(2 * minuteMs);
  expect(fresh()).toBe(2);
});
