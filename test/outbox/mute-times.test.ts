// Mute times: when they are on, what still comes, and the one message at their end.
import { expect, test, vi } from 'vitest';
import { messageText } from '../../src/channels/message-text.ts';
import type { Config } from '../../src/config/config.ts';
import { type Silence, windowOf } from '../../src/core/alert.ts';
import { dayMs, hourMs, type MuteTime, minuteMs, mutedUntil, weekdays } from '../../src/core/time.ts';
import { unmutedText } from '../../src/daemon/reload/changes.ts';
import { acted, healthy, policyBlock } from '../alerts/incident-samples.ts';
import { sampleAlert } from '../alerts/samples.ts';
import { agency, collectorRig, midnight } from './collector-rig.ts';

const hours = (from: number, until: number, days: readonly (typeof weekdays)[number][] = weekdays) => ({
  ...{ fromMs: from * hourMs, untilMs: until * hourMs, days },
});
const nights: MuteTime = { name: 'nights', timeZone: 'UTC', weekly: [hours(20, 7)] };
const office: MuteTime = {
  ...{ name: 'off', timeZone: 'Europe/Berlin' },
  weekly: [hours(20, 7, ['mon', 'tue', 'wed', 'thu', 'fri']), hours(0, 24, ['sat', 'sun'])],
};

test.each([
  ['a working day', '2026-03-24T12:00', null],
  ['the first minute', '2026-03-24T19:00', '2026-03-25T06:00'],
  ['the minute before', '2026-03-24T18:59', null],
  ['the last minute', '2026-03-25T05:59', '2026-03-25T06:00'],
  ['its end', '2026-03-25T06:00', null],
  ['Friday night leads into the weekend, whose clocks go forward', '2026-03-27T20:00', '2026-03-29T22:00'],
  ['the night of Sunday belongs to no day', '2026-03-29T23:00', null],
  ['the weekend whose clocks go back', '2026-10-24T12:00', '2026-10-25T23:00'],
])('%s (%s UTC): muted until %s', (_name, at, until) => {
  const end = mutedUntil(office, Date.parse(`${at}Z`));
  expect(end === null ? null : new Date(end).toISOString().slice(0, 16)).toBe(until);
});

test.each([
  ['forward', '2026-03-28T19:00:00Z', 10],
  ['back', '2026-10-24T18:00:00Z', 12],
])('the night on which clocks go %s is as long as it is', (_name, from, length) => {
  const night = { ...nights, timeZone: 'Europe/Berlin' };
  expect(mutedUntil(night, Date.parse(from))).toBe(Date.parse(from) + length * hourMs);
  expect(mutedUntil(night, Date.parse(from) - minuteMs)).toBeNull();
});

const atNight = midnight - 3 * hourMs;
const route = { match: {}, mute: ['nights'] };

/** Starts at nine in the evening. The channels are muted at night; `day` is not. */
function rig(names: readonly string[] = ['ops'], muteCritical = false) {
  const muted = names.filter((name) => name !== 'day');
  const routes = [
    { ...route, channels: muted, muteCritical },
    { match: {}, channels: names.includes('day') ? ['day'] : [] },
  ];
  return collectorRig({ from: atNight, mailboxes: [], names, settings: { routes, muteTimes: [nights] } });
}

const alert = (number: number, change = {}) => sampleAlert(number, { since: atNight, firingAt: atNight, ...change });
const critical = { severity: 'critical' } as const;
const untilMorning = 10 * hourMs + 30 * minuteMs;

test('one message in the morning has the latest step of each alert, and other channels get theirs at once', async () => {
  const at = rig(['ops', 'day']);
  at.fire(alert(1), alert(2), alert(3));
  expect((await at.run(hourMs)).map(({ channel }) => channel)).toEqual(['day']);
  at.end(alert(2));
  at.commit({ kind: 'worsened', at: at.now(), alert: alert(3) });
  at.fire(alert(4, { account: 'other' }));
  at.restart();
  expect((await at.run(8 * hourMs)).map(({ channel }) => channel)).not.toContain('ops');
  const morning = (await at.run(2 * hourMs)).filter(({ channel }) => channel === 'ops');
  expect(morning).toMatchObject([{ kind: 'firing', total: 4 }]);
  const kinds = morning[0]?.message.transitions.map(({ kind, brief, alert: { mailboxId } }) => [
    mailboxId,
    kind,
    brief,
  ]);
  expect(kinds).toEqual([
    ['m3', 'firing', undefined],
    ['m4', 'firing', undefined],
    ['m1', 'firing', undefined],
    ['m2', 'resolved', true],
  ]);
  at.end(alert(1));
  expect((await at.run(hourMs)).map(({ channel, kind }) => `${channel} ${kind}`)).toEqual([
    'ops resolved',
    'day resolved',
  ]);
  expect((await at.store.outbox.loadNotificationLog()).muted).toEqual([]);
});

test.each([
  ['critical alerts come at once', critical, false, 1],
  ['unless the route mutes them', critical, true, 0],
  ['and no route mutes lost protection', { ...critical, rule: 'protection_off', object: 'writes' }, true, 1],
  ['whatever its severity', { severity: 'warning', rule: 'protection_off', object: 'writes' }, true, 1],
])('%s', async (_name, change, muteCritical, sent) => {
  const at = rig(['ops'], muteCritical);
  at.fire(alert(1, change));
  expect(await at.run(2 * hourMs)).toHaveLength(sent);
  expect((await at.run(untilMorning)).filter(({ kind }) => kind === 'firing')).toHaveLength(1 - sent);
});

test('an alert that becomes critical comes as new, and not again in the morning', async () => {
  const at = rig();
  at.fire(alert(1));
  await at.run(hourMs);
  at.commit({ kind: 'worsened', at: at.now(), alert: alert(1, critical) });
  expect(await at.run(30 * minuteMs)).toMatchObject([{ kind: 'firing' }]);
  at.fire(alert(2));
  expect((await at.run(untilMorning)).filter(({ kind }) => kind !== 'reminder')).toMatchObject([
    { alerts: ['firing m2'] },
  ]);
});

test('the end of a known alert waits for people, and closes the page of who is on call', async () => {
  const at = collectorRig({
    ...{ from: atNight - 2 * hourMs, mailboxes: [], names: ['ops', 'pager'] },
    settings: { routes: [{ ...route, channels: ['ops', 'pager'] }], muteTimes: [nights] },
  });
  at.fire(alert(1));
  expect(await at.run(2 * hourMs)).toHaveLength(2);
  at.end(alert(1));
  expect(await at.run(2 * hourMs)).toMatchObject([{ channel: 'pager', kind: 'resolved' }]);
  expect(await at.run(untilMorning)).toMatchObject([{ channel: 'ops', kind: 'resolved' }]);
});

test('a receiver that tracks state hears neither the beginning nor the end of what passed in the night', async () => {
  const at = rig(['pager']);
  at.fire(alert(1), alert(2));
  await at.run(hourMs);
  expect(at.hasNotified('pager', alert(1))).toBe(false);
  at.end(alert(2));
  expect(await at.run(8 * hourMs)).toEqual([]);
  expect(await at.run(2 * hourMs)).toMatchObject([{ kind: 'firing', alerts: ['firing m1'] }]);
  expect(at.hasNotified('pager', alert(1))).toBe(true);
});

test('reminders do not wait for the morning', async () => {
  const at = rig(['ops'], true);
  at.reload({ repeatIntervalMs: { critical: hourMs, warning: null, info: null } });
  at.fire(alert(1, critical));
  expect(await at.run(9 * hourMs)).toEqual([]);
  expect((await at.run(65 * minuteMs)).map(({ kind }) => kind)).toEqual(['firing']);
});

test('what was silenced meanwhile waits for the end of the silence, too', async () => {
  const at = rig();
  at.fire(alert(1));
  await at.run(hourMs);
  at.silence({ account: ['acme'] }, 11 * hourMs);
  expect(await at.run(untilMorning)).toEqual([]);
  expect(await at.run(hourMs)).toMatchObject([{ alerts: ['firing m1'] }]);
});

test('a reload without the mute time sends what waits at once', async () => {
  const at = rig();
  at.fire(alert(1));
  expect(await at.run(hourMs)).toEqual([]);
  at.reload({ muteTimes: [] });
  expect(await at.run(minuteMs)).toMatchObject([{ alerts: ['firing m1'] }]);
});

test.each([
  ['warning', {}],
  ['critical', critical],
])(
  'what waits for a channel that is renamed in the night, a %s, comes under its new name, and its end, too',
  async (_name, change) => {
    const at = rig(['north', 'day'], true);
    const pauses = acted(healthy(7, { domain: 'x.example', provider: 'google' }), at.now(), 'pause').event;
    at.fire(alert(1, change), alert(2, change));
    at.commit({ ...pauses, alert: { ...pauses.alert, ...change } });
    expect((await at.run(hourMs)).map(({ channel }) => channel)).not.toContain('north');
    at.rename('south', 'day');
    at.reload({
      routes: [
        { ...route, channels: ['south'], muteCritical: true },
        { match: {}, channels: ['day'] },
      ],
    });
    at.end(alert(2, change));
    const toSouth = (sent: Awaited<ReturnType<typeof at.run>>) => sent.filter(({ channel }) => channel === 'south');
    const others = await at.run(hourMs);
    expect(others.map(({ channel, alerts }) => [channel, alerts])).toEqual([['day', ['resolved m2']]]);
    at.restart();
    const morning = await at.run(9 * hourMs);
    expect(toSouth(morning).map(({ alerts }) => alerts.toSorted())).toEqual([
      ['event x.example-7', 'firing m1', 'resolved m2'],
    ]);
    expect(morning.filter(({ channel, kind }) => channel === 'day' && kind !== 'reminder')).toEqual([]);
    at.end(alert(1, change));
    expect((await at.run(hourMs)).map(({ channel, kind }) => `${channel} ${kind}`)).toEqual([
      'south resolved',
      'day resolved',
    ]);
  },
);

test('a reload says what becomes of what waits for a channel that is gone, or that no route mutes any more', () => {
  const channels = [{ name: 'north' }, { name: 'south' }, { name: 'east' }];
  const routes = [{ channels: ['north', 'south'] }, { channels: ['east'], mute: ['nights'] }];
  const config = { alerts: { channels, routes } } as unknown as Config;
  expect(unmutedText(new Map(Object.entries({ gone: 2, north: 1, east: 1 })), config)).toEqual([
    'what waits for the channel gone until the end of a mute time (2) goes to other channels',
    'what waits for the channel north until the end of a mute time is sent now',
  ]);
});

const crashes = { match: { rule: ['crashed'] }, channels: ['day'] };

test('what waits for a channel that is removed, and that no route wants, goes to who may read it, and its end, too', async () => {
  const at = rig(['north', 'day'], true);
  at.reload({ routes: [{ ...route, channels: ['north'], muteCritical: true }, crashes] });
  at.fire(alert(1, critical), alert(2));
  expect(await at.run(hourMs)).toEqual([]);
  at.silence({ account: ['acme'] }, hourMs);
  at.rename('day');
  expect(await at.run(50 * minuteMs)).toEqual([]);
  expect(await at.run(20 * minuteMs)).toMatchObject([{ channel: 'day', alerts: ['firing m1', 'firing m2'] }]);
  at.end(alert(1, critical), alert(2));
  expect(await at.run(hourMs)).toMatchObject([{ channel: 'day', alerts: ['resolved m1', 'resolved m2'] }]);
});

test('what nobody may read waits until a channel comes that may, and the log says so once', async () => {
  const at = rig(['north', 'client', 'recipe'], true);
  const others = { match: { account: ['other'] }, channels: ['client'] };
  at.reload({ routes: [{ ...route, channels: ['north'] }, others, { match: { rule: ['x'] }, channels: ['recipe'] }] });
  const { event } = acted(healthy(7, { domain: 'x.example', provider: 'google' }), at.now(), 'pause');
  at.fire(alert(1), alert(2));
  at.commit({ ...event, alert: { ...event.alert, severity: 'warning' } });
  expect(await at.run(hourMs)).toEqual([]);
  const warn = vi.spyOn(at.log, 'warn');
  at.rename('client', 'recipe');
  expect(await at.run(hourMs)).toEqual([]);
  at.end(alert(1));
  expect(await at.run(hourMs)).toEqual([]);
  expect(warn).toHaveBeenCalledTimes(3);
  at.restart();
  at.rename('client', 'recipe', 'day');
  at.reload({ routes: [others, crashes] });
  expect(await at.run(hourMs)).toMatchObject([{ channel: 'day', alerts: ['event x.example-7', 'firing m2'] }]);
  at.end(alert(2));
  expect(await at.run(hourMs)).toMatchObject([{ channel: 'day', alerts: ['resolved m2'] }]);
  expect((await at.store.outbox.loadNotificationLog()).muted).toEqual([]);
});

test('the end of an alert that only the removed channel knew is no news for the others', async () => {
  const at = rig(['north', 'day'], true);
  at.reload({ muteTimes: [], routes: [{ match: {}, channels: ['north'] }, crashes] });
  at.fire(alert(1));
  expect(await at.run(hourMs)).toMatchObject([{ channel: 'north', alerts: ['firing m1'] }]);
  at.reload({ muteTimes: [nights], routes: [{ ...route, channels: ['north'] }, crashes] });
  at.end(alert(1));
  expect(await at.run(hourMs)).toEqual([]);
  at.reload({ routes: [{ match: {}, channels: ['day'] }] });
  at.rename('day');
  expect(await at.run(hourMs)).toEqual([]);
});

test('each of two pauses of a mailbox in one night is told, also if the second comes in the morning, and the message says since when it waited', async () => {
  for (const secondAfter of [2 * hourMs, 10 * hourMs]) {
    const at = rig(['ops'], true);
    const pause = () => {
      const { event } = acted(healthy(7, { domain: 'x.example', provider: 'google' }), at.now(), 'pause');
      const numbers = { action: 'pause', outcome: 'confirmed' };
      at.commit({ ...event, alert: { ...event.alert, facts: { ...event.alert.facts, numbers } } });
    };
    pause();
    await at.run(secondAfter);
    pause();
    const told = await at.run(untilMorning);
    expect(at.sent.flatMap(({ alerts }) => alerts)).toEqual(['event x.example-7', 'event x.example-7']);
    const people = { pageUrl: null, publicUrl: null, timeZone: () => 'UTC' };
    const [first] = secondAfter < 10 * hourMs ? told : at.sent;
    expect(first && messageText(first.message, people).lead[0]).toMatch(
      /^Kept back by a mute time from 19 March 21:0\d UTC to 20 March 07:\d\d UTC\.$/,
    );
  }
});

test('a store that fails at the end of the night loses nothing and doubles nothing', async () => {
  const at = rig();
  at.fire(alert(1));
  await at.run(9 * hourMs);
  at.store.full = new Error('full');
  await expect(at.run(2 * hourMs)).rejects.toThrow('full');
  at.store.full = null;
  at.restart();
  await at.run(hourMs);
  expect(at.store.deliveries()).toHaveLength(1);
});

test.each([[[]], [['g0-2']]])(
  'an incident of the night is one message in the morning, with what it became, %o silenced',
  async (silenced) => {
    const names = ['ops', 'pager'];
    const routes = [{ ...route, channels: names, muteCritical: true }];
    const at = collectorRig({
      from: midnight - 2 * dayMs,
      mailboxes: agency(),
      names,
      settings: { routes, muteTimes: [nights] },
    });
    await at.play('20:30 recovery g0-0,g0-1,g0-2,g0-3', midnight - dayMs);
    expect(await at.run(hourMs)).toEqual([]);
    if (silenced.length > 0) at.silence({ mailbox: silenced }, 30 * dayMs);
    expect(await at.run(8 * hourMs)).toEqual([]);
    const morning = await at.run(3 * hourMs);
    expect(morning.map(({ channel, message }) => [channel, message.incident?.step])).toEqual([
      ...[
        ['ops', 'began'],
        ['ops', undefined],
      ],
      ...[
        ['pager', 'began'],
        ['pager', undefined],
      ],
    ]);
    expect(morning.map(({ total }) => total)).toEqual([2, 2, 2, 2]);
  },
);

/** Four actions are an incident, which ends while all is muted for its channel. */
async function endedWhileMuted(heardOfBeginning = true) {
  const always: MuteTime = { ...nights, weekly: [hours(0, 24)] };
  const muting = { muteTimes: [always], routes: [{ ...route, channels: ['north'], muteCritical: true }] };
  const routes = [{ match: {}, channels: ['north'] }];
  const life = collectorRig({ from: midnight, names: ['north'], settings: { routes } });
  if (!heardOfBeginning) life.reload(muting);
  await life.play('08:30 recovery g0-0,g0-1,g0-2,g0-3');
  const beginnings = (await life.run(hourMs)).map(({ message }) => message.incident?.step);
  life.reload(muting);
  await life.play('10:00 score g0-0');
  return { life, beginnings, muted: await life.run(2 * dayMs) };
}

test.each([[true], [false]])(
  'of an incident that ended, an heir of its channel gets what is news; the removed channel knew the beginning: %s',
  async (heard) => {
    const { life, beginnings, muted } = await endedWhileMuted(heard);
    expect([beginnings.includes('began'), muted]).toEqual([heard, []]);
    expect(life.fleet.incidents()).toMatchObject([{ endedAt: expect.any(Number) }]);
    life.rename('south');
    life.reload({ routes: [{ match: {}, channels: ['south'] }] });
    const told = (await life.run(hourMs)).map(({ channel, alerts }) => [channel, alerts.toSorted()]);
    const events = ['event g0-0', 'event g0-1', 'event g0-2', 'event g0-3'];
    expect(told).toEqual([['south', [...(heard ? [] : events), 'firing g0-0']]]);
  },
);

const at = (time: string) => Date.parse(`${time}Z`);
const weekly: Silence = {
  ...{ id: 's', match: { account: ['acme'] }, by: 'ann', reason: 'update' },
  ...{ from: at('2026-03-21T21:00'), until: at('2026-03-21T23:00') },
  repeats: { every: 'week', timeZone: 'Europe/Berlin', ends: at('2026-04-05T00:00') },
};

test.each([
  ['before the first', '2026-03-01T00:00', '2026-03-21T21:00'],
  ['in the first', '2026-03-21T22:59', '2026-03-21T21:00'],
  ['after the first', '2026-03-21T23:00', '2026-03-28T21:00'],
  ['after a change of clocks, at the same time of day', '2026-03-28T23:00', '2026-04-04T20:00'],
  ['in the last', '2026-04-04T21:59', '2026-04-04T20:00'],
  ['after the last', '2026-04-04T22:00', null],
])('a window of every week, %s', (_name, now, from) => {
  const window = windowOf(weekly, at(now));
  expect(window && [window.from, window.until - window.from]).toEqual(from && [at(from), 2 * hourMs]);
});

test('a recurring silence mutes in each window, and what still fires comes at the end of the window', async () => {
  const daily: Silence = { ...weekly, from: midnight, until: midnight + 2 * hourMs };
  const life = rig(['day']);
  life.fleet.putSilence({ ...daily, repeats: { every: 'day', timeZone: 'UTC', ends: null } });
  life.fire(alert(1));
  expect(await life.run(2 * hourMs)).toHaveLength(1);
  for (const number of [2, 3]) {
    await life.run((number === 2 ? 1 : 21) * hourMs + minuteMs);
    life.fire(alert(number));
    expect(await life.run(hourMs + 58 * minuteMs)).toEqual([]);
    expect(await life.run(hourMs - minuteMs)).toMatchObject([{ alerts: [`firing m${number}`] }]);
    await life.run(2 * minuteMs);
  }
});

test('an alert that waits alone and in an incident that ended comes once to the heir', async () => {
  const { life } = await endedWhileMuted();
  const low = [...life.fleet.alerts()].find(({ rule }) => rule === 'reputation_low');
  if (!low) throw new Error('no alert');
  life.end({ ...low, status: 'resolved', resolvedAt: life.now() });
  await life.run(hourMs);
  life.fire({ ...low, since: life.now(), firingAt: life.now() });
  await life.run(hourMs);
  life.rename('day');
  life.reload({ routes: [crashes] });
  const told = (await life.run(10 * minuteMs)).flatMap(({ alerts }) => alerts);
  expect(told.filter((one) => one === 'firing g0-0')).toHaveLength(1);
});

test('each pause of an incident that began and ended in a mute time pages at its end', async () => {
  const saturday = midnight + dayMs;
  const weekend = { ...nights, weekly: [hours(0, 24, ['sat', 'sun'])] };
  const routes = [{ ...route, channels: ['pager'], muteCritical: true }];
  const life = collectorRig({ from: saturday, names: ['pager'], settings: { muteTimes: [weekend], routes } });
  await life.run(hourMs);
  for (const id of ['g0-0', 'g0-1', 'g0-2', 'g0-3']) {
    const mailbox = life.fleet.mailbox('acme', id);
    if (!mailbox) throw new Error(id);
    const { mailbox: paused, event } = acted(mailbox, life.now(), 'pause', policyBlock);
    const facts = { ...event.alert.facts, numbers: { action: 'pause', outcome: 'confirmed' } };
    life.put(paused);
    life.commit({ ...event, alert: { ...event.alert, facts } });
    await life.run(minuteMs);
  }
  await life.run(3 * dayMs);
  expect(new Set(life.sent.flatMap(({ alerts }) => alerts)).size).toBe(4);
});
