// What comes by the clock: the heartbeat, which stops when something that nobody would see stands still, and the digest, once a day
// and once after a downtime.
import { expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { digestOf } from '../../src/outbox/digest.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
import { firing, sampleAction, sampleAlert, sampleMailbox, start } from '../alerts/samples.ts';
import { slackFaults } from '../support/slack-limits.ts';
import { account } from '../web/example-fleet.ts';
import { type Receiver, startReceiver, status } from './receiver.ts';
import { hookChannel, hookTo, type Rig, rigWith, slackTo, stage } from './rig.ts';
import { sampleDelivery } from './sample-delivery.ts';
import { testStore } from './test-store.ts';

const beating = ({ url }: Receiver, channels: Parameters<typeof rigWith>[0] = () => []) =>
  rigWith(channels, { heartbeat: { url, intervalMs: minuteMs } });

async function minutes(rig: Rig, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    rig.fleet.putAccount(account('acme', { lastSuccessAt: rig.clock.now() }));
    await rig.clock.advance(minuteMs);
  }
}

test('beats once an interval while an account is polled, and never before', async () => {
  await using switchOf = await startReceiver();
  await using rig = beating(switchOf);
  await rig.clock.advance(5 * minuteMs);
  expect(switchOf.received).toHaveLength(0);
  await minutes(rig, 10);
  expect(switchOf.received.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, () => ''));
  await rig.clock.advance(hourMs);
  const beats = switchOf.received.length;
  expect(beats).toBeLessThan(30);
  await rig.clock.advance(hourMs);
  expect(switchOf.received).toHaveLength(beats);
  expect(rig.logged.join()).toContain('no account has been polled lately');
});

test('stops when the outbox is stuck, and goes on when its messages got through', async () => {
  await using switchOf = await startReceiver();
  await using hook = await startReceiver();
  hook.answer = status(503);
  await using rig = beating(switchOf, hookTo(hook.url));
  rig.commit(firing(sampleAlert(1)));
  await minutes(rig, 15);
  const beats = switchOf.received.length;
  expect(beats).toBeGreaterThan(12);
  await minutes(rig, 20);
  expect(switchOf.received.length).toBeLessThan(beats + 3);
  expect(rig.logged.join()).toContain('messages for hook are stuck');
  const stopped = switchOf.received.length;
  hook.answer = status(200);
  await minutes(rig, 30);
  expect(switchOf.received.length).toBeGreaterThan(stopped + 10);
  expect(rig.logged.filter((line) => line.includes('The heartbeat'))).toHaveLength(2);
});

const breakStore = ({ store }: Rig, is: boolean) =>
  Object.assign(store, { broken: is ? new Error('disk full') : null });
const startAccount = ({ fleet }: Rig, is: boolean) =>
  fleet.putGuarding([{ account: 'acme', startingSince: is ? start : null }]);

test.each([
  ['the store is failing', 'disk full', breakStore],
  ['an account is starting', 'account acme is starting', startAccount],
])('stops while %s, and goes on afterwards', async (_, said, trouble) => {
  await using switchOf = await startReceiver();
  await using rig = beating(switchOf);
  await minutes(rig, 5);
  const beats = switchOf.received.length;
  trouble(rig, true);
  await minutes(rig, 5);
  expect(switchOf.received).toHaveLength(beats);
  expect(rig.logged.join()).toContain(said);
  trouble(rig, false);
  await minutes(rig, 5);
  expect(switchOf.received.length).toBeGreaterThan(beats);
});

/** `start` is 20 March 2026, 10:02 UTC: 11:02 in Berlin, where summer time begins on 29 March. */
const digest = { match: {}, at: '0 8 * * *', timeZone: 'Europe/Berlin', channels: ['hook'] };

test('comes once a day at its hour, in its time zone, also over the change to summer time', async () => {
  await using stageOf = await stage({ digests: [digest] }, { at: Date.parse('2026-03-27T12:00:00Z') });
  const { rig, receiver } = stageOf;
  await rig.clock.advance(2 * dayMs);
  const hours = receiver.received.map(({ at: of }) => new Date(of).toISOString().slice(8, 16));
  expect(hours).toEqual(['28T07:00', '29T06:00']);
  expect(stageOf.bodies()[0]).toMatchObject({ type: 'digest', data: { sections: [{}, {}, {}, {}, {}] } });
  expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,/);
});

const digestedAt = async (until: number) => {
  const store = testStore();
  await store.outbox.recordDigest({ deliveries: [], until });
  return store;
};

test.each([
  [2 * hourMs, 0],
  [3 * dayMs, 1],
  [200 * dayMs, 1],
])('is caught up once after a downtime, however long, and not when none was missed: %i ms', async (away, caughtUp) => {
  const settings = { digests: [{ ...digest, at: '30 8 * * *' }] };
  await using at = await stage(settings, { store: await digestedAt(start - away) });
  await at.rig.clock.advance(minuteMs);
  expect(at.rig.states()).toHaveLength(caughtUp);
});

test('a weekly one is not taken for missed after days without it', async () => {
  // Monday of the week before.
  const store = await digestedAt(Date.parse('2026-03-16T08:00:00Z'));
  const weekly = { match: {}, at: '0 8 * * 1', timeZone: 'UTC', channels: ['hook'] };
  await using at = await stage({ digests: [weekly] }, { store, at: Date.parse('2026-03-22T23:00:00Z') });
  await at.rig.clock.advance(hourMs);
  expect(at.rig.states()).toEqual([]);
  await at.rig.clock.advance(9 * hourMs);
  expect(store.deliveries().map(({ title }) => title)).toEqual([expect.stringMatching(/^Warmwarden on 23 March:/)]);
});

test('says what was done, what is at risk, what is unknown and what nobody got; within the limits of Slack', async () => {
  const store = await digestedAt(start - dayMs);
  const failed = sampleDelivery({ title: 'Critical: <!channel>' });
  const actions = Array.from({ length: 14 }, (_, number) => sampleAction({ id: `a${number}` }));
  await store.recordActions([...actions, sampleAction({ id: 'last', kind: 'pause', targetMode: null })]);
  const { outbox } = store;
  await outbox.recordDeliveries({ transitionIds: [], deliveries: [failed], now: start });
  await outbox.settleDelivery(failed.id, { kind: 'undelivered', at: start, detail: 'the receiver answered 400' });
  const settings = { digests: [{ ...digest, channels: ['ops', 'nobody'] }] };
  await using at = await stage(settings, { store }, (url, clock) => [slackTo(url, clock)]);
  const { rig } = at;
  rig.fleet.putMailbox(sampleMailbox());
  rig.fleet.putMailbox({ ...sampleMailbox(), id: 'm2', stats: null });
  rig.fleet.putAlert(sampleAlert(1, { rule: 'bounce_near_limit', severity: 'info' }));
  rig.fleet.putAlert(sampleAlert(2, { rule: 'stale_data', object: 'statistics' }));
  await rig.clock.advance(minuteMs);
  const payload = at.bodies().find(({ text }) => text.startsWith('Warmwarden'));
  expect(slackFaults(payload)).toEqual([]);
  expect(payload.text).toBe(
    'Warmwarden on 20 March: 15 actions, 1 at risk, 1 not guarded, 2 not judged yet, 1 undelivered',
  );
  const texts: string[] = payload.attachments[0].blocks.map(
    (block: { text?: { text: string } }) => block.text?.text ?? '',
  );
  expect(texts[0]).toContain('2 mailboxes, of which Warmwarden has 0 in recovery and 0 paused.');
  expect(texts[0]).toMatch(
    /0 emails since 19 March, of which 0 bounced\. 1 mailbox has no readable statistics and is not counted\./,
  );
  expect(texts[1]).toMatch(/confirmed .*\. \d+ bounces in \d+ emails/);
  expect(texts[1]).toContain('and 5 more: see the page.');
  expect(texts[2]).toContain('info: bob1@acme.example');
  expect(texts[3]).toMatch(/: 2 mailboxes\n.*stale statistics/);
  expect(texts[4]).toContain('Critical: &lt;!channel&gt;: the receiver answered 400');
});

const day = (date: string, sent: number | null, bounced = 0): StatsRow => ({
  ...{ date, sent, bounced, delivered: null, opened: null, replied: null },
  ...{ spamLanded: null, inboxRatePercent: null, bounceRatePercent: null, healthScore: null },
});
const whole = [day('2026-03-12', 900), day('2026-03-19', 30, 1), day('2026-03-20', 10)];
const ofWeek = '40 emails since 13 March, of which 1 bounced: 2.5%.';
const partly = '1 mailbox is known only in part.';
const uncounted = '1 mailbox has no readable statistics and is not counted.';

test.each<[string, readonly StatsRow[] | null, number, string]>([
  ['read just now', whole, 0, ofWeek],
  ['a day in two rows', [...whole, day('2026-03-19', 28, 1)], 0, ofWeek],
  ['read four days ago', [day('2026-03-14', 5)], 4, `5 emails since 13 March, of which 0 bounced: 0%. ${partly}`],
  ['a day without its count', [...whole, day('2026-03-18', null)], 0, `${ofWeek} ${partly}`],
  ['a day in the future', [...whole, day('2026-03-25', 70)], 0, ofWeek],
  ['read before', [day('2026-03-12', 900)], 8, uncounted],
  ['unreadable', null, 0, uncounted],
])('the emails of a week: %s', (_name, rows, daysAgo, said) => {
  const fleet = new Fleet();
  fleet.putMailbox(sampleMailbox({ stats: { at: start - daysAgo * dayMs, answer: { rows } } }));
  const reader = { channel: 'ops', match: {}, routes: [], fleet, zone: 'UTC', now: start };
  const { sections } = digestOf({ actions: [], undelivered: [] }, reader, { since: start - 7 * dayMs, now: start });
  expect(sections[0]?.lines[1]).toBe(said);
});

const north = { tag: ['client=north'] };

test('an old check of DNS leaves a mailbox guarded, old statistics do not', () => {
  const fleet = new Fleet();
  for (const object of ['statistics', 'dns']) fleet.putAlert(sampleAlert(1, { rule: 'stale_data', object }));
  const reader = { channel: 'ops', match: {}, routes: [], fleet, zone: 'UTC', now: start };
  const { title } = digestOf({ actions: [], undelivered: [] }, reader, { since: start - dayMs, now: start });
  expect(title).toContain(' 1 at risk, 1 not guarded, 0 not judged yet');
});

test.each([
  ['its own channel', north, [{ match: north, channels: ['ops'] }]],
  ['a channel for all', north, []],
  ['no client', {}, []],
])('at risk, behind a key that clients share, is what the digest is about: %s', (_name, match, routes) => {
  const fleet = new Fleet();
  fleet.putAccount(account('acme'));
  fleet.tags = { ...fleet.tags, of: ({ email }) => [`client=${email.slice(2, 7)}`] };
  for (const client of ['north', 'south']) {
    fleet.putMailbox(sampleMailbox({ id: client, email: `a@${client}.example` }));
    const wide = { mailboxId: null, email: null, object: `${client}.example` };
    const facts = { title: `${client}.example: DKIM does not pass`, sentences: [], numbers: {} };
    fleet.putAlert(sampleAlert(1, { rule: 'dns_failing', severity: 'critical', ...wide, facts }));
  }
  for (const rule of ['not_guarded', 'api_unwell'] as const)
    fleet.putAlert(sampleAlert(1, { rule, severity: 'critical', mailboxId: null, email: null }));
  const reader = { channel: 'ops', match, routes, fleet, zone: 'UTC', now: start };
  const { title } = digestOf({ actions: [], undelivered: [] }, reader, { since: start - dayMs, now: start });
  expect(title).toMatch(
    match === north ? / 2 at risk, 1 not guarded, 1 not judged yet/ : / 3 at risk, 1 not guarded, 2 not judged yet/,
  );
});

test('lists the incidents that go on and those that ended since the last one', async () => {
  await using at = await stage({ digests: [{ ...digest, at: '0 * * * *' }] });
  const { rig } = at;
  rig.fleet.putIncident(sampleIncident(16));
  rig.fleet.putIncident(sampleIncident(4, { id: 'inc_over', endedAt: start + minuteMs }));
  rig.fleet.putIncident(sampleIncident(4, { id: 'inc_old', endedAt: start - dayMs }));
  await rig.clock.advance(hourMs);
  const { sections } = at.bodies()[0].data;
  expect(sections.find(({ heading }: { heading: string }) => heading === 'Incidents')?.lines).toEqual([
    expect.stringMatching(
      /^critical: Provider google: 16 mailboxes on 5 domains .* The circuit breaker holds 1 mailbox/,
    ),
    expect.stringMatching(/^ended: Provider google: 4 mailboxes/),
  ]);
});

/** One for all at 08:00 in Berlin, and one for a client at 09:00; the clock begins at 11:02 there. */
const ofClient = { ...digest, at: '0 9 * * *', match: { tag: ['client=north'] } };
const hours = (store: ReturnType<typeof testStore>) =>
  store.deliveries().flatMap(({ createdAt, title, group }) => {
    const of = title.includes('(tag client=north)') ? 'north' : 'all';
    return group === 'digest' ? [`${new Date(createdAt).toISOString().slice(8, 13)} ${of}`] : [];
  });

test('each digest comes at its own time, once, over restarts and reloads, and tells of its own mailboxes', async () => {
  const store = testStore();
  const run = async (
    digests: readonly (typeof digest)[],
    work: (at: Awaited<ReturnType<typeof stage>>) => Promise<void>,
    at = start,
  ) => {
    await using staged = await stage({ digests }, { store, at });
    const { fleet } = staged.rig;
    fleet.putAccount(account('acme'));
    for (const [id, email] of [
      ['m1', 'a@north.example'],
      ['m2', 'b@south.example'],
    ] as const)
      fleet.putMailbox({ ...sampleMailbox(), id, email });
    fleet.tags = { ...fleet.tags, of: ({ email }) => [`client=${email.slice(2, 7)}`] };
    fleet.putAlert(sampleAlert(1, { mailboxId: 'm1', email: 'a@north.example' }));
    fleet.putAlert(sampleAlert(2, { mailboxId: 'm2', email: 'b@south.example' }));
    await work(staged);
  };
  await run([digest, ofClient], async (at) => {
    await at.rig.clock.advance(23 * hourMs);
    const [all, north] = at
      .bodies()
      .filter(({ type }) => type === 'digest')
      .map(({ data }) => JSON.stringify(data));
    expect([all?.includes('2 mailboxes'), north?.includes('1 mailbox'), north?.includes('bob2')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(all).toContain('bob2');
    // Neither a change of the time to one that has passed nor another digest sends anything at once.
    await at.rig.reconfigure([hookChannel(at.receiver.url, at.rig.clock)], {
      digests: [{ ...digest, at: '30 9 * * *' }, { ...digest, match: {} }, ofClient],
    });
    await at.rig.clock.advance(hourMs);
  });
  expect(hours(store)).toEqual(['21T07 all', '21T08 north']);
  // A restart after the reload; then a downtime over the times of both.
  await run([{ ...digest, at: '30 9 * * *' }, ofClient], (at) => at.rig.clock.advance(hourMs), start + 24 * hourMs);
  expect(hours(store)).toHaveLength(2);
  await run([digest, ofClient], (at) => at.rig.clock.advance(minuteMs), start + 48 * hourMs);
  expect(hours(store).slice(2).toSorted()).toEqual(['22T10 all', '22T10 north']);
});

test('two digests do not come twice in the hour that comes twice, and one that two sections ask for is one message', async () => {
  const night = Date.parse('2026-10-25T00:00:00Z');
  const store = await digestedAt(night - 20 * hourMs);
  const digests = [
    { ...digest, at: '30 2 * * *' },
    { ...digest, at: '30 2 * * *' },
    { ...ofClient, at: '45 2 * * *' },
  ];
  await using at = await stage({ digests }, { store, at: night });
  await at.rig.clock.advance(3 * hourMs);
  expect(hours(store)).toEqual(['25T00 all', '25T00 north']);
});
