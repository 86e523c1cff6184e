import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { oliver, stormOf } from '../account/duty.ts';
import { scrape } from '../support/scrape.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const { fleet } = stormOf(oliver);
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
  const fresh = () => askedOf(stage, '/v1/dns').fresh;
  await stage.run(100 * minuteMs);
  expect([askedOf(stage, '/v1/dns').all > 3, fresh()]).toEqual([true, []]);
  await stage.until('the failure to be told', () => stage.notified('dns_failing').length === 1, 3 * hourMs);
  expect(fresh()).toHaveLength(1);
  await stage.until('the end to be told', () => stage.notified('dns_failing').length === 2, 9 * hourMs);
  const moments = fresh().map(({ at }) => at);
  const gaps = moments.slice(1).map((at, index) => at - (moments[index] ?? 0));
  expect([moments.length > 3, Math.min(...gaps) >= hourMs]).toEqual([true, true]);
  const checkedAt = Date.parse(stage.mailbox(oliver).dns?.answer.checkedAt ?? '') / 1_000;
  const metrics = await scrape(stage.url());
  expect(metrics.value('measurement_timestamp_seconds', { mailbox: oliver, route: 'dns' })).toBe(checkedAt);
});

/** The requests to a path so far, and those of them that asked for a fresh measurement. */
function askedOf(stage: MovedDaemon, path: string) {
  const all = stage.simulator.requests.filter((request) => request.path.startsWith(path));
  return { all: all.length, fresh: all.filter((request) => request.path.includes('refresh=true')) };
}

test('T5: one measurement that the API shows again and again is seen once, and announced only with a second one', async () => {
  await using stage = await startMovedDaemon({ scenario: { ...scenarios.calm, fleet }, poll });
  await stage.run(30 * minuteMs);
  const madeAt = new Date(stage.clock.now()).toISOString();
  const failing = { 'spf.status': 'fail', 'spf.record': null };
  const again = (checkedAt: string) =>
    ({ fault: { do: 'edit', edit: { set: { ...failing, checked_at: checkedAt } } }, route: 'dns' }) as const;
  stage.simulator.faults.add(again(madeAt));
  await stage.run(100 * minuteMs);
  // The look after a minute and the one after an hour asked for a fresh one; none looks in vain between them.
  expect(askedOf(stage, '/v1/dns').fresh).toHaveLength(2);
  expect(askedOf(stage, '/v1/dns').all).toBeLessThan(12);
  expect([stage.notified('dns_failing'), [...stage.fleet().alerts()].map(({ rule, seen }) => [rule, seen])]).toEqual([
    [],
    [['dns_failing', 1]],
  ]);
  stage.simulator.faults.clear();
  stage.simulator.faults.add(again(new Date(stage.clock.now()).toISOString()));
  await stage.until('the second measurement to be announced', () => stage.notified('dns_failing').length > 0, hourMs);
});
