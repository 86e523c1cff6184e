// What survives a restart: one verb per business event, here and on the parts, each a transaction of its own (gate.ts).
// No clock here: `now` comes along.
import type { Action, OpenAction } from '../core/action.ts';
import type { AlertChanges, Silence } from '../core/alert.ts';
import type { Change } from '../core/change.ts';
import type { RecordedDecision } from '../core/decision.ts';
import type { AccountLedger } from '../core/ledger.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { NotifiedOutage, StorePlace, StoreTrouble } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { scopeKey, type WritesOff } from '../core/write-scope.ts';
import { nextTurn } from '../world/world.ts';
import { loadKnownAccounts, moveMailboxes, writeAccounts } from './accounts.ts';
import { AuditLog } from './audit.ts';
import { writeBreaker } from './breakers.ts';
import type { Database, Rim } from './database.ts';
import { Gate } from './database.ts';
import type { QueryListener } from './file/connection.ts';
import type { OutageNote } from './file/outage-note.ts';
import { FleetDays, loadDecisions, loadEntries, type MailboxEntries } from './history.ts';
import type { Lease } from './lease.ts';
import { loadDeparted, type MailboxLike, type SameApi } from './mailboxes.ts';
import { StoredOutbox } from './outbox.ts';
import { loadWritesOff, StoredSessions, writeSilence, writesOffOver } from './people.ts';
import { loadLedgers, loadPicture, type StoredPicture, writeLedgers } from './picture.ts';
import type { AccountsRecord, BreakerMove, KnownAccount, ListRecord, TickRecord, WritesRecord } from './records.ts';
import { inPieces, storedAction } from './rows.ts';
import { StoredRuns } from './runs.ts';
import { metaOf, setMeta } from './schema/migrations.ts';
import { openSqlite } from './sqlite.ts';
import { forgettingDuties, type UpkeepDuty, type UpkeepPlan } from './upkeep.ts';
import {
  forgetAnswers,
  writeAction,
  writeAlerts,
  writeChanges,
  writeEntries,
  writeMailbox,
  writeMailboxes,
  writeObservation,
  writeTicks,
} from './writes.ts';

/** Records between two turns of the event loop. */
const ticksAPiece = 25;

/** In `meta`: when the outage began that was ended last. */
const outageEnded = 'outage_ended';

export class Store {
  readonly #database: Database;
  readonly #gate: Gate;
  readonly #note: OutageNote;
  readonly outbox: StoredOutbox;
  readonly sessions: StoredSessions;
  readonly audit: AuditLog;
  readonly days: FleetDays;
  /** Runs of recipes, with their rows. */
  readonly runs: StoredRuns;
  readonly lease: Lease;

  private constructor(database: Database) {
    const gate = new Gate(database);
    this.#database = database;
    this.#gate = gate;
    this.lease = database.lease;
    this.#note = database.note;
    this.outbox = new StoredOutbox(gate);
    this.sessions = new StoredSessions(gate);
    this.audit = new AuditLog(gate);
    this.days = new FleetDays(gate);
    this.runs = new StoredRuns(gate);
  }

  /**
   * Opens and migrates the store at the place: a file for this process alone, a PostgreSQL database as `rim` says. Throws
   * StoreError or NewerStoreError, each with one sentence.
   */
  static async open(place: StorePlace, now: EpochMs, listen?: QueryListener, rim?: Rim): Promise<Store> {
    if (typeof place === 'string') return new Store(await openSqlite(place, now, listen));
    // A daemon on SQLite never loads the client.
    const { openPostgres } = await import('./postgres.ts');
    return new Store(await openPostgres(place, now, rim));
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /**
   * The fleet as it was believed to be when the process ended; of the mailboxes only those of some accounts, when they are
   * named. Throws StoreError, with one sentence.
   */
  async loadPicture(accounts: readonly string[] | null = null): Promise<StoredPicture> {
    try {
      return await this.#gate.read((db) => loadPicture(db, accounts));
    } catch (error) {
      throw this.#database.sentence(error);
    }
  }

  /** An answer, the verdict on it, and all that follows: memory, actions, alerts. */
  recordTick(record: TickRecord): Promise<void> {
    return this.recordTicks([record]);
  }

  /** The same of several answers, in one transaction. */
  async recordTicks(records: readonly TickRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.#gate.write((trx) => inPieces(records, (piece) => writeTicks(trx, piece), ticksAPiece));
  }

  /** What is remembered of a mailbox. */
  async recordMailbox(mailbox: MailboxState): Promise<void> {
    await this.#gate.write((trx) => writeMailbox(trx, mailbox));
  }

  /**
   * Before a POST: from now on a restart must look before it writes. Where an emergency stop covers the mailbox, nothing is recorded and the stop is returned.
   */
  async openIntent(action: OpenAction): Promise<WritesOff | null> {
    return this.#gate.write(async (trx) => {
      const off = await writesOffOver(trx, action, action.openedAt);
      if (off === null) await writeAction(trx, action);
      return off;
    });
  }

  /** A person's change, and the guard's that gives way to it. */
  async recordActions(actions: readonly Action[]): Promise<void> {
    await this.#gate.write(async (trx) => {
      for (const action of actions) await writeAction(trx, action);
    });
  }

  /** What the guard and people changed since a moment and what was read back, oldest first. */
  confirmedSince(since: EpochMs): Promise<readonly Action[]> {
    return this.#gate.read(async (db) => {
      const rows = await db
        .selectFrom('actions')
        .select(['id', 'action'])
        .where('planned_at', '>=', since)
        .where('state', '=', 'confirmed')
        .orderBy('planned_at')
        .execute();
      return rows.map(storedAction);
    });
  }

  /** Mailboxes that have left and that these may be, as they were when they left. */
  departed(
    account: string,
    like: readonly MailboxLike[],
    among: SameApi | null = null,
  ): Promise<readonly MailboxState[]> {
    return this.#gate.read((db) => loadDeparted(db, { account, among }, like));
  }

  /**
   * The outcome of an action, or that it will not be sent, and which one comes back then; the memory after it, what others changed
   * meanwhile, and what people are notified of.
   */
  async settleIntent(record: {
    actions: readonly Action[];
    mailbox: MailboxState;
    changes: readonly Change[];
    alerts: AlertChanges;
  }): Promise<void> {
    await this.#gate.write(async (trx) => {
      await writeMailbox(trx, record.mailbox);
      // A confirmed action was read back: the answer that showed it is kept with it.
      if (record.actions.some(({ state }) => state === 'confirmed'))
        await writeObservation(trx, record.mailbox, 'warmup');
      await writeChanges(trx, record.mailbox, record.changes);
      for (const action of record.actions) await writeAction(trx, action);
      await writeAlerts(trx, record.alerts);
    });
  }

  /** A mailbox list: who is new, who is absent, who has left. */
  async recordList(record: ListRecord): Promise<void> {
    await this.#gate.write(async (trx) => {
      for (const move of record.moves ?? []) await moveMailboxes(trx, move);
      await writeMailboxes(trx, record.present);
      await forgetAnswers(trx, record.account, record.present);
      await writeEntries(trx, record.present);
      await writeMailboxes(trx, record.absent);
      await writeMailboxes(trx, record.left, record.leftAt);
      await writeAlerts(trx, record.alerts);
      if (record.breaker) await writeBreaker(trx, record.breaker);
      // Of hundreds of mailboxes, COMMIT has a turn of its own.
      await nextTurn();
    });
  }

  /** Alerts that time or an account's state moved. */
  async recordAlerts(changes: AlertChanges): Promise<void> {
    await this.#gate.write((trx) => writeAlerts(trx, changes));
  }

  /** A breaker that a person or other accounts moved, and its alert. */
  async recordBreaker({ breaker, alerts }: { breaker: BreakerMove | null; alerts: AlertChanges }): Promise<void> {
    await this.#gate.write(async (trx) => {
      if (breaker) await writeBreaker(trx, breaker);
      await writeAlerts(trx, alerts);
    });
  }

  /** The emergency stop: those that are off from now on, and those that are no longer, by key. */
  async recordWrites(record: WritesRecord): Promise<void> {
    await this.#gate.write(async (trx) => {
      const gone = [...record.on, ...record.off.map(({ scope }) => scopeKey(scope))];
      if (gone.length > 0) await trx.deleteFrom('writes_off').where('scope', 'in', gone).execute();
      const rows = record.off.map((off) => ({ scope: scopeKey(off.scope), off: JSON.stringify(off) }));
      if (rows.length > 0) await trx.insertInto('writes_off').values(rows).execute();
      await writeAlerts(trx, record.alerts);
    });
    // A stop that a person ended must not come back with the next start.
    if (record.on.length > 0)
      this.keepStops(this.#note.stops.filter(({ scope }) => !record.on.includes(scopeKey(scope))));
  }

  /** A new silence, or one that changed: an expired one has its end as `until`. */
  recordSilence(silence: Silence, now: EpochMs): Promise<void> {
    return this.#gate.write((trx) => writeSilence(trx, silence, now));
  }

  /** Every account that was ever configured on the store, as it was last, in the order of their names. */
  knownAccounts(): Promise<readonly KnownAccount[]> {
    return this.#gate.read(loadKnownAccounts);
  }

  /** Records the configured accounts, and moves mailboxes that are guarded under another name because of them. */
  recordAccounts(record: AccountsRecord): Promise<void> {
    return this.#gate.write((trx) => writeAccounts(trx, record));
  }

  /** The emergency stops that are stored. */
  writesOff(): Promise<readonly WritesOff[]> {
    return this.#gate.read(loadWritesOff);
  }

  /** The newest decisions on a mailbox, newest first. */
  decisionsOf(account: string, id: string, limit: number): Promise<readonly RecordedDecision[]> {
    return this.#gate.read((db) => loadDecisions(db, { account, id }, limit));
  }

  /** What was decided and done about a mailbox until a moment. */
  entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<MailboxEntries> {
    return this.#gate.read((db) => loadEntries(db, mailbox, { until, limit }));
  }

  /** Notes beside the store, which may take nothing, that people are being notified of its failure. Returns false if that can't be written either. */
  async keepOutage(outage: NotifiedOutage): Promise<boolean> {
    return this.#note.keep({ outage });
  }

  /** Notes the emergency stops in force beside the store, for a next process that finds the store lost. */
  keepStops(stops: readonly WritesOff[]): void {
    this.#note.keep({ stops });
  }

  /** What people were notified of by an earlier process, or null if they were notified of its end, too. */
  async outage(): Promise<NotifiedOutage | null> {
    const { outage } = this.#note;
    if (!outage) return null;
    const ended = await this.#gate.read((db) => metaOf(db, outageEnded));
    if (ended !== String(outage.alert.firingAt)) return outage;
    this.#note.keep({ outage: null });
    return null;
  }

  /** The alert's end, and that the outage of that beginning is over: should the note stay, nobody is notified again. */
  async endOutage(changes: AlertChanges, begunAt: EpochMs): Promise<void> {
    await this.#gate.write(async (trx) => {
      if ((await metaOf(trx, outageEnded)) === String(begunAt)) return;
      await setMeta(trx, outageEnded, String(begunAt));
      await writeAlerts(trx, changes);
    });
    this.#note.keep({ outage: null });
  }

  /** What whoever guards these accounts next has to know. */
  async saveLedgers(ledgers: readonly AccountLedger[]): Promise<void> {
    await this.#gate.write((trx) => writeLedgers(trx, ledgers));
  }

  /** Of all accounts of a store whose lease is shared. */
  ledgers(): Promise<readonly AccountLedger[]> {
    return this.#gate.read(loadLedgers);
  }

  /** What should not be as it is, though the store works: sentences for the log. */
  get warnings(): readonly string[] {
    return this.#database.warnings;
  }

  /** What is worth a line of the log: sentences. */
  get news(): readonly string[] {
    return this.#database.news;
  }

  /** What failed since the store was opened: any read, any write. */
  get trouble(): StoreTrouble {
    return this.#gate.trouble;
  }

  /** Why this process does not have its work: a heartbeat is no read or write either. null: it has it. */
  heartbeat(overdue: Error | null): void {
    this.#gate.heartbeat(overdue);
  }

  /** Nothing has failed for long. */
  forgetTrouble(): void {
    this.#gate.forgetTrouble();
  }

  /** Called after each failure. There is one listener. */
  onTrouble(listener: () => void): void {
    this.#gate.onTrouble(listener);
  }

  /** What keeps the store small. */
  duties(plan: UpkeepPlan): readonly UpkeepDuty[] {
    const { fileCare } = this.#database;
    const forgetting = forgettingDuties(this.#gate.write, plan);
    if (!fileCare) return forgetting;
    return [...forgetting, { what: 'free space', step: () => this.#gate.write((trx) => fileCare.freeSpace(trx)) }];
  }

  /** Writes the time, as a proof that it can, looks for damage, and gives back what it takes beyond its measure. Rejects when nothing can be written. */
  async proveWritable(now: EpochMs): Promise<void> {
    const { fileCare } = this.#database;
    await fileCare?.tidy();
    // A write need not wait for it.
    void fileCare?.lookForDamage().then((error) => error && this.#gate.notice(error));
    await this.#gate.write((trx) => setMeta(trx, 'alive_at', String(now)));
  }
}
