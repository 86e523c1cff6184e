// What looks record, on PostgreSQL: it refuses a statement that writes a row twice, and then nobody would be notified of anything.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Transition } from '../../src/core/alert.ts';
import { dayMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { TestPostgres } from '../support/postgres.ts';
import { collectorRig, midnight } from './collector-rig.ts';
import { domainDown } from './days.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test('an incident ends with a message that is the first about a health score which is still low', async () => {
  const store = await Store.open(await postgres.database(), midnight);
  const at = collectorRig();
  at.store.outbox.unnotifiedTransitions = (limit) => store.outbox.unnotifiedTransitions(limit);
  at.store.outbox.loadNotificationLog = () => store.outbox.loadNotificationLog();
  at.store.outbox.recordDeliveries = (record) => store.outbox.recordDeliveries(record);
  const written: Promise<void>[] = [];
  at.store.commit = (transitions: readonly Transition[]) => {
    const changed = transitions.flatMap(({ kind, alert }) => (kind === 'event' ? [] : [alert]));
    written.push(store.recordAlerts({ changed, dropped: [], transitions }));
  };
  for (const line of domainDown.trim().split('\n')) {
    await at.play(line);
    await Promise.all(written);
  }
  await at.run(2 * dayMs);
  expect(at.sent.at(-1)?.message.transitions.map(({ kind, alert }) => `${kind} ${alert.rule}`)).toContain(
    'firing reputation_low',
  );
  const { announcements } = await store.outbox.loadNotificationLog();
  expect(announcements).toMatchObject([{ quietEnd: 'in_incident' }]);
  expect(await store.outbox.unnotifiedTransitions(10)).toEqual([]);
  await store.close();
});
