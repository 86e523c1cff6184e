// Lists page by page: each row comes once, in order, also while rows are added. Past alerts.
import { expect, test } from 'vitest';
import type { Transition } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Store } from '../../src/store/store.ts';
import { type AlertFilter, readPastAlerts } from '../../src/web/overview/alerts.ts';
import { newStore } from '../support/new-folder.ts';
import { alert, exampleFleet, mailbox, now } from './example-fleet.ts';
import { ask, jsonAt, serve } from './running-server.ts';

const count = 7;
const numbers = Array.from({ length: count }, (_, index) => index);

/** With `count` of everything that is at hand. */
function filledFleet(): Fleet {
  const fleet = new Fleet();
  for (const index of numbers) {
    fleet.putMailbox(mailbox(`m${index}`, `box${index}@acme${index}.example`));
    fleet.putAlert(alert({ rule: 'stale_data', object: `x${index}`, since: now - Math.floor(index / 3) }));
    const until = now + minuteMs + Math.floor(index / 3);
    fleet.putSilence({ id: `s${index}`, match: {}, by: 'anna', reason: '', from: now - 1, until });
  }
  return fleet;
}

const message = (id: string, channel: string) => ({ id, channel, group: 'g', payload: '{}', title: id, alerts: [] });

/** With as many rows, of which some are of one moment. */
async function fill(store: Store): Promise<void> {
  for (const index of numbers) {
    const at = now - Math.floor(index / 3) * minuteMs;
    // In one transaction two channels get the same place in their order.
    const deliveries = ['ops', 'hook'].map((channel) => message(`${channel}-${index}`, channel));
    await store.outbox.recordDeliveries({ transitionIds: [], deliveries, now: at });
    await store.audit.beginCommand({
      ...{ at, by: 'anna', reason: '', name: 'pause', command: `pause ${index}`, account: null, mailboxes: [] },
    });
  }
}

const lists = [
  { path: '/api/fleet', rows: 'mailboxes', id: 'id', total: count },
  { path: '/api/alerts', rows: 'alerts', id: 'fingerprint', total: count },
  { path: '/api/silences', rows: 'silences', id: 'id', total: count },
  { path: '/api/deliveries', rows: 'deliveries', id: 'id', total: 2 * count },
  { path: '/api/history', rows: 'entries', id: 'command', total: count },
  { path: '/api/groups?by=domain', rows: 'groups', id: 'name', total: count },
] as const;

async function open() {
  const store = await newStore(now);
  await fill(store);
  const fleet = filledFleet();
  const server = await serve(fleet, {
    deliveries: (limit, before) => store.outbox.recentDeliveries(limit, before),
    history: store.audit,
  });
  return { store, fleet, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

test.each(lists)('$path gives each row once, in the order of the whole list', async ({ path, rows, id, total }) => {
  await using stage = await open();
  const get = (query: string) => jsonAt(stage.server, withQuery(path, query));
  const namesOf = (answer: Record<string, readonly Record<string, string>[]>) => answer[rows]?.map((row) => row[id]);
  const whole = await get('limit=1000');
  expect([namesOf(whole)?.length, whole.next_cursor]).toEqual([total, null]);
  const found: unknown[] = [];
  let pages = 0;
  for (let query = 'limit=5'; query !== ''; pages += 1) {
    const answer = await get(query);
    found.push(...(namesOf(answer) ?? []));
    query = answer.next_cursor === null ? '' : `limit=5&cursor=${answer.next_cursor}`;
    // A new row at the top, which moves none of the others.
    stage.fleet.putSilence({ id: `new${pages}`, match: {}, by: 'x', reason: '', from: now - 1, until: now + 1 });
    stage.fleet.putAlert(alert({ rule: 'channel_failing', severity: 'critical', account: '', object: `new${pages}` }));
    stage.fleet.putMailbox(mailbox(`a${pages}`, `a${pages}@acme.example`));
    const deliveries = [message(`new-${pages}`, 'ops')];
    await stage.store.outbox.recordDeliveries({ transitionIds: [], deliveries, now: now + 1 });
  }
  expect(found).toEqual(namesOf(whole));
  expect(pages).toBe(Math.ceil(total / 5));
});

/** A server over a store in which something ended. */
async function openPast() {
  const store = await newStore(now);
  const transitions = (limit: number, before?: number) => store.outbox.recentTransitions(limit, before);
  const server = await serve(exampleFleet(), { transitions });
  const record = (...transitions: Transition[]) => store.recordAlerts({ changed: [], dropped: [], transitions });
  const past = (filter: AlertFilter = {}, before?: number) =>
    readPastAlerts({ transitions }, filter, { before, limit: 50 });
  const page = async (path: string) => (await ask(server.url + path, { accept: 'text/html' })).body.toString();
  return { record, past, page, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const facts = (title: string) => ({ title, sentences: [], numbers: {} });
const down = alert({ rule: 'not_guarded', severity: 'critical', firingAt: now - 3 * hourMs, facts: facts('API down') });
const paused = alert({ rule: 'guard_acted', mailboxId: 'm5', email: 'box5@acme.example', facts: facts('box5 paused') });

test('each comes once', async () => {
  await using stage = await openPast();
  await stage.record({ kind: 'firing', at: now - 3 * hourMs, alert: down });
  const ended = { ...down, status: 'resolved' as const };
  await stage.record({ kind: 'resolved', at: now - 2 * hourMs, alert: ended });
  await stage.record({ kind: 'event', at: now - minuteMs, alert: paused });
  expect(await stage.past()).toMatchObject({
    next: null,
    rows: [
      { kind: 'event', at: now - minuteMs, alert: { rule: 'guard_acted' } },
      { kind: 'resolved', at: now - 2 * hourMs, alert: { rule: 'not_guarded' } },
    ],
  });
  const text = (await stage.page('/alerts')).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toMatch(/Past alerts .*happened warning box5 paused .*resolved critical API down 2 h ago after 60 min/);
});

test('they are narrowed by severity, rule, account and mailbox', async () => {
  await using stage = await openPast();
  await stage.record({ kind: 'resolved', at: now, alert: down }, { kind: 'event', at: now, alert: paused });
  const rules = async (filter: AlertFilter) => (await stage.past(filter)).rows.map(({ alert }) => alert.rule);
  expect(await rules({ severity: 'critical' })).toEqual(['not_guarded']);
  expect(await rules({ rule: 'guard_acted', account: 'acme' })).toEqual(['guard_acted']);
  expect(await rules({ account: 'northwind' })).toEqual([]);
  for (const mailbox of ['m5', 'acme/m5', 'box5@acme.example', 'acme/box5@acme.example'])
    expect(await rules({ mailbox })).toEqual(['guard_acted']);
  expect(await rules({ mailbox: 'm6' })).toEqual([]);
});

test('an answer looks through a thousand steps, and says where to go on', async () => {
  await using stage = await openPast();
  await stage.record({ kind: 'event', at: now - hourMs, alert: paused });
  await stage.record(...Array.from({ length: 1_100 }, () => ({ kind: 'firing' as const, at: now, alert: down })));
  const { rows, next } = await stage.past();
  expect([rows, next]).toEqual([[], expect.any(Number)]);
  expect(await stage.past({}, next ?? 0)).toMatchObject({ rows: [{ alert: { rule: 'guard_acted' } }], next: null });
  const page = await stage.page('/alerts');
  expect(page).toContain('There are no past alerts yet among the newest.');
  const [, older = ''] = /href="(\/alerts\?before=\d+)#past"/.exec(page) ?? [];
  expect(await stage.page(older)).toContain('box5 paused');
});

/** Thousands of items that nobody reads. */
function troubledFleet() {
  const fleet = exampleFleet();
  for (const fired of [...fleet.alerts()]) fleet.removeAlert(fired.fingerprint);
  for (let index = 0; index < 2_000; index += 1) {
    const about = { object: `box${index}`, facts: facts(`<b>trouble ${index}</b>`) };
    fleet.putAlert(alert({ rule: 'stale_data', since: now - index * 1_000, ...about }));
  }
  fleet.putAlert(alert({ rule: 'mailbox_unwell', severity: 'critical', since: 0, facts: facts('the gravest') }));
  return fleet;
}

test('/api/alerts answers with 100 alerts, up to 1,000 when asked, and the number of all', async () => {
  await using server = await serve(troubledFleet());
  const get = async (query: string) => {
    const { alerts = [], ...answer } = await jsonAt(server, `/api/alerts${query}`);
    return { ...answer, shown: alerts.length, titles: alerts.map(({ title }: { title: string }) => title) };
  };
  const usual = await get('');
  expect([usual.shown, usual.total]).toEqual([100, 2_001]);
  expect(usual.titles.slice(0, 3)).toEqual(['the gravest', '<b>trouble 0</b>', '<b>trouble 1</b>']);
  expect(await get('?limit=1000')).toMatchObject({ shown: 1_000, total: 2_001, silences: [] });
  const { next_cursor: second } = await get('?limit=1000');
  const { next_cursor: third } = await get(`?limit=1000&cursor=${second}`);
  const last = await get(`?limit=1000&cursor=${third}`);
  expect(last).toMatchObject({ titles: ['<b>trouble 1999</b>'], total: 2_001, next_cursor: null });
  expect(await get('?severity=critical,info&status=firing')).toMatchObject({ titles: ['the gravest'], total: 1 });
});

test('of 2,000 firing alerts of one rule the pages make one entry, which leads to all of them', async () => {
  await using server = await serve(troubledFleet());
  const read = async (path: string) => (await ask(server.url + path, { accept: 'text/html' })).body.toString();
  const namedIn = (body: string) => [...body.matchAll(/trouble (\d+)/g)].map(([, index]) => Number(index));
  for (const path of ['/', '/alerts']) {
    const body = await read(path);
    expect([path, namedIn(body)]).toEqual([path, [0, 1, 2]]);
    expect(body.indexOf('the gravest')).toBeLessThan(body.indexOf('trouble 0'));
    expect(body).toContain('>2,001</span>');
    expect(body).toMatch(/<a href="\/alerts\?severity=warning&(?:amp;)?rule=\w+">2,000 alerts: [a-z ]+<\/a>/);
    expect(body).toMatch(/>1,997 more are firing<\/a>/);
  }
  const [, rule = ''] = /rule=(\w+)">2,000 alerts/.exec(await read('/')) ?? [];
  const all = await read(`/alerts?severity=warning&rule=${rule}&page=2`);
  expect(namedIn(all)).toEqual(Array.from({ length: 50 }, (_, index) => index + 50));
  expect(all).toContain(`aria-label="Every rule, not only ${rule}"`);
});
