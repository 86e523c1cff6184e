// The store as a reader sees it beside a running daemon: nothing is locked, nothing can be written.
import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import type { Action } from '../model/action.ts';
import type { Silence } from '../model/alert.ts';
import type { Change } from '../model/change.ts';
import type { RecordedDecision } from '../model/decision.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { connectReadOnly } from './connection.ts';
import { StoreError } from './failure.ts';
import { loadMailboxes, loadPicture, readDecision, type StoredPicture } from './picture.ts';
import type { Tables } from './schema.ts';
import { storedAction } from './stored.ts';
import { loadSilences } from './telling.ts';

export interface LedgerEntries {
  /** The newest first. */
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  /** What others changed. */
  readonly changes: readonly Change[];
}

export class Ledger {
  readonly #db: Kysely<Tables>;

  private constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Throws StoreError when there is no store at the path, or none that can be read. */
  static open(path: string): Ledger {
    if (!existsSync(path))
      throw new StoreError(`There is no store at ${path}: has the daemon run with this configuration?`);
    return new Ledger(connectReadOnly(path));
  }

  async close(): Promise<void> {
    await this.#db.destroy();
  }

  /** Every mailbox that is guarded. */
  mailboxes(): Promise<readonly MailboxState[]> {
    return loadMailboxes(this.#db);
  }

  /** Those that have not expired, the one that ends next first. */
  silences(now: EpochMs): Promise<readonly Silence[]> {
    return loadSilences(this.#db, now);
  }

  /** The fleet as it was believed to be at the last commit. */
  picture(): Promise<StoredPicture> {
    return loadPicture(this.#db);
  }

  /** What was decided and done about a mailbox until a moment, also under the ids that its address had before. */
  async entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<LedgerEntries> {
    const ids = [mailbox.id, ...(mailbox.memory?.formerIds ?? [])];
    const decisions = await this.#db
      .selectFrom('decisions')
      .select(['since', 'until', 'judged', 'verdict'])
      .where('account', '=', mailbox.account)
      .where('mailbox_id', 'in', ids)
      .where('since', '<=', until)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    const actions = await this.#db
      .selectFrom('actions')
      .select('action')
      .where('account', '=', mailbox.account)
      .where('mailbox_id', 'in', ids)
      .where('planned_at', '<=', until)
      .orderBy('planned_at', 'desc')
      .limit(limit)
      .execute();
    const changes = await this.#db
      .selectFrom('changes')
      .select('change')
      .where('account', '=', mailbox.account)
      .where('mailbox_id', 'in', ids)
      .where('at', '<=', until)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return {
      decisions: decisions.map(readDecision),
      actions: actions.map((row) => storedAction(row.action)),
      changes: changes.map((row): Change => JSON.parse(row.change)),
    };
  }
}
