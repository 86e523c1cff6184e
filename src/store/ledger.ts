// The store as a reader sees it beside a running daemon: nothing is locked, nothing can be written.

import type { Kysely } from 'kysely';
import type { Action } from '../core/action.ts';
import type { Silence } from '../core/alert.ts';
import type { AccountLedger } from '../core/ledger.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { CommandEntry } from '../core/operator-command.ts';
import { nameOf, type StorePlace } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { type HistoryQuery, loadCommands, loadGuardActions } from './audit.ts';
import { loadEntries, type MailboxEntries } from './entries.ts';
import { StoreError } from './failure.ts';
import { connectReadOnly, storeError } from './file/connection.ts';
import { problemsIn } from './file/integrity.ts';
import { livingHolder } from './file/lock.ts';
import { absenceOf } from './file/place.ts';
import { sizesOf } from './file/sizes.ts';
import { loadMailboxes } from './mailboxes.ts';
import { loadPicture, type StoredPicture } from './picture.ts';
import { refuseNewer, schemaOf, schemaVersion } from './schema/migrations.ts';
import { parsed } from './schema/stored.ts';
import type { Tables } from './schema/tables.ts';
import { loadSilences } from './silences.ts';
import type { SizesAsked, StoreSizes } from './sizes.ts';

/**
 * Who has the store although no daemon answers beside it. replica: one of several that beats, on another machine. process: one of
 * this machine.
 */
export interface Guardian {
  readonly kind: 'replica' | 'process';
  readonly name: string;
}

/** A store that is open for reading. */
interface Reading {
  readonly db: Kysely<Tables>;
  /** One sentence for a read that failed. */
  readonly sentence: (error: unknown) => Error;
  /** The schema that it has. */
  readonly schema: () => Promise<number>;
  readonly guardian: () => Promise<Guardian | null>;
  readonly sizes: (asked: SizesAsked) => Promise<StoreSizes>;
  readonly problems: () => Promise<readonly string[]>;
}

export class Ledger {
  /** For people. Of a SQLite store its file. */
  readonly #name: string;
  readonly #reading: Reading;
  /** Asked once. */
  #schema: Promise<number> | null = null;

  private constructor(name: string, reading: Reading) {
    this.#name = name;
    this.#reading = reading;
  }

  /** Throws StoreError when there is no store at the path, or none that can be read. What a newer version wrote is refused by each read. */
  static open(path: string): Ledger {
    const absence = absenceOf(path);
    if (absence !== null) throw new StoreError(absence);
    const db = connectReadOnly(path);
    return new Ledger(path, {
      db,
      sentence: (error) => storeError(path, error),
      schema: () => schemaOf(db),
      guardian: async () => {
        const name = livingHolder(path);
        return name === null ? null : { kind: 'process', name };
      },
      sizes: (asked) => sizesOf(db, path, asked),
      problems: () => problemsIn(db),
    });
  }

  /** As `open`, also on PostgreSQL. */
  static async at(place: StorePlace): Promise<Ledger> {
    if (typeof place === 'string') return Ledger.open(place);
    const { readPostgres } = await import('./postgres/reading.ts');
    return new Ledger(nameOf(place), await readPostgres(place));
  }

  get #db(): Kysely<Tables> {
    return this.#reading.db;
  }

  async close(): Promise<void> {
    await this.#db.destroy();
  }

  /** How large it is, and what is past its retention. */
  sizes(asked: SizesAsked): Promise<StoreSizes> {
    return this.#current(() => this.#reading.sizes(asked));
  }

  /** What is wrong with it, in sentences; empty when it is sound. It is read as a whole. */
  problems(): Promise<readonly string[]> {
    return this.#current(() => this.#reading.problems());
  }

  /** Rejects as every read does: when the store is damaged, or belongs to a newer version. */
  check(): Promise<void> {
    return this.#read(async () => {});
  }

  /** Whether an earlier version wrote it, and none of this one has started on it. Rejects as `check` does. */
  isEarlier(): Promise<boolean> {
    return this.#read(async () => (await this.#reading.schema()) < schemaVersion);
  }

  /** null: none is known. */
  async guardian(): Promise<Guardian | null> {
    return (await this.isEarlier()) ? null : this.#read(() => this.#reading.guardian());
  }

  /** Every mailbox that is guarded. */
  mailboxes(): Promise<readonly MailboxState[]> {
    return this.#read(() => loadMailboxes(this.#db));
  }

  /** Those that have not expired, the one that ends next first. */
  silences(now: EpochMs): Promise<readonly Silence[]> {
    return this.#read(() => loadSilences(this.#db, now));
  }

  /** The fleet as it was believed to be at the last commit. */
  picture(): Promise<StoredPicture> {
    return this.#read(() => loadPicture(this.#db));
  }

  /** The audit log, the newest first. */
  commands(query: HistoryQuery<number>): Promise<readonly CommandEntry[]> {
    return this.#current(() => loadCommands(this.#db, query));
  }

  /** What the guard did by itself, the newest first. */
  guardActions(query: HistoryQuery<string>): Promise<readonly Action[]> {
    return this.#current(() => loadGuardActions(this.#db, query));
  }

  /** Reads what an earlier version did not write. */
  async #current<Value>(work: () => Promise<Value>): Promise<Value> {
    if (await this.isEarlier()) throw new StoreError(earlier(this.#name));
    return this.#read(work);
  }

  /** What was decided and done about a mailbox until a moment. */
  entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<MailboxEntries> {
    return this.#current(() => loadEntries(this.#db, mailbox, { until, limit }));
  }

  /** Every failure as one sentence that names the file. */
  async #read<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.#schema ??= this.#reading.schema();
      refuseNewer(await this.#schema);
      return await work();
    } catch (error) {
      // What an earlier version has no table for is not damaged.
      const schema = await this.#schema?.catch(() => null);
      throw (schema ?? schemaVersion) < schemaVersion
        ? new StoreError(earlier(this.#name))
        : this.#reading.sentence(error);
    }
  }
}

const earlier = (path: string) =>
  `The store ${path} was written by an earlier version of Warmwarden: start the daemon once to upgrade it.`;

// The ledgers of accounts that move from one replica to another.

type Db = Kysely<Tables>;

export async function writeLedgers(trx: Db, ledgers: readonly AccountLedger[]): Promise<void> {
  for (const ledger of ledgers) {
    const row = { account: ledger.account, ledger: JSON.stringify(ledger) };
    await trx
      .insertInto('ledgers')
      .values(row)
      .onConflict((conflict) => conflict.column('account').doUpdateSet({ ledger: row.ledger }))
      .execute();
  }
}

/** Of all accounts that ever had one. */
export async function loadLedgers(db: Db): Promise<readonly AccountLedger[]> {
  const rows = await db.selectFrom('ledgers').selectAll().execute();
  return rows.map(({ account, ledger }) => parsed<AccountLedger>(ledger, 'ledgers', { account }));
}
