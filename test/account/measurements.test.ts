// How often the API is asked to measure, where it measures seldom by itself: no more than it takes, and nothing is announced.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { goOnDuty, oliver, rarePoll } from './duty.ts';

const scenario = { ...scenarios.calm, fleet: scenarios.calm.fleet.filter(({ email }) => email === oliver) };
const rare = { ...rarePoll, stats: '0 */6 * * *', warmup: '0 */6 * * *', mailboxes: '0 */6 * * *' };
const passing = { status: 'pass', record: 'v=spf1 -all' };

/** An API that measures DNS when it is asked to, and else never. */
async function measuringOnRequest() {
  const duty = await goOnDuty({ scenario, poll: rare });
  const api = { measuredAt: duty.clock.now() - 23 * hourMs, obeys: true };
  duty.between.meddle = ({ path }) => {
    if (!path.startsWith('/v1/dns')) return 'pass';
    if (api.obeys && path.includes('refresh=true')) api.measuredAt = duty.clock.now();
    const checked = { checked_at: new Date(api.measuredAt).toISOString(), source: 'cached' };
    const records = { spf: passing, dkim: passing, dmarc: passing };
    const id = /mailbox_id=([^&]+)/.exec(path)?.[1];
    return { status: 200, body: { mailbox_id: id, domain: 'northbeam.example', ...checked, ...records } };
  };
  const asked = () => duty.between.requests.filter(({ path }) => path.startsWith('/v1/dns'));
  const fresh = () => asked().filter(({ path }) => path.includes('refresh=true'));
  return Object.assign(duty, { measuring: api, dns: asked, fresh });
}

test('an API that measures only when asked to is asked about once a day, and nothing is announced', async () => {
  await using duty = await measuringOnRequest();
  await duty.run(5 * dayMs);
  // The usual four readings a day, and the second look that asks.
  expect([duty.fresh().length, duty.dns().length <= 5 * 5 + 2]).toEqual([4, true]);
  expect(await duty.notified()).toEqual([]);
});

test('an API that does not measure even when asked to is asked at every reading, never twice within an hour', async () => {
  await using duty = await measuringOnRequest();
  duty.measuring.obeys = false;
  await duty.run(2 * dayMs);
  const moments = duty.fresh().map(({ at }) => at);
  const gaps = moments.slice(1).map((at, index) => at - (moments[index] ?? 0));
  expect([moments.length, Math.min(...gaps) >= hourMs]).toEqual([8, true]);
  expect(await duty.notified()).toEqual(['firing stale_data']);
  duty.measuring.obeys = true;
  await duty.run(6 * hourMs + minuteMs);
  expect(await duty.notified()).toEqual(['firing stale_data', 'resolved stale_data']);
});
