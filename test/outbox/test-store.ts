// The store of a daemon in a file of its own. It fails when a test says so.
import { copyFileSync, existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import type { Transition } from '../../src/core/alert.ts';
import type { Delivery } from '../../src/core/delivery.ts';
import { type Database, ownLease } from '../../src/store/database.ts';
import { connect } from '../../src/store/file/connection.ts';
import { Store } from '../../src/store/store.ts';
import { newFolder } from '../support/new-folder.ts';
import { sharedFolder } from '../support/shared-folder.ts';

interface Failures {
  /** Set, every access fails with it. */
  broken: Error | null;
  /** Set, nothing is reached, until something is written again. */
  away: Error | null;
  /** Set, every write fails with it, as on a full disk. */
  full: Error | null;
}

export interface TestStore extends Store, Failures {
  /** What a tick's commit would do. */
  commit(transitions: readonly Transition[]): void;
  /** All of them, in the order in which they were recorded. */
  deliveries(): readonly Delivery[];
  unnotified(): number;
}

const empty = join(mkdtempSync(join(sharedFolder(), 'store-')), 'warmwarden.db');
await (await Store.open(empty, 0)).close();

export const newFile = () => join(newFolder(), 'warmwarden.db');

/** `path`: where an earlier process left a store, or at least its note. */
export function testStore(path = newFile()): TestStore {
  if (!existsSync(path)) copyFileSync(empty, path);
  const { db, note, close } = connect(path);
  void sql`PRAGMA synchronous = OFF`.execute(db);
  const beside = new DatabaseSync(path);
  const rows = (query: string) => beside.prepare(query).all() as { delivery: string; payload: string }[];
  const refuse = (error: Error | null) => {
    if (error) throw error;
  };
  const database: Database = {
    get db() {
      refuse(store.away ?? store.broken);
      return db;
    },
    fence: async (work) => {
      refuse(store.away ?? store.broken ?? store.full);
      return db.transaction().execute(work);
    },
    failureOf: (error) => {
      const untilWritten = error === store.away;
      const { message: said } = error as Error;
      return { said, remedy: 'Free space on the disk.', lasting: false, untilWritten, mayPass: untilWritten };
    },
    ...{ lease: ownLease, fileCare: null, note, warnings: [], news: [] },
    forCaller: (error) => error,
    sentence: (error) => error as Error,
    close: async () => {
      if (!beside.isOpen) return;
      beside.close();
      await close();
    },
  };
  const failures: Failures = { broken: null, away: null, full: null };
  const store: TestStore = Object.assign(Reflect.construct(Store, [database]) as Store, failures, {
    commit: (transitions: readonly Transition[]) => {
      const insert = beside.prepare('INSERT INTO transitions (at, transition, notified) VALUES (?, ?, 0)');
      for (const transition of transitions) insert.run(transition.at, JSON.stringify(transition));
    },
    deliveries: () =>
      rows('SELECT delivery, payload FROM deliveries ORDER BY rowid').map(
        ({ delivery, payload }): Delivery => ({ ...JSON.parse(delivery), payload }),
      ),
    unnotified: () => rows('SELECT id FROM transitions WHERE notified = 0').length,
  });
  // A probe of a store that works proves nothing here, and days have thousands of them.
  const { proveWritable } = store;
  store.proveWritable = async (now) => {
    if (store.trouble.newest || store.away || store.broken || store.full) await proveWritable.call(store, now);
  };
  onTestFinished(() => store.close());
  return store;
}
