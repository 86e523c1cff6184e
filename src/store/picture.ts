// Reads the fleet in the state that the last process stored.
import type { Action } from '../core/action.ts';
import type { Alert, Silence } from '../core/alert.ts';
import type { Incident } from '../core/incident.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { AccountLedger } from '../core/records.ts';
import type { WritesOff } from '../core/write-scope.ts';
import { loadBreakers } from './breakers.ts';
import { loadMailboxes } from './mailboxes.ts';
import { loadIncidents } from './outbox.ts';
import { loadSilences, loadWritesOff } from './people.ts';
import type { BreakerRecord } from './records.ts';
import { parsed, storedAction, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Stored data from which a start builds the picture of the fleet. */
export interface StoredPicture {
  readonly mailboxes: readonly MailboxState[];
  readonly alerts: readonly Alert[];
  readonly actions: readonly Action[];
  readonly breakers: readonly BreakerRecord[];
  /** Open incidents, and the most recently ended ones. */
  readonly incidents: readonly Incident[];
  readonly writesOff: readonly WritesOff[];
  /** Silences, including expired ones. */
  readonly silences: readonly Silence[];
}

const recentActions = 100;

/** Reads the whole picture, with the mailboxes of the given accounts or of all. */
export async function loadPicture(db: Db, accounts: readonly string[] | null = null): Promise<StoredPicture> {
  const [mailboxes, alerts, breakers, incidents, writesOff, silences, actions] = [
    await loadMailboxes(db, accounts),
    await db.selectFrom('alerts').select(['fingerprint', 'alert']).execute(),
    await loadBreakers(db),
    await loadIncidents(db),
    await loadWritesOff(db),
    await loadSilences(db, 0),
    await db
      .selectFrom('actions')
      .select(['id', 'action'])
      .orderBy('planned_at', 'desc')
      .limit(recentActions)
      .execute(),
  ];
  return {
    mailboxes,
    alerts: alerts.map(({ fingerprint, alert }) => parsed(alert, 'alerts', { fingerprint })),
    actions: actions.map(storedAction),
    silences,
    incidents,
    writesOff,
    breakers,
  };
}

// Writes the ledgers of accounts for the process that takes the lease over.

export function writeLedgers(trx: Db, ledgers: readonly AccountLedger[]): Promise<void> {
  return upsert(
    trx,
    'ledgers',
    ledgers.map((ledger) => ({ account: ledger.account, ledger: JSON.stringify(ledger) })),
  );
}

/** Ledgers of all accounts that ever had one. */
export async function loadLedgers(db: Db): Promise<readonly AccountLedger[]> {
  const rows = await db.selectFrom('ledgers').selectAll().execute();
  return rows.map(({ account, ledger }) => parsed<AccountLedger>(ledger, 'ledgers', { account }));
}
