// The account's own troubles: an API that is down, a key that is refused, mailboxes that come and go, old data, and how often an API that
// measures seldom by itself is asked to measure.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { momentText } from '../../src/core/wording/phrases.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { amelia, type Duty, goOnDuty, jonas, oliver, rarePoll, stormOf } from './duty.ts';

/** Beside it, guard_blind says that no mailbox of the account can be judged (test/habits/green-means-guarded.test.ts). */
const stale = async (duty: Duty) => (await duty.notified()).filter((one) => one.endsWith('stale_data'));
const unavailable = { status: 503, body: '<html>maintenance</html>' };

test('requests start evenly, and the API never has a reason for a 429', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, jonas, oliver) });
  await duty.run(3 * hourMs);
  const times = duty.between.requests.map(({ at }) => at);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(666);
  expect(duty.counted.filter(({ code }) => code !== '200')).toEqual([]);
});

test('an outage goes on through a restart: it began when its alert says, in every place', async () => {
  await using duty = await goOnDuty();
  await duty.run(10 * minuteMs);
  duty.between.meddle = () => unavailable;
  await duty.until(() => duty.alert('not_guarded')?.status === 'firing', 10 * minuteMs);
  const { since } = duty.alert('not_guarded') ?? {};
  await duty.restart({ pauseMs: 10 * minuteMs });
  await duty.run(5 * minuteMs);
  expect([duty.account()?.failingSince, duty.alert('not_guarded')?.since]).toEqual([since, since]);
  const said = duty.alert('not_guarded')?.facts.sentences[0];
  expect(said).toBe(`All requests of account agency have failed since ${momentText(since ?? 0, 'UTC')}.`);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.alert('not_guarded') === undefined, 6 * minuteMs);
  const later = duty.clock.now();
  duty.between.meddle = () => unavailable;
  await duty.run(6 * minuteMs);
  expect(duty.account()?.failingSince).toBeGreaterThanOrEqual(later);
});

test('a mailbox that arrives is swept at the next list', async () => {
  await using duty = await goOnDuty();
  await duty.run(10 * minuteMs);
  duty.simulator.fleet.add({ email: 'new@one.example', provider: 'google', mode: 'slow', startedDaysAgo: 3 });
  await duty.run(2 * minuteMs);
  expect(duty.mailbox('new@one.example')).toMatchObject({ warmup: expect.anything(), stats: expect.anything() });
  expect(duty.reason('new@one.example')).toBe('ok');
});

test('one 404 in between is no departure: the list is asked, and says that it is there', async () => {
  await using duty = await goOnDuty();
  await duty.run(10 * minuteMs);
  let missing = true;
  duty.between.meddle = ({ path }) =>
    missing && path.startsWith('/v1/stats') ? { status: 404, body: { error: 'mailbox not found' } } : 'pass';
  await duty.run(20 * minuteMs);
  missing = false;
  await duty.run(20 * minuteMs);
  expect(duty.mailbox()?.missingLists).toBe(0);
  expect(await duty.notified()).toEqual([]);
});

test.each([
  // Newer statistics than it was judged by do not pass for judged ones.
  ['the warm-up', '/v1/warmup', '/v1/stats', 'not_judged'],
  ['the statistics', '/v1/stats', '/v1/warmup', 'not_judged'],
])(
  'a restart while %s cannot be read is no all-clear: stale_data fires on, and is not told again',
  async (what, failing, answers, state) => {
    await using duty = await goOnDuty();
    await duty.until(() => Boolean(duty.mailbox()?.verdict));
    const judgedAt = duty.mailbox()?.verdict?.at;
    duty.between.meddle = ({ path }) => (path.startsWith(failing) ? { status: 500, body: { error: 'oops' } } : 'pass');
    await duty.restart();
    await duty.until(() => duty.alert('stale_data')?.status === 'firing', 2 * hourMs);
    const { firingAt, facts } = duty.alert('stale_data') ?? {};
    expect(facts?.sentences[0]).toMatch(new RegExp(` read ${what} (since|on) `));
    expect([duty.mailbox()?.verdict?.at, duty.state()]).toEqual([judgedAt, state]);
    for (const _restart of ['first', 'second']) {
      await duty.restart();
      const asked = duty.asked(answers);
      await duty.run(2 * hourMs);
      expect(duty.asked(answers)).toBeGreaterThan(asked);
    }
    expect(duty.alert('stale_data')?.firingAt).toBe(firingAt);
    expect(new Set(await stale(duty))).toEqual(new Set(['firing stale_data']));
    duty.between.meddle = () => 'pass';
    await duty.until(() => duty.alert('stale_data') === undefined, hourMs);
    expect((await stale(duty)).at(-1)).toBe('resolved stale_data');
    expect(duty.state()).not.toBe('not_judged');
  },
);

test('a first sweep of hours is told while mailboxes wait to be judged, once', async () => {
  const usual = { provider: 'google', mode: 'slow', startedDaysAgo: 3 } as const;
  const fleet = Array.from({ length: 40 }, (_, number) => ({ email: `wait${number}@slow.example`, ...usual }));
  await using duty = await goOnDuty({
    scenario: { name: 'slow', summary: 'One request a minute.', fleet, incidents: [] },
    requestsPerMinute: 1,
  });
  await duty.run(hourMs);
  expect(duty.alert('budget_too_small')).toMatchObject({ status: 'firing', severity: 'warning' });
  await duty.until(() => duty.fleet().sweep('agency') === undefined, 6 * hourMs);
  await duty.run(minuteMs);
  expect(duty.alert('budget_too_small')).toMatchObject({ status: 'firing', severity: 'info' });
  expect((await duty.notified()).filter((one) => one.includes('budget'))).toEqual(['firing budget_too_small']);
});

test('a broken record is looked at again a minute later, and only then told', async () => {
  await using duty = await goOnDuty({
    scenario: { ...stormOf(oliver), incidents: [{ kind: 'dns', mailbox: oliver, records: ['dkim'], from: 0 }] },
    afterMs: 2 * hourMs,
  });
  await duty.run(minuteMs - 1);
  expect([duty.alert('dns_failing')?.status, duty.asked('/v1/dns')]).toEqual(['pending', 1]);
  await duty.run(minuteMs);
  expect([duty.alert('dns_failing')?.status, duty.asked('/v1/dns')]).toEqual(['firing', 2]);
  expect(await duty.notified()).toEqual(['firing dns_failing']);
});

test('a mailbox list that shows another health score makes the statistics of that mailbox due at once', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  await duty.run(16 * minuteMs);
  const asked = () => duty.between.requests.filter(({ path }) => path.startsWith('/v1/stats')).map(({ path }) => path);
  const before = asked().length;
  const [first] = duty.simulator.fleet.mailboxes();
  const fault = { do: 'edit', edit: { set: { 'mailboxes.0.health_score': 50 } } } as const;
  duty.simulator.faults.add({ fault, route: 'mailboxes' });
  await duty.run(2 * minuteMs);
  expect(asked().slice(before)).toEqual([`/v1/stats?mailbox_id=${first?.id}&days=30`]);
});

test('a wall clock that jumps ahead by hours acts once, and nothing but clock_off is announced', async () => {
  await using duty = await goOnDuty();
  await duty.run(10 * minuteMs);
  duty.behind.ms = -5 * hourMs;
  await duty.run(4 * hourMs);
  expect(duty.posts()).toHaveLength(1);
  expect(await duty.notified()).toEqual(['firing clock_off', 'event guard_acted confirmed']);
});

const onlyOliver = { ...scenarios.calm, fleet: scenarios.calm.fleet.filter(({ email }) => email === oliver) };
const rare = { ...rarePoll, stats: '0 */6 * * *', warmup: '0 */6 * * *', mailboxes: '0 */6 * * *' };
const passing = { status: 'pass', record: 'v=spf1 -all' };

/** An API that measures DNS when it is asked to, and else never. */
async function measuringOnRequest() {
  const duty = await goOnDuty({ scenario: onlyOliver, poll: rare });
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
