// GET /api/replicas: the processes that share a PostgreSQL store.
import { z } from 'zod';
import { replicaTroubles } from '../../core/wording/replicas.ts';
import type { RouteParts } from '../route-parts.ts';
import { at } from './example-facts.ts';
import { count, iso, listOf, moment, tellingOf, text } from './facts.ts';
import { fleetRoute } from './route.ts';

export const replicaInShort = z
  .strictObject({
    name: text.describe('Its host and process.'),
    silent: z.boolean().describe('It has not reported for several seconds.'),
    accounts: count.describe('How many accounts it guards.'),
    notifies: z.boolean().describe('It sends the messages.'),
    this_one: z.boolean().describe('It answered this request.'),
  })
  .describe('A process that shares the store with others, in short.');

const replica = z
  .strictObject({
    ...replicaInShort.shape,
    id: text,
    version: text.describe('Of Warmwarden.'),
    started_at: moment,
    accounts: listOf(text).describe('The accounts that it guards.'),
    configured_accounts: listOf(text).describe('The accounts of its configuration.'),
    config_digest: text.describe('Differs where the configuration does; empty while it is not known.'),
    reload_failure: text.nullable().describe('Why its newest configuration was refused.'),
  })
  .describe('A process that shares the store with others.');

export const replicasRoute = fleetRoute({
  path: '/api/replicas',
  id: 'listReplicas',
  summary: 'The replicas that share a PostgreSQL store: what each guards, its version, and what is wrong',
  query: {},
  shape: z.strictObject({
    at: moment,
    troubles: listOf(text).describe('What is wrong with them, in sentences.'),
    replicas: listOf(replica).describe('Empty when only one process uses the store.'),
  }),
  example: {
    at,
    troubles: [],
    replicas: [
      {
        id: '5f0c2d6e-8b1f-4d7c-9a43-2f1e6b7a9c10',
        name: 'warden-0:1',
        version: '1.0.0',
        started_at: '2026-03-10T06:00:00.000Z',
        silent: false,
        accounts: ['acme'],
        configured_accounts: ['acme', 'beta'],
        notifies: true,
        config_digest: 'k1yZtq0x7dGm3N0nYh2l7lFQy2YxJmJ0e1QmF1jv4hU',
        reload_failure: null,
        this_one: true,
      },
    ],
  },
  read: (parts: Pick<RouteParts, 'fleet' | 'world' | 'timeZone'>) => {
    const { fleet } = parts;
    const { now, zone } = tellingOf(parts);
    const all = fleet.replicas();
    return {
      at: iso(now),
      troubles: replicaTroubles(all, fleet.missingReplicas(), zone),
      replicas: all.map((one) => ({
        id: one.id,
        name: one.name,
        version: one.version,
        started_at: iso(one.startedAt),
        silent: one.silent,
        accounts: one.accounts,
        configured_accounts: one.configured,
        notifies: one.notifies,
        config_digest: one.configDigest,
        reload_failure: one.reloadFailure,
        this_one: one.isSelf,
      })),
    };
  },
});
