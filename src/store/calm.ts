// Writes calm records within the caller's transaction: one that can't be written keeps no other from it, nor the rest of the
// transaction.
import { sql } from 'kysely';
import { inPieces } from './pieces.ts';
import type { BadRecords, CalmRecord } from './records.ts';
import type { Db } from './schema/tables.ts';
import { writeDecision, writeObservations } from './writes.ts';

/** Mailboxes whose answers go into one statement: between two the event loop gets a turn. */
const mailboxesAPiece = 50;
/** After so many in a row that can't be written it is the store that fails: the rest is not tried. */
const badInARow = 3;

/** Behind savepoints: first all at once, then account by account, then one by one. Rejects only when the transaction is over. */
export async function writeCalm(trx: Db, records: readonly CalmRecord[]): Promise<BadRecords> {
  const bad = new Map<CalmRecord, unknown>();
  if (records.length > 0) await attempt(trx, records, bad);
  return bad;
}

async function attempt(trx: Db, records: readonly CalmRecord[], bad: Map<CalmRecord, unknown>): Promise<void> {
  const failure = await failureOf(trx, records);
  if (!failure) return;
  let inARow = 0;
  for (const part of partsOf(records)) {
    const known = bad.size;
    if (records.length === 1 || inARow >= badInARow) for (const record of part) bad.set(record, failure.error);
    else await attempt(trx, part, bad);
    inARow = bad.size - known < part.length ? 0 : inARow + 1;
  }
}

function partsOf(records: readonly CalmRecord[]): readonly (readonly CalmRecord[])[] {
  const byAccount = Map.groupBy(records, ({ mailbox }) => mailbox.account);
  return byAccount.size > 1 ? [...byAccount.values()] : records.map((record) => [record]);
}

/** null: they were written. Otherwise nothing of them was. */
async function failureOf(trx: Db, records: readonly CalmRecord[]): Promise<{ readonly error: unknown } | null> {
  await sql`SAVEPOINT calm`.execute(trx);
  try {
    await inPieces(records, (piece) => writePiece(trx, piece), mailboxesAPiece);
  } catch (error) {
    // A full disk may have ended the whole transaction: then there is no savepoint to go back to.
    await sql`ROLLBACK TO SAVEPOINT calm`.execute(trx).catch(() => Promise.reject(error));
    await sql`RELEASE SAVEPOINT calm`.execute(trx);
    return { error };
  }
  await sql`RELEASE SAVEPOINT calm`.execute(trx);
  return null;
}

async function writePiece(trx: Db, piece: readonly CalmRecord[]): Promise<void> {
  await writeObservations(
    trx,
    piece.flatMap(({ mailbox, answered }) => answered.map((route) => ({ mailbox, route }))),
  );
  for (const { mailbox, decision } of piece) if (decision) await writeDecision(trx, mailbox, decision);
}
