// What a person changes on one replica is seen on another: two pictures over one real store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { step } from '../../src/alerts/engine.ts';
import { storeFailing } from '../../src/alerts/rules/store-rule.ts';
import type { Alert } from '../../src/core/alert.ts';
import { type BreakerState, closedBreaker } from '../../src/core/breaker.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { mailboxKey } from '../../src/core/mailbox.ts';
import { everything } from '../../src/core/write-scope.ts';
import { auditing } from '../../src/operations/audit.ts';
import { SharedState } from '../../src/operations/shared-state.ts';
import { silenceCommands } from '../../src/operations/silences.ts';
import { writesCommand } from '../../src/operations/writes.ts';
import { Store } from '../../src/store/store.ts';
import { type MovedClock, movedClock, worldOn } from '../../src/world/world.ts';
import { arrivedMailbox, noAlerts, now, verdictOf } from '../store/records.ts';
import { roomsOf } from './rooms.ts';

const who = { by: 'ann', reason: 'a look first' };
const bob = arrivedMailbox('m1', {
  ...{ account: 'acme', email: 'bob@acme.example' },
  verdict: { at: now, answer: verdictOf({ wanted: 'pause' }) },
});

let folder: string;
let store: Store;
let clock: MovedClock;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'warmwarden-shared-'));
  clock = movedClock(now);
  store = await Store.open(join(folder, 'w.db'), now);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function replica() {
  const fleet = new Fleet();
  fleet.putMailbox(bob);
  const judged: string[] = [];
  const judgeAgain = async (mailboxes: Iterable<{ readonly id: string }>) => {
    for (const { id } of mailboxes) judged.push(id);
  };
  const rooms = {
    ...roomsOf(fleet, store, worldOn(clock, { level: 'silent', format: 'json' })),
    ...{ judgeAgain, knows: () => true, isOwn: ({ rule }: Alert) => rule === 'store_failing' },
  };
  return { fleet, judged, rooms, shared: new SharedState(rooms) };
}

test('an emergency stop and its alert are seen, what waits is judged again, and nobody is told twice', async () => {
  const [here, there] = [replica(), replica()];
  await there.shared.look();
  const writes = writesCommand(here.rooms, auditing(here.rooms));
  const asked = { account: null, mailbox: null, forMs: null, ...who };
  await writes({ ...asked, off: true });
  await there.shared.look();
  expect(there.fleet.writesOff(now)).toEqual([{ scope: everything, since: now, until: null, ...who }]);
  expect([...there.fleet.alerts()].map(({ rule, status }) => [rule, status])).toEqual([['writes_off', 'firing']]);
  expect(there.judged).toEqual(['m1']);
  await writesCommand(there.rooms, auditing(there.rooms))({ ...asked, off: false });
  await here.shared.look();
  expect([here.fleet.writesOff(now), [...here.fleet.alerts()]]).toEqual([[], []]);
  const told = await store.outbox.unnotifiedTransitions(10);
  expect(told.map(({ transition: { kind, alert } }) => `${kind} ${alert.rule}`)).toEqual([
    'firing writes_off',
    'event operator_acted',
    'resolved writes_off',
    'event operator_acted',
  ]);
});

test('what this process tells of the store stays, although the store could not take it, when others change other alerts', async () => {
  const [here, there] = [replica(), replica()];
  const [alert] = step(
    [storeFailing({ said: 'full', remedy: 'Free it.', lasting: false }, null)],
    () => undefined,
    now,
  ).changed;
  here.fleet.putAlerts({ changed: alert ? [alert] : [], dropped: [] });
  const asked = { account: null, mailbox: null, forMs: null, ...who };
  await writesCommand(there.rooms, auditing(there.rooms))({ ...asked, off: true });
  await here.shared.look();
  expect([...here.fleet.alerts()].map(({ rule, status }) => [rule, status])).toEqual([
    ['store_failing', 'firing'],
    ['writes_off', 'firing'],
  ]);
});

test('a silence is seen, and so is its early end, also when another one has swept it away', async () => {
  const [here, there] = [replica(), replica()];
  const silences = silenceCommands(here.rooms, auditing(here.rooms));
  await silences.silenceAdd({ match: { rule: ['guard_acted'] }, forMs: 9_000, ...who });
  await there.shared.look();
  const [silence] = there.fleet.silences(now);
  expect(silence?.match).toEqual({ rule: ['guard_acted'] });
  await silences.silenceExpire({ id: silence?.id ?? '', ...who });
  await clock.advance(1);
  await silences.silenceAdd({ match: { rule: ['dns_failing'] }, forMs: 9_000, ...who });
  await there.shared.look();
  expect(there.fleet.silences(clock.now()).map(({ match }) => match)).toEqual([{ rule: ['dns_failing'] }]);
});

test('what a breaker held until it was released elsewhere is judged again, also when the picture knows that already', async () => {
  const there = replica();
  const api = 'https://api.example';
  const held = verdictOf({ action: 'hold', reason: 'circuit_breaker', wanted: 'pause' });
  there.fleet.putMailbox({ ...bob, verdict: { at: now, answer: held } });
  const entry = { key: mailboxKey('acme', 'm1'), account: 'acme', email: bob.email, domain: 'acme.example', at: now };
  const open = {
    ...{ ...closedBreaker, openSince: now },
    entries: [{ ...entry, held: true, firstSight: false, weight: 1 }],
  };
  const moved = (before: BreakerState, state: BreakerState) =>
    store.recordRelease({
      ...{ mailbox: null, alerts: noAlerts },
      breaker: { api, before, state, again: async () => null },
    });
  await moved(closedBreaker, open);
  await there.shared.look();
  expect([there.fleet.breaker(api), there.judged]).toEqual([open, []]);
  await moved(open, closedBreaker);
  there.fleet.putBreaker(api, closedBreaker);
  await there.shared.look();
  expect([there.fleet.breaker(api), there.judged]).toEqual([closedBreaker, ['m1']]);
});

test('an alert that this process moves while others are read stays as it moved it', async () => {
  const there = replica();
  const alert = { ...(await aStop()), severity: 'critical' as const };
  const read = store.shared.alerts.bind(store.shared);
  store.shared.alerts = async () => {
    const stored = await read();
    there.fleet.putAlert(alert);
    return stored;
  };
  await there.shared.look();
  expect([...there.fleet.alerts()]).toEqual([alert]);
});

/** An alert about an emergency stop, as another replica stored it. */
async function aStop() {
  const other = replica();
  await writesCommand(
    other.rooms,
    auditing(other.rooms),
  )({
    ...{ account: null, mailbox: null, forMs: null, off: true },
    ...who,
  });
  const [alert] = other.fleet.alerts();
  if (!alert) throw new Error('an alert');
  return alert;
}
