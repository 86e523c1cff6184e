// Lists page by page: each row comes once, in order, also while rows are added; and a cursor that is none is refused.
import { expect, test } from 'vitest';
import type { AlertChanges } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { Incident } from '../../src/core/incident.ts';
import { minuteMs } from '../../src/core/time.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/new-folder.ts';
import { account, alert, mailbox, now } from './example-fleet.ts';
import { jsonAt, serve } from './running-server.ts';

const count = 7;
const numbers = Array.from({ length: count }, (_, index) => index);

const incident = (index: number): Incident => ({
  id: `inc_${index}`,
  cause: { attribute: 'provider', value: 'google' },
  kind: null,
  // Some begin in one moment.
  beganAt: now - Math.floor(index / 3) * minuteMs,
  openedAt: now,
  members: [],
  alerts: [],
  severity: 'warning',
  joinedAt: now,
  movedAt: now,
  announced: null,
  endedAt: index % 2 === 0 ? null : now - index,
});

/** With `count` of everything that is at hand. */
function filledFleet(): Fleet {
  const fleet = new Fleet();
  for (const index of numbers) {
    fleet.putAccount(account(index === 0 ? 'acme' : `acme${index}`));
    fleet.putMailbox(mailbox(`m${index}`, `box${index}@acme${index}.example`));
    fleet.putAlert(alert({ rule: 'stale_data', object: `x${index}`, since: now - Math.floor(index / 3) }));
    fleet.putIncident(incident(index));
    const until = now + minuteMs + Math.floor(index / 3);
    fleet.putSilence({ id: `s${index}`, match: {}, by: 'anna', reason: '', from: now - 1, until });
  }
  return fleet;
}

const message = (id: string, channel: string) => ({ id, channel, group: 'g', payload: '{}', title: id, alerts: [] });

const resolved = (object: string, at: number): AlertChanges => {
  const ended = { ...alert({ rule: 'stale_data', object }), status: 'resolved' as const };
  const steps = (['firing', 'resolved'] as const).map((kind) => ({ kind, at, alert: ended }));
  return { changed: [], dropped: [], transitions: steps };
};

/** With as many rows, of which some are of one moment. */
async function fill(store: Store): Promise<void> {
  for (const index of numbers) {
    const at = now - Math.floor(index / 3) * minuteMs;
    // In one transaction two channels get the same place in their order.
    const deliveries = ['ops', 'hook'].map((channel) => message(`${channel}-${index}`, channel));
    await store.outbox.recordDeliveries({ transitionIds: [], deliveries, now: at });
    await store.recordAlerts(resolved(`x${index}`, at));
    await store.audit.beginCommand({
      ...{ at, by: 'anna', reason: '', name: 'pause', command: `pause ${index}`, account: null, mailboxes: [] },
    });
  }
}

const lists = [
  { path: '/api/fleet', rows: 'mailboxes', id: 'id', total: count },
  { path: '/api/alerts', rows: 'alerts', id: 'fingerprint', total: count },
  { path: '/api/incidents', rows: 'incidents', id: 'id', total: count },
  { path: '/api/silences', rows: 'silences', id: 'id', total: count },
  { path: '/api/deliveries', rows: 'deliveries', id: 'id', total: 2 * count },
  { path: '/api/past-alerts', rows: 'alerts', id: 'fingerprint', total: count },
  { path: '/api/history', rows: 'entries', id: 'command', total: count },
  { path: '/api/groups?by=domain', rows: 'groups', id: 'name', total: count },
  { path: '/api/budget', rows: 'accounts', id: 'name', total: count },
  { path: '/api/configuration', rows: 'settings', id: 'name', total: count },
] as const;

async function open() {
  const store = await newStore(now);
  await fill(store);
  const fleet = filledFleet();
  const server = await serve(fleet, {
    deliveries: (limit, before) => store.outbox.recentDeliveries(limit, before),
    transitions: (limit, before) => store.outbox.recentTransitions(limit, before),
    history: store.audit,
    settings: () => numbers.map((index) => ({ name: `s${index}`, value: '1', from: 'default' })).toReversed(),
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
    stage.fleet.putAccount(account(`a${pages}`));
    stage.fleet.putIncident({ ...incident(0), id: `new${pages}`, beganAt: now + pages + 1 });
    await stage.store.recordAlerts(resolved(`new${pages}`, now));
    const deliveries = [message(`new-${pages}`, 'ops')];
    await stage.store.outbox.recordDeliveries({ transitionIds: [], deliveries, now: now + 1 });
  }
  expect(found).toEqual(namesOf(whole));
  expect(pages).toBe(Math.ceil(total / 5));
});
