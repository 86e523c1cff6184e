// State that survives a restart: one method per business event, here and on the parts, each in its own transaction
// (database.ts). The store has no clock: callers pass `now`.
import { randomBytes } from 'node:crypto';
import type { Action, OpenAction } from '../core/action.ts';
import type { Acknowledgement, Alert, AlertChanges, Silence } from '../core/alert.ts';
import type { Change, MailboxState } from '../core/mailbox.ts';
import type { AccountLedger, MailboxEntries } from '../core/records.ts';
import type { NotifiedOutage, StorePlace, StoreTrouble } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { scopeKey, type WritesOff } from '../core/write-scope.ts';
import { loadKnownAccounts, moveMailboxes, writeAccounts } from './accounts.ts';
import { type Database, Gate, type Lease } from './database.ts';
import type { OutageNote } from './file/outage-note.ts';
import { AuditLog, loadEntries } from './history.ts';
import { StoredOutbox } from './outbox.ts';
import { loadWritesOff, writeSilence, writesOffOver } from './people.ts';
import { loadDeparted, loadPicture, type MailboxLike, type SameApi, type StoredPicture } from './picture.ts';
import type { LeaseOptions } from './postgres/lease.ts';
import { inPieces, parsed, storedAction, upsert, writeStops } from './rows.ts';
import { StoredRuns } from './runs.ts';
import { metaOf, setMeta } from './schema/migrations.ts';
import { type FileOptions, openSqlite } from './sqlite.ts';
import { forgettingDuties, type UpkeepDuty, type UpkeepPlan } from './upkeep.ts';
import {
  type AccountsRecord,
  type AnswerRecord,
  type BreakerMove,
  forgetAnswers,
  type KnownAccount,
  type ListRecord,
  type ProtectionRecord,
  type WritesRecord,
  writeAction,
  writeAlerts,
  writeAnswers,
  writeBreaker,
  writeChanges,
  writeMailboxes,
  writeObservations,
} from './writes.ts';

const outageEnded = 'outage_ended';

const protectionKey = 'protection';
const sessionKey = 'session_key';

export class Store {
  readonly #database: Database;
  readonly #gate: Gate;
  readonly #note: OutageNote;
  readonly outbox: StoredOutbox;
  readonly audit: AuditLog;
  readonly runs: StoredRuns;
  readonly lease: Lease;
  readonly warnings: readonly string[];
  readonly news: readonly string[];

  private constructor(database: Database) {
    const gate = new Gate(database);
    this.#database = database;
    this.#gate = gate;
    this.lease = database.lease;
    this.warnings = database.warnings;
    this.news = database.news;
    this.#note = database.note;
    this.outbox = new StoredOutbox(gate);
    this.audit = new AuditLog(gate);
    this.runs = new StoredRuns(gate);
  }

  /** A daemon passes `lease`, and waits for it on PostgreSQL. Throws StoreError or NewerStoreError. */
  static async open(
    place: StorePlace,
    now: EpochMs,
    { lease, ...file }: FileOptions & { readonly lease?: LeaseOptions } = {},
  ): Promise<Store> {
    if (typeof place === 'string') return new Store(await openSqlite(place, now, file));
    // The import is dynamic, so that a daemon on SQLite never loads the PostgreSQL client.
    const { openPostgres } = await import('./postgres.ts');
    return new Store(await openPostgres(place, now, lease));
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async loadPicture(accounts: readonly string[] | null = null): Promise<StoredPicture> {
    try {
      return await this.#gate.read((db) => loadPicture(db, accounts));
    } catch (error) {
      throw this.#database.sentence(error);
    }
  }

  recordAnswer(record: AnswerRecord): Promise<void> {
    return this.recordAnswers([record]);
  }

  async recordAnswers(records: readonly AnswerRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.#gate.write((trx) => inPieces(records, (piece) => writeAnswers(trx, piece)));
  }

  async recordMailbox(mailbox: MailboxState): Promise<void> {
    await this.#gate.write((trx) => writeMailboxes(trx, [mailbox]));
  }

  /** Records an intent before its POST, or returns the write stop that covers the mailbox. */
  async openIntent(action: OpenAction): Promise<WritesOff | null> {
    return this.#gate.write(async (trx) => {
      const off = await writesOffOver(trx, action, action.openedAt);
      if (off === null) await writeAction(trx, action);
      return off;
    });
  }

  async recordActions(actions: readonly Action[]): Promise<void> {
    await this.#gate.write(async (trx) => {
      for (const action of actions) await writeAction(trx, action);
    });
  }

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

  departed(
    account: string,
    like: readonly MailboxLike[],
    among: SameApi | null = null,
  ): Promise<readonly MailboxState[]> {
    return this.#gate.read((db) => loadDeparted(db, { account, among }, like));
  }

  async settleIntent(record: {
    actions: readonly Action[];
    mailbox: MailboxState;
    changes: readonly Change[];
    alerts: AlertChanges;
  }): Promise<void> {
    await this.#gate.write(async (trx) => {
      await writeMailboxes(trx, [record.mailbox]);
      // A confirmed action was read back: the answer that confirmed it is stored, too.
      if (record.actions.some(({ state }) => state === 'confirmed'))
        await writeObservations(trx, [record.mailbox], ['warmup']);
      await writeChanges(trx, record.mailbox, record.changes);
      for (const action of record.actions) await writeAction(trx, action);
      await writeAlerts(trx, record.alerts);
    });
  }

  async recordList(record: ListRecord): Promise<void> {
    await this.#gate.write(async (trx) => {
      for (const move of record.moves ?? []) await moveMailboxes(trx, move);
      await writeMailboxes(trx, record.present, null);
      await forgetAnswers(trx, record.account, record.present);
      await writeObservations(trx, record.present, ['mailboxes']);
      await writeMailboxes(trx, record.absent);
      await writeMailboxes(trx, record.left, record.leftAt);
      for (const action of record.actions ?? []) await writeAction(trx, action);
      await writeAlerts(trx, record.alerts);
      if (record.breaker) await writeBreaker(trx, record.breaker);
    });
  }

  async recordAlerts(changes: AlertChanges): Promise<void> {
    await this.#gate.write((trx) => writeAlerts(trx, changes));
  }

  /** `mailboxes`: those whose counts a person dropped with the held actions. */
  async recordBreaker(
    { breaker, alerts }: { breaker: BreakerMove | null; alerts: AlertChanges },
    mailboxes: readonly MailboxState[] = [],
  ): Promise<void> {
    await this.#gate.write(async (trx) => {
      await writeMailboxes(trx, mailboxes);
      if (breaker) await writeBreaker(trx, breaker);
      await writeAlerts(trx, alerts);
    });
  }

  async recordWrites(record: WritesRecord): Promise<void> {
    await this.#gate.write(async (trx) => {
      if (record.on.length > 0) await trx.deleteFrom('writes_off').where('scope', 'in', record.on).execute();
      await writeStops(trx, record.off);
      await writeAlerts(trx, record.alerts);
    });
    // The keys are removed from the note, so that a stop that a person ended does not come back with the next start.
    if (record.on.length > 0)
      this.keepStops(this.#note.content.stops.filter(({ scope }) => !record.on.includes(scopeKey(scope))));
  }

  /** Returns false if the alert has ended, or fires anew. */
  acknowledge({ fingerprint, firingAt }: Alert, acknowledged: Acknowledgement): Promise<boolean> {
    return this.#gate.write(async (trx) => {
      const rows = trx.selectFrom('alerts').select('alert').where('fingerprint', '=', fingerprint);
      const row = await rows.executeTakeFirst();
      const stored = row && parsed<Alert>(row.alert, 'alerts', { fingerprint });
      if (stored?.status !== 'firing' || stored.firingAt !== firingAt) return false;
      await writeAlerts(trx, { changed: [{ ...stored, acknowledged }], dropped: [], transitions: [] });
      return true;
    });
  }

  recordSilence(silence: Silence): Promise<void> {
    return this.#gate.write((trx) => writeSilence(trx, silence));
  }

  knownAccounts(): Promise<readonly KnownAccount[]> {
    return this.#gate.read(loadKnownAccounts);
  }

  recordAccounts(record: AccountsRecord): Promise<void> {
    return this.#gate.write((trx) => writeAccounts(trx, record));
  }

  /** Protection at the last record, or null before the first one. */
  async protection(): Promise<ProtectionRecord | null> {
    const value = await this.#gate.read((db) => metaOf(db, protectionKey));
    return value === null ? null : parsed(value, 'meta', { key: protectionKey });
  }

  recordProtection(record: ProtectionRecord): Promise<void> {
    return this.#gate.write((trx) => setMeta(trx, protectionKey, JSON.stringify(record)));
  }

  /** Secret that signs the sessions of browsers. The first start makes it. */
  async sessionKey(): Promise<string> {
    const known = await this.#gate.read((db) => metaOf(db, sessionKey));
    if (known !== null) return known;
    const made = randomBytes(32).toString('base64url');
    await this.#gate.write((trx) => setMeta(trx, sessionKey, made));
    return made;
  }

  writesOff(): Promise<readonly WritesOff[]> {
    return this.#gate.read(loadWritesOff);
  }

  entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<MailboxEntries> {
    return this.#gate.read((db) => loadEntries(db, mailbox, { until, limit }));
  }

  /** Returns false if the note can't be written either. */
  async keepOutage(outage: NotifiedOutage): Promise<boolean> {
    return this.#note.keep({ outage });
  }

  keepStops(stops: readonly WritesOff[]): void {
    this.#note.keep({ stops });
  }

  /** Outage that an earlier process notified people of, and not yet of its end. */
  async outage(): Promise<NotifiedOutage | null> {
    const { outage } = this.#note.content;
    if (!outage) return null;
    const ended = await this.#gate.read((db) => metaOf(db, outageEnded));
    if (ended !== String(outage.alert.firingAt)) return outage;
    this.#note.keep({ outage: null });
    return null;
  }

  /** Nobody is notified again even if the note stays. */
  async endOutage(changes: AlertChanges, begunAt: EpochMs): Promise<void> {
    await this.#gate.write(async (trx) => {
      if ((await metaOf(trx, outageEnded)) === String(begunAt)) return;
      await setMeta(trx, outageEnded, String(begunAt));
      await writeAlerts(trx, changes);
    });
    this.#note.keep({ outage: null });
  }

  async saveLedgers(ledgers: readonly AccountLedger[]): Promise<void> {
    const rows = ledgers.map((ledger) => ({ account: ledger.account, ledger: JSON.stringify(ledger) }));
    await this.#gate.write((trx) => upsert(trx, 'ledgers', rows));
  }

  ledgers(): Promise<readonly AccountLedger[]> {
    return this.#gate.read(async (db) => {
      const rows = await db.selectFrom('ledgers').selectAll().execute();
      return rows.map(({ account, ledger }) => ({ ...parsed<AccountLedger>(ledger, 'ledgers', { account }), account }));
    });
  }

  get trouble(): StoreTrouble {
    return this.#gate.trouble;
  }

  heartbeat(overdue: Error | null): void {
    if (overdue) this.#gate.notice(overdue);
  }

  forgetTrouble(): void {
    this.#gate.forgetTrouble();
  }

  onTrouble(listener: () => void): void {
    this.#gate.onTrouble(listener);
  }

  duties(plan: UpkeepPlan): readonly UpkeepDuty[] {
    const { fileCare } = this.#database;
    const forgetting = forgettingDuties(this.#gate.write, plan);
    if (!fileCare) return forgetting;
    return [...forgetting, { what: 'free space', step: () => this.#gate.write((trx) => fileCare.freeSpace(trx)) }];
  }

  /** Writes the time, checks for damage, and gives back excess disk space. Rejects if the write fails. */
  async proveWritable(now: EpochMs): Promise<void> {
    const { fileCare } = this.#database;
    await fileCare?.tidy();
    // The check runs in the background: writes need not wait for it.
    void fileCare?.lookForDamage(now).then((error) => error && this.#gate.notice(error));
    await this.#gate.prove((trx) => setMeta(trx, 'alive_at', String(now)));
  }
}
