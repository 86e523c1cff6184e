// Moves stored mailboxes and their history from one account to another, and the spent rate limit of a renamed account.
// The caller moves their alerts, as changes of alerts.
import { actionUnder } from '../core/action.ts';
import { moveEntries } from '../core/guard/breaker.ts';
import { scopeKey, type WritesOff } from '../core/write-scope.ts';
import { changeNames } from './history.ts';
import { loadWritesOff } from './people.ts';
import { inPieces, parsed, storedAction, upsert, writeStops } from './rows.ts';
import type { Db } from './schema/tables.ts';
import {
  type AccountMove,
  type AccountsRecord,
  type KnownAccount,
  loadBreakers,
  writeAction,
  writeAlerts,
  writeBreaker,
} from './writes.ts';

const newest = ['mailboxes', 'observations'] as const;
const history = ['decisions', 'changes', 'actions'] as const;

export async function writeAccounts(db: Db, { accounts, moves, alerts }: AccountsRecord): Promise<void> {
  const kept = new Set(accounts.map(({ name }) => name));
  const gone = moves.filter(({ from, ids }) => ids === null && !kept.has(from)).map(({ from }) => from);
  const taken = takenNames(moves, moves.length > 0 ? await loadKnownAccounts(db) : []);
  await writeKnownAccounts(db, accounts, gone);
  for (const name of taken) await forgetMailboxes(db, name);
  // Temporary names that no account has allow two accounts to swap their names.
  const between = (index: number) => `/${index}`;
  for (const [index, move] of moves.entries()) await moveMailboxes(db, { ...move, to: between(index) });
  for (const [index, move] of moves.entries()) await moveMailboxes(db, { ...move, from: between(index) });
  if (moves.length > 0) await moveHeld(db, moves);
  await writeAlerts(db, alerts);
}

/** A stop of the account itself stays. */
async function forgetMailboxes(db: Db, account: string): Promise<void> {
  for (const table of [...newest, ...history]) await db.deleteFrom(table).where('account', '=', account).execute();
  await changeNames(db, account, () => null);
  for (const { scope } of await loadWritesOff(db))
    if (scope.kind === 'mailbox' && scope.account === account)
      await db.deleteFrom('writes_off').where('scope', '=', scopeKey(scope)).execute();
}

export async function moveMailboxes(db: Db, move: AccountMove): Promise<void> {
  const { from, to, ids } = move;
  const theirs = ids ?? (await idsOf(db, from));
  await inPieces(theirs, async (some) => {
    for (const table of newest) {
      await db.deleteFrom(table).where('account', '=', to).where('mailbox_id', 'in', some).execute();
      await moveRows(db, table, move, some);
    }
    const actions = db.selectFrom('actions').select(['id', 'action']).where('account', '=', from);
    for (const row of await actions.where('mailbox_id', 'in', some).execute())
      await writeAction(db, actionUnder(storedAction(row), to));
    for (const table of history) await moveRows(db, table, move, some);
  });
  const moved = new Set(theirs);
  if (ids === null) {
    await db.deleteFrom('ledgers').where('account', '=', to).execute();
    await db.updateTable('ledgers').set({ account: to }).where('account', '=', from).execute();
  }
  await changeNames(db, from, (name) => (moved.has(name.id) ? { ...name, account: to } : name));
  await moveStops(db, move);
}

async function moveRows(
  db: Db,
  table: (typeof newest | typeof history)[number],
  { from, to }: AccountMove,
  ids: readonly string[],
): Promise<void> {
  const theirs = db.updateTable(table).where('account', '=', from).where('mailbox_id', 'in', ids);
  await theirs.set({ account: to }).execute();
}

async function idsOf(db: Db, account: string): Promise<readonly string[]> {
  const rows = await db.selectFrom('mailboxes').select('mailbox_id').where('account', '=', account).execute();
  return rows.map(({ mailbox_id }) => mailbox_id);
}

/** A stop of an account is copied to each of its mailboxes that another account guards from now on. */
async function moveStops(db: Db, { from, to, ids }: AccountMove): Promise<void> {
  const stops = await loadWritesOff(db);
  // The stop that lasts longer stays if a mailbox has two.
  const lasts = ({ until }: WritesOff) => until ?? Number.POSITIVE_INFINITY;
  const isKept = (off: WritesOff) =>
    stops.some((one) => scopeKey(one.scope) === scopeKey(off.scope) && lasts(one) >= lasts(off));
  for (const off of stops) {
    const { scope } = off;
    if (scope.kind === 'everything' || scope.account !== from) continue;
    if (ids === null || (scope.kind === 'mailbox' && ids.includes(scope.mailboxId))) {
      await writeStops(db, [{ ...off, scope: { ...scope, account: to } }]);
      await db.deleteFrom('writes_off').where('scope', '=', scopeKey(scope)).execute();
    } else if (scope.kind === 'account') {
      for (const mailbox of await emailsOf(db, to, ids)) {
        const own: WritesOff = { ...off, scope: { kind: 'mailbox', account: to, ...mailbox } };
        if (!isKept(own)) await writeStops(db, [own]);
      }
    }
  }
}

async function emailsOf(db: Db, account: string, ids: readonly string[]) {
  const rows = await db
    .selectFrom('mailboxes')
    .select(['mailbox_id', 'email'])
    .where('account', '=', account)
    .where('mailbox_id', 'in', ids)
    .execute();
  return rows.map(({ mailbox_id: mailboxId, email }) => ({ mailboxId, email }));
}

async function moveHeld(db: Db, moves: readonly AccountMove[]): Promise<void> {
  for (const { api, state: before } of await loadBreakers(db)) {
    const state = moveEntries(before, moves);
    if (state !== before) await writeBreaker(db, { api, before, state });
  }
}

const prefix = 'account|';

export async function loadKnownAccounts(db: Db): Promise<readonly KnownAccount[]> {
  const rows = await db.selectFrom('meta').selectAll().where('key', 'like', `${prefix}%`).orderBy('key').execute();
  return rows.map(({ key, value }) => ({
    ...parsed<Omit<KnownAccount, 'name'>>(value, 'meta', { key }),
    name: key.slice(prefix.length),
  }));
}

/** Names of moved accounts that belonged to an account of another API, whose mailboxes they do not take over. */
export function takenNames(moves: readonly AccountMove[], known: readonly KnownAccount[]): readonly string[] {
  const apis = new Map(known.map(({ name, api }) => [name, api]));
  const isTaken = ({ from, to, ids }: AccountMove) => {
    const [was, is] = [apis.get(to), apis.get(from)];
    return ids === null && was !== undefined && is !== undefined && was !== is;
  };
  // An account that is renamed to a third name takes its mailboxes along.
  const leaves = new Set(moves.filter(({ ids }) => ids === null).map(({ from }) => from));
  return moves.filter((move) => isTaken(move) && !leaves.has(move.to)).map(({ to }) => to);
}

async function writeKnownAccounts(db: Db, accounts: readonly KnownAccount[], gone: readonly string[]): Promise<void> {
  const keys = gone.map((name) => prefix + name);
  await inPieces(keys, (some) => db.deleteFrom('meta').where('key', 'in', some).execute());
  const rows = accounts.map(({ name, ...known }) => ({ key: prefix + name, value: JSON.stringify(known) }));
  await upsert(db, 'meta', rows);
}
