// Incidents in the store that the daemon uses: a process that dies between any two commits loses nothing and says nothing twice.
import { expect, test } from 'vitest';
import type { DeliveryRecord } from '../../src/core/records.ts';
import { dayMs } from '../../src/core/time.ts';
import { fleetOf } from '../../src/daemon/picture.ts';
import { collectorRig } from './collector-rig.ts';
import { providerBlock } from './days.ts';

/** Dies before, or right after, the commit of that number. */
async function dayWithDeathAt(commit: number, moment: 'before' | 'after') {
  let commits = 0;
  let died = false;
  const at = collectorRig();
  const { store } = at;
  const { recordDeliveries } = store.outbox;
  store.outbox.recordDeliveries = async (record: DeliveryRecord) => {
    commits += 1;
    died = commits === commit;
    if (died && moment === 'before') throw new Error('killed');
    await recordDeliveries.call(store.outbox, record);
    if (died) throw new Error('killed');
  };
  const live = async (step: () => Promise<unknown>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      if (!died) throw error;
      died = false;
      const loaded = fleetOf(await store.loadPicture(), []);
      // The guard's own tables are not written here: what it knows is as it was.
      for (const mailbox of at.fleet.mailboxes()) loaded.putMailbox(mailbox);
      for (const alert of at.fleet.alerts()) loaded.putAlert(alert);
      at.restart(loaded);
      // What was to happen then happens all the same.
      await step();
    }
  };
  for (const line of providerBlock.trim().split('\n')) {
    await live(() => at.play(line));
    await live(() => at.run(30_000));
  }
  for (let hour = 0; hour < 4; hour += 1) await live(() => at.run(dayMs / 2));
  const deliveries = await store.outbox.recentDeliveries(100);
  const { incidents } = await store.loadPicture();
  const unnotified = await store.outbox.unnotifiedTransitions(10);
  return { deliveries, incidents, unnotified, commits };
}

test('a death before or after each commit of a day: the same incident, no step lost or told twice, three messages', async () => {
  const calm = await dayWithDeathAt(0, 'before');
  const told = (alerts: readonly string[]) =>
    alerts.filter((one) => one.startsWith('guard_acted')).map((one) => one.split('|')[2] ?? '');
  const all = calm.deliveries.flatMap(({ alerts }) => told(alerts)).toSorted();
  expect(all).toHaveLength(17);
  expect(calm.commits).toBeGreaterThan(8);
  for (let commit = 1; commit <= calm.commits; commit += 1) {
    for (const moment of ['before', 'after'] as const) {
      const { deliveries, incidents, unnotified } = await dayWithDeathAt(commit, moment);
      expect(unnotified).toEqual([]);
      expect(deliveries.flatMap(({ alerts }) => told(alerts)).toSorted()).toEqual(all);
      expect(incidents.map(({ members, endedAt }) => [members.length, endedAt !== null])).toEqual([[16, true]]);
      expect(deliveries.filter(({ alerts }) => alerts[0]?.startsWith('incident|'))).toHaveLength(3);
    }
  }
});
