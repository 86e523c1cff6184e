// Whoever sends the messages notifies people of replicas that disagree, or that refused a configuration: on a real store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { minuteMs } from '../../src/core/time.ts';
import { ReplicaWatch } from '../../src/daemon/reload/replica-watch.ts';
import type { Membership, Replica } from '../../src/store/replicas/membership.ts';
import type { EndedReplica } from '../../src/store/replicas/missing.ts';
import { Store } from '../../src/store/store.ts';
import { type MovedClock, movedClock, worldOn } from '../../src/world/world.ts';
import { now } from '../store/records.ts';

let folder: string;
let store: Store;
let clock: MovedClock;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'warmwarden-replicas-'));
  clock = movedClock(now);
  store = await Store.open(join(folder, 'w.db'), now);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const replica = (name: string, changes: Partial<Replica> = {}): Replica => ({
  ...{ id: name, name, version: '1', startedAt: now, silentMs: 0, scopes: ['account:acme'], wants: ['account:acme'] },
  ...{ configDigest: 'same', reloadFailure: null, storeFailure: null, ...changes },
});

/** What a replica sees of `replicas`, and does about it. */
function watching(
  replicas: () => readonly Replica[],
  notifies = true,
  missing: () => readonly EndedReplica[] = () => [],
) {
  const fleet = new Fleet();
  const membership: Membership = {
    self: 'host-a:7',
    holds: () => notifies,
    mayPost: () => true,
    replicas,
    missing,
    want: async () => {},
    overdue: null,
    report() {},
    offer() {},
    follow() {},
    stop: async () => {},
  };
  const world = worldOn(clock, { level: 'silent', format: 'json' });
  const rooms = { fleet, store, world, onTransitions: () => {} };
  return { fleet, watch: new ReplicaWatch({ membership, rooms, rules: () => defaultRuleSettings }) };
}

async function notified(): Promise<readonly string[]> {
  const unsaid = await store.outbox.unnotifiedTransitions(100);
  return unsaid.map(({ transition: { kind, alert } }) => `${kind} ${alert.facts.title}`);
}

test('configurations that differ for five minutes are notified of, and so is their end', async () => {
  let replicas = [replica('host-a:7'), replica('host-b:7', { configDigest: 'other' })];
  const { fleet, watch } = watching(() => replicas);
  await watch.look();
  await clock.advance(5 * minuteMs - 1);
  await watch.look();
  expect(await notified()).toEqual([]);
  await clock.advance(1);
  await watch.look();
  expect([...fleet.alerts()].map(({ facts }) => facts.sentences[0])).toEqual([
    'The replicas host-a:7 and host-b:7 have different configurations. Give all of them the same file, then reload each one.',
  ]);
  replicas = [replica('host-a:7'), replica('host-b:7')];
  await watch.look();
  expect(await notified()).toEqual([
    'firing 2 replicas have different configurations',
    'resolved all replicas have the same configuration',
  ]);
});

test('a configuration that one replica refused is notified of until that replica has one, or has gone', async () => {
  let replicas = [replica('host-a:7'), replica('host-b:7', { reloadFailure: 'config.yaml:3:1: no such key' })];
  const { fleet, watch } = watching(() => replicas);
  await watch.look();
  const [alert] = fleet.alerts();
  expect([alert?.rule, alert?.facts.sentences[0]]).toEqual([
    'config_reload_failed',
    'host-b:7: config.yaml:3:1: no such key',
  ]);
  replicas = [replica('host-a:7')];
  await watch.look();
  expect(await notified()).toEqual([
    'firing the new configuration was refused',
    'resolved the newest configuration is in force',
  ]);
});

test('whoever does not send the messages shows what it sees, and notifies nobody', async () => {
  const silent = replica('host-b:7', { silentMs: 9_000, configDigest: 'other', reloadFailure: 'no' });
  const { fleet, watch } = watching(() => [replica('host-a:7', { scopes: ['notify', 'account:acme'] }), silent], false);
  await watch.look();
  await clock.advance(6 * minuteMs);
  await watch.look();
  expect(fleet.replicas().map(({ name, silent, notifies, isSelf }) => [name, silent, notifies, isSelf])).toEqual([
    ['host-a:7', false, true, true],
    ['host-b:7', true, false, false],
  ]);
  expect(await notified()).toEqual([]);
});

test('a replica that ended without a normal stop is notified of after two minutes, until one joins; a difference with it is not over', async () => {
  let replicas = [replica('host-a:7'), replica('host-b:7', { configDigest: 'other' })];
  let missing: readonly EndedReplica[] = [];
  const { fleet, watch } = watching(
    () => replicas,
    true,
    () => missing,
  );
  await watch.look();
  await clock.advance(5 * minuteMs);
  await watch.look();
  replicas = [replica('host-a:7')];
  missing = [{ name: 'host-b:7', beatAt: clock.now() }];
  await watch.look();
  await clock.advance(2 * minuteMs - 1);
  await watch.look();
  expect(await notified()).toEqual(['firing 2 replicas have different configurations']);
  await clock.advance(1);
  await watch.look();
  expect(await notified()).toEqual([
    'firing 2 replicas have different configurations',
    'firing 1 replica ended without a normal stop',
  ]);
  expect(fleet.missingReplicas()).toEqual(missing);
  missing = [];
  await watch.look();
  expect(await notified()).toEqual([
    'firing 2 replicas have different configurations',
    'firing 1 replica ended without a normal stop',
    'resolved no replica is missing',
    'resolved all replicas have the same configuration',
  ]);
});
