// Processes of one PostgreSQL store, in this process: each waits for the lease.
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import type { LeaseOptions } from '../../src/store/postgres/lease.ts';
import { Store } from '../../src/store/store.ts';
import { logTo, systemClock } from '../../src/world/world.ts';
import { now } from '../store/records.ts';

const clock = systemClock();
const log = logTo(() => {}, { level: 'info', format: 'json' }, clock);

/** What the process of this name needs of the world. */
export const leaseOf = (name: string, changes: Partial<LeaseOptions> = {}): LeaseOptions => ({
  ...{ clock, log, name, version: '1.0.0', standingBy: () => {}, lost: () => {} },
  ...changes,
});

/** Resolves once the process of this name, in a folder of its own, has the lease. */
export function openShared(place: PostgresPlace, name: string, changes: Partial<LeaseOptions> = {}): Promise<Store> {
  const lease = leaseOf(name, changes);
  return Store.open({ ...place, path: `${place.path}-${name}` }, now, { lease });
}
