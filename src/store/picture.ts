// Reads the fleet in the state that the last process stored.

import { sql } from 'kysely';
import type { Action } from '../core/action.ts';
import type { Alert, Silence } from '../core/alert.ts';
import type { Observed } from '../core/answers.ts';
import type { Incident } from '../core/incident.ts';
import { type Change, changesShown, type MailboxState } from '../core/mailbox.ts';
import type { Verdict } from '../core/verdict.ts';
import type { WritesOff } from '../core/write-scope.ts';
import { loadKnownAccounts } from './accounts.ts';
import { loadIncidents } from './outbox.ts';
import { loadSilences, loadWritesOff } from './people.ts';
import { inPieces, parsed, type StoredMailbox, storedAction, storedMailbox, storedStats } from './rows.ts';
import { addressColumn, type Db } from './schema/tables.ts';
import { type BreakerRecord, loadBreakers } from './writes.ts';

export interface StoredPicture {
  readonly mailboxes: readonly MailboxState[];
  readonly alerts: readonly Alert[];
  readonly actions: readonly Action[];
  readonly breakers: readonly BreakerRecord[];
  readonly incidents: readonly Incident[];
  readonly writesOff: readonly WritesOff[];
  readonly silences: readonly Silence[];
}

const recentActions = 100;

export async function loadPicture(db: Db, accounts: readonly string[] | null = null): Promise<StoredPicture> {
  const alerts = await db.selectFrom('alerts').select(['fingerprint', 'alert']).execute();
  const actions = db.selectFrom('actions').select(['id', 'action']).orderBy('planned_at', 'desc').limit(recentActions);
  return {
    mailboxes: await loadMailboxes(db, accounts),
    alerts: alerts.map(({ fingerprint, alert }) => parsed(alert, 'alerts', { fingerprint })),
    actions: (await actions.execute()).map(storedAction),
    silences: await loadSilences(db),
    incidents: await loadIncidents(db),
    writesOff: await loadWritesOff(db),
    breakers: await loadBreakers(db),
  };
}

interface Some {
  readonly account: string;
  readonly ids: readonly string[];
}

const among = ({ account, ids }: Some) => sql<boolean>`account = ${account} AND mailbox_id IN (${sql.join(ids)})`;

async function loadMailboxes(db: Db, accounts: readonly string[] | null = null): Promise<readonly MailboxState[]> {
  // PostgreSQL refuses an empty list.
  if (accounts?.length === 0) return [];
  const here = db.selectFrom('mailboxes').selectAll().where('left_at', 'is', null);
  const named = accounts === null ? here : here.where('account', 'in', accounts);
  return inFull(db, await named.orderBy('account').orderBy('mailbox_id').execute());
}

export type MailboxLike = Pick<MailboxState, 'id' | 'email'>;

/** Accounts of one API: an account may continue with the state of another account. */
export interface SameApi {
  readonly api: string;
  /** Configured accounts. Mailboxes that have not left them belong to them. */
  readonly guarded: readonly string[];
}

/** Departed mailboxes with the same id or address, and those with both that left another account of the API. */
export async function loadDeparted(
  db: Db,
  { account, among }: { readonly account: string; readonly among: SameApi | null },
  like: readonly MailboxLike[],
): Promise<readonly MailboxState[]> {
  const found = new Map<string, StoredMailbox>();
  const known = among ? await loadKnownAccounts(db) : [];
  const others = known.filter((one) => one.api === among?.api && one.name !== account).map(({ name }) => name);
  await inPieces(like, async (some) => {
    const all = db.selectFrom('mailboxes').selectAll();
    const departed = all.where('account', '=', account).where('left_at', 'is not', null);
    const ids = some.map(({ id }) => id);
    const addresses = some.map(({ email }) => asIndexed(email));
    const byId = await departed.where('mailbox_id', 'in', ids).execute();
    const byAddress = await departed.where(addressColumn, 'in', addresses).execute();
    const elsewhere =
      others.length === 0 ? [] : await all.where('account', 'in', others).where('mailbox_id', 'in', ids).execute();
    const addressOf = new Map(some.map(({ id, email }) => [id, asIndexed(email)]));
    const isLeft = (row: StoredMailbox) => row.left_at !== null || !among?.guarded.includes(row.account);
    const left = elsewhere.filter((row) => isLeft(row) && asIndexed(row.email) === addressOf.get(row.mailbox_id));
    for (const row of [...byId, ...left].sort(leftEarlier)) found.set(row.mailbox_id, row);
    for (const row of byAddress) if (!found.has(row.mailbox_id)) found.set(row.mailbox_id, row);
  });
  return inFull(db, [...found.values()]);
}

/** A mailbox without a departure comes last: its account was removed. */
const leftEarlier = (a: StoredMailbox, b: StoredMailbox) =>
  (a.left_at ?? Number.MAX_SAFE_INTEGER) - (b.left_at ?? Number.MAX_SAFE_INTEGER);

const asIndexed = (email: string) => email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

async function inFull(db: Db, rows: readonly StoredMailbox[]): Promise<readonly MailboxState[]> {
  const mailboxes: MailboxState[] = [];
  for (const [account, ofAccount] of Map.groupBy(rows, (row) => row.account))
    await inPieces(ofAccount, async (piece) => {
      mailboxes.push(...(await pieceInFull(db, { account, ids: piece.map((row) => row.mailbox_id) }, piece)));
    });
  return mailboxes;
}

async function pieceInFull(db: Db, some: Some, rows: readonly StoredMailbox[]): Promise<readonly MailboxState[]> {
  const observations = await loadObservations(db, some);
  const verdicts = await loadVerdicts(db, some);
  const actions = await loadActions(db, some);
  const changes = await loadChanges(db, some);
  return rows.flatMap((row) => {
    const id = row.mailbox_id;
    const newest = observations.get(id);
    if (!newest?.mailboxes) return [];
    return {
      ...storedMailbox(row),
      entry: newest.mailboxes,
      warmup: newest.warmup ?? null,
      stats: newest.stats ?? null,
      detail: newest.mailbox ?? null,
      dns: newest.dns ?? null,
      blacklist: newest.blacklist ?? null,
      verdict: verdicts.get(id) ?? null,
      action: actions.get(id) ?? null,
      changes: changes.get(id) ?? [],
    } satisfies MailboxState;
  });
}

interface Newest {
  mailboxes?: MailboxState['entry'];
  warmup?: NonNullable<MailboxState['warmup']>;
  stats?: NonNullable<MailboxState['stats']>;
  mailbox?: NonNullable<MailboxState['detail']>;
  dns?: NonNullable<MailboxState['dns']>;
  blacklist?: NonNullable<MailboxState['blacklist']>;
}

async function loadObservations(db: Db, some: Some): Promise<ReadonlyMap<string, Newest>> {
  const { account } = some;
  const observations = new Map<string, Newest>();
  const query = db.selectFrom('observations').select(['mailbox_id', 'route', 'observed_at', 'answer']);
  for (const { mailbox_id, route, observed_at: at, answer } of await query.where(among(some)).execute()) {
    const key = { account, mailbox_id, route };
    const newest = observations.get(mailbox_id) ?? {};
    observations.set(mailbox_id, newest);
    const stored = parsed<never>(answer, 'observations', key);
    if (route === 'stats') newest.stats = { at, answer: storedStats(stored) };
    else newest[route as keyof Newest] = { at, answer: stored };
  }
  return observations;
}

async function loadVerdicts(db: Db, some: Some): Promise<Map<string, Observed<Verdict>>> {
  const newest = db
    .selectFrom('decisions')
    .select((of) => of.fn.max('id').as('id'))
    .where(among(some))
    .groupBy('mailbox_id');
  const rows = await db
    .selectFrom('decisions')
    .select(['id', 'mailbox_id', 'until', 'verdict'])
    .where('id', 'in', newest)
    .execute();
  return new Map(
    rows.map(({ id, mailbox_id, until, verdict }) => [
      mailbox_id,
      { at: until, answer: parsed<Verdict>(verdict, 'decisions', { id }) },
    ]),
  );
}

async function loadActions(db: Db, some: Some): Promise<Map<string, Action>> {
  const age = sql<number>`row_number() over (partition by mailbox_id order by planned_at desc, id desc)`;
  const ranked = db
    .selectFrom('actions')
    .select(['id', 'mailbox_id', 'action', age.as('age')])
    .where(among(some));
  const rows = await db.selectFrom(ranked.as('ranked')).selectAll().where('age', '=', 1).execute();
  return new Map(rows.map((row) => [row.mailbox_id, storedAction(row)]));
}

async function loadChanges(db: Db, some: Some): Promise<Map<string, readonly Change[]>> {
  const age = sql<number>`row_number() over (partition by mailbox_id order by id desc)`;
  const ranked = db
    .selectFrom('changes')
    .select(['id', 'mailbox_id', 'change', age.as('age')])
    .where(among(some));
  const rows = await db
    .selectFrom(ranked.as('ranked'))
    .select(['id', 'mailbox_id', 'change'])
    .where('age', '<=', changesShown)
    .orderBy('id')
    .execute();
  const found = new Map<string, readonly Change[]>();
  for (const { id, mailbox_id, change } of rows) {
    found.set(mailbox_id, [...(found.get(mailbox_id) ?? []), parsed(change, 'changes', { id })]);
  }
  return found;
}
