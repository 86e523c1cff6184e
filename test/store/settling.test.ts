// A storm's notifications are settled in pieces: whatever ends between two of them, everything of it counts, or nothing.
import { copyFileSync, mkdtempDisposableSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { alertOf, noAlerts, now, transitionOf } from './records.ts';

const many = 600;
const announcement = (number: number, at = now) =>
  ({ fingerprint: `f${number}`, at, severity: 'warning', channels: ['ops'] }) as const;
const delivery = { id: 'd1', channel: 'ops', group: 'g', payload: '{}', title: 'd1', alerts: [] };
const before = { unnotified: many, known: [now, now], deliveries: 0 };
const after = { unnotified: 0, known: [...Array<number>(many - 1).fill(now), now + 1], deliveries: 1 };

/** Transitions that nobody was notified of, an alert that got worse since people were, and one that has ended. */
async function stormIn(path: string, listen?: () => void) {
  const store = await Store.open(path, now, listen);
  const transitions = Array.from({ length: many }, () => transitionOf(alertOf('m1')));
  await store.recordAlerts({ ...noAlerts, transitions });
  const notificationLog = { announced: [announcement(0), announcement(many)], ended: [], groups: [] };
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [], notificationLog, now });
  const transitionIds = (await store.outbox.unnotifiedTransitions(many)).map(({ id }) => id);
  const announced = Array.from({ length: many }, (_, number) => announcement(number, number === 0 ? now + 1 : now));
  const changes = { announced, ended: [`f${many}`], groups: ['g'] };
  const settle = () =>
    store.outbox.recordDeliveries({ transitionIds, deliveries: [delivery], notificationLog: changes, now });
  return { store, settle };
}

/** What the next process finds. */
async function found(store: Store) {
  const { announcements } = await store.outbox.loadNotificationLog();
  return {
    unnotified: (await store.outbox.unnotifiedTransitions(many)).length,
    known: announcements.map(({ at }) => at).sort(),
    deliveries: (await store.outbox.pendingDeliveries('ops', 10)).length,
  };
}

test('a process that ends at any statement of it leaves all of it or nothing to the next one', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'warmwarden-settling-'));
  const path = join(folder.path, 'warmwarden.db');
  const copies: string[] = [];
  let isSettling = false;
  // What is in the files is what a kill -9 leaves.
  const { store, settle } = await stormIn(path, () => {
    if (!isSettling) return;
    const copy = join(mkdtempSync(join(folder.path, 'left-')), 'warmwarden.db');
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    copies.push(copy);
  });
  isSettling = true;
  await settle();
  isSettling = false;
  await store.close();
  const seen: (typeof before)[] = [];
  for (const copy of copies) {
    const left = await Store.open(copy, now);
    seen.push(await found(left));
    await left.close();
  }
  const counted = seen.findIndex(({ deliveries }) => deliveries > 0);
  expect([counted > 3, copies.length - counted > 10]).toEqual([true, true]);
  expect(seen).toEqual(seen.map((_, index) => (index < counted ? before : after)));
});

test('what the disk refuses of it once it counts is done before the next look, and no message is made twice', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'warmwarden-settling-'));
  const path = join(folder.path, 'warmwarden.db');
  const { store, settle } = await stormIn(path);
  using other = new DatabaseSync(path);
  other.exec(`CREATE TRIGGER refused BEFORE INSERT ON announcements WHEN new.fingerprint = 'f300'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  await settle();
  expect(store.trouble.failures).toBe(1);
  await expect(store.outbox.unnotifiedTransitions(many)).rejects.toThrow('refused');
  other.exec('DROP TRIGGER refused');
  expect(await found(store)).toEqual(after);
  await store.close();
});
