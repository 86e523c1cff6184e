// The replicas of a shared store as people see them: the page, a banner on every other one, JSON, and nothing where there is one process.
import { expect, test } from 'vitest';
import type { ReplicaState } from '../../src/core/replica.ts';
import { exampleFleet, now } from './example-fleet.ts';
import { ask, type Running, serve } from './running-server.ts';

const replica = (name: string, changes: Partial<ReplicaState> = {}): ReplicaState => ({
  ...{ id: `id of ${name}`, name, version: '1.2.3', startedAt: now - 60_000, silent: false, notifies: false },
  ...{ accounts: ['acme'], configured: ['acme', 'beta'], configDigest: 'same', reloadFailure: null, isSelf: false },
  ...changes,
});

const bodyOf = async ({ url }: Running, path: string) => (await ask(`${url}${path}`)).body.toString();

test('where a process has the store for itself, no page speaks of replicas', async () => {
  await using server = await serve(exampleFleet());
  expect(await bodyOf(server, '/')).not.toContain('/replicas');
  expect(await bodyOf(server, '/replicas')).toContain('This is the only process that uses the store');
});

test('what is wrong with one stands on every page, in JSON, and ends by itself', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet);
  fleet.putReplicas(
    [
      replica('host-a:7', { isSelf: true, notifies: true }),
      replica('host-b:7', { silent: true, configDigest: 'other', reloadFailure: 'config.yaml:3:1: no such key' }),
    ],
    [{ name: 'host-c:7', beatAt: Date.UTC(2026, 2, 10, 3) }],
  );
  const troubles = [
    'Replica host-c:7 (last heartbeat 10 March 03:00 UTC) ended without a normal stop, and no new replica has joined in its place.',
    'Replica host-b:7 is silent. If it stays silent, the other replicas take over its accounts.',
    'Replica host-b:7 refused its newest configuration: config.yaml:3:1: no such key',
    'The replicas host-a:7 and host-b:7 have different configurations. Give all of them the same file, then reload each one.',
  ];
  for (const path of ['/', '/alerts', '/budget', '/replicas'])
    for (const trouble of troubles) expect(await bodyOf(server, path)).toContain(trouble);
  const fleetJson = JSON.parse(await bodyOf(server, '/api/fleet'));
  expect(fleetJson.replica_troubles).toEqual(troubles);
  expect(fleetJson.replicas).toEqual([
    { name: 'host-a:7', silent: false, accounts: 1, notifies: true, this_one: true },
    { name: 'host-b:7', silent: true, accounts: 1, notifies: false, this_one: false },
  ]);
  const json = JSON.parse(await bodyOf(server, '/api/replicas'));
  expect([json.troubles, json.replicas[0].this_one, json.replicas[1].version]).toEqual([troubles, true, '1.2.3']);
  fleet.putReplicas([replica('host-a:7'), replica('host-b:7')], []);
  expect(await bodyOf(server, '/')).not.toContain('host-b:7');
});

test('two deployments of different fleets on one database are told apart from a reload that is late', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet);
  fleet.putReplicas([replica('host-a:7'), replica('host-b:7', { configured: ['gamma'], configDigest: 'other' })], []);
  expect(await bodyOf(server, '/')).toContain(
    'The replicas host-a:7 and host-b:7 have no account in common, so two deployments are using one database. Give each deployment a database of its own.',
  );
});
