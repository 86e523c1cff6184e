// The ledgers of accounts that move from one replica to another.
import type { Kysely } from 'kysely';
import type { AccountLedger } from '../model/ledger.ts';
import { parsed } from './schema/parsed.ts';
import type { Tables } from './schema/tables.ts';

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
