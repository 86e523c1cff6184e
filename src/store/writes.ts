// Records of business events, each stored completely or not at all, and their statements, which run in the caller's
// transaction.
import { sql } from 'kysely';
import type { Action } from '../core/action.ts';
import type { Alert, AlertChanges } from '../core/alert.ts';
import type { BreakerEntry, BreakerState } from '../core/guard/breaker.ts';
import type { Change, MailboxState } from '../core/mailbox.ts';
import type { DecisionDay } from '../core/records.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import type { EnforcementScope, WritesOff } from '../core/write-scope.ts';
import { inPieces, lastOfEach, mailboxRow, observationRow, parsed, type StoredRoute, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

export interface NewDecision {
  readonly verdict: Verdict;
  readonly at: EpochMs;
  /** True if the verdict extends the span of the previous verdict. */
  readonly unchanged: boolean;
  readonly judged: number;
  readonly days: readonly DecisionDay[];
}

export interface AnswerRecord {
  readonly mailbox: MailboxState;
  /** True if the row of the mailbox itself must be written: its memory or its address. */
  readonly remembers: boolean;
  readonly answered: readonly StoredRoute[];
  readonly changes: readonly Change[];
  readonly decisions: readonly NewDecision[];
  readonly actions: readonly Action[];
  readonly alerts: AlertChanges;
  readonly breaker: BreakerMove | null;
}

export interface BreakerRecord {
  readonly api: string;
  readonly state: BreakerState;
}

/** A breaker that an event changed, and its previous, stored state. */
export interface BreakerMove extends BreakerRecord {
  readonly before: BreakerState;
}

export interface WritesRecord {
  readonly off: readonly WritesOff[];
  readonly on: readonly string[];
  readonly alerts: AlertChanges;
}

/** Mailboxes that another account guards from now on. `ids` is null for all mailboxes of the account. */
export interface AccountMove {
  readonly from: string;
  readonly to: string;
  readonly ids: readonly string[] | null;
}

export interface KnownAccount {
  readonly name: string;
  readonly api: string;
  readonly digest: string;
}

/** Protection whose loss is announced, as the newest recorded configuration had it. */
export interface ProtectionRecord {
  readonly enforcementOff: readonly EnforcementScope[];
  readonly accounts: readonly KnownAccount[];
}

export interface AccountsRecord {
  readonly accounts: readonly KnownAccount[];
  /** Moves that apply at the same time: two accounts may swap their names. */
  readonly moves: readonly AccountMove[];
  readonly alerts: AlertChanges;
}

export interface ListRecord {
  readonly account: string;
  /** Mailboxes that other accounts guarded before, or still have state of. None if absent. */
  readonly moves?: readonly AccountMove[];
  readonly present: readonly MailboxState[];
  readonly absent: readonly MailboxState[];
  readonly left: readonly MailboxState[];
  readonly leftAt: number;
  /** Actions that ended because their mailbox has another id. None if absent. */
  readonly actions?: readonly Action[];
  readonly alerts: AlertChanges;
  readonly breaker: BreakerMove | null;
}

// Statements.

export async function writeAnswers(db: Db, records: readonly AnswerRecord[]): Promise<void> {
  for (const { mailbox, remembers, answered, changes, decisions, actions, alerts, breaker } of records) {
    if (remembers) await writeMailboxes(db, [mailbox]);
    await writeObservations(db, [mailbox], answered);
    await writeChanges(db, mailbox, changes);
    for (const decision of decisions) await writeDecision(db, mailbox, decision);
    for (const action of actions) await writeAction(db, action);
    await writeAlerts(db, alerts);
    if (breaker) await writeBreaker(db, breaker);
  }
}

/** `leftAt`: the departure, or null for a mailbox that is back. Without it, the row and the index of departures keep theirs. */
export function writeMailboxes(db: Db, mailboxes: readonly MailboxState[], leftAt?: EpochMs | null): Promise<void> {
  const departure = leftAt === undefined ? {} : { left_at: leftAt };
  return upsert(
    db,
    'mailboxes',
    mailboxes.map((mailbox) => ({ ...mailboxRow(mailbox), ...departure })),
  );
}

/** For mailboxes that came back, nothing was read since. */
export async function forgetAnswers(db: Db, account: string, mailboxes: readonly MailboxState[]): Promise<void> {
  const back = mailboxes.filter(({ memory, stats, warmup }) => memory && !stats && !warmup).map(({ id }) => id);
  await inPieces(back, (ids) =>
    db
      .deleteFrom('observations')
      .where('account', '=', account)
      .where('mailbox_id', 'in', ids)
      .where('route', '!=', 'mailboxes')
      .execute(),
  );
}

export function writeObservations(
  db: Db,
  mailboxes: readonly MailboxState[],
  routes: readonly StoredRoute[],
): Promise<void> {
  const rows = mailboxes.flatMap((mailbox) => routes.flatMap((route) => observationRow(mailbox, route) ?? []));
  return upsert(db, 'observations', rows);
}

export async function writeChanges(db: Db, mailbox: MailboxState, changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const { account, id: mailbox_id } = mailbox;
    await db
      .insertInto('changes')
      .values({ account, mailbox_id, at: change.at, change: JSON.stringify(change) })
      .execute();
  }
}

async function writeDecision(db: Db, mailbox: MailboxState, record: NewDecision): Promise<void> {
  const { verdict, at, judged } = record;
  if (record.unchanged && (await prolong(db, mailbox, record))) return;
  const days = JSON.stringify(record.days);
  await db
    .insertInto('decisions')
    .values({
      account: mailbox.account,
      mailbox_id: mailbox.id,
      since: at,
      until: at,
      judged,
      action: verdict.action,
      reason: verdict.reason,
      verdict: JSON.stringify(verdict),
      days,
      first_sent: verdict.sent,
      first_days: days,
    })
    .execute();
}

/** Returns false if there is no span. */
async function prolong(db: Db, { account, id }: MailboxState, { at, ...span }: NewDecision): Promise<boolean> {
  const body = { verdict: JSON.stringify(span.verdict), days: JSON.stringify(span.days) };
  // Raw SQL: the query builder took three times as long as the database.
  const { numAffectedRows } = await sql`
    UPDATE decisions
    SET verdict = ${body.verdict}, days = ${body.days}, until = ${at}, judged = judged + ${span.judged}
    WHERE id = (SELECT max(id) FROM decisions WHERE account = ${account} AND mailbox_id = ${id})
  `.execute(db);
  return Boolean(numAffectedRows);
}

export function writeAction(db: Db, action: Action): Promise<void> {
  const { id, account, mailboxId: mailbox_id, state, plannedAt: planned_at } = action;
  return upsert(db, 'actions', [{ id, account, mailbox_id, state, planned_at, action: JSON.stringify(action) }]);
}

export async function writeAlerts(db: Db, { changed, dropped, transitions }: AlertChanges): Promise<void> {
  const newest = lastOfEach(changed, ({ fingerprint }) => fingerprint);
  const [over, standing] = [newest.filter(isOver), newest.filter((alert) => !isOver(alert))];
  await upsert(db, 'alerts', standing.map(alertRow));
  await inPieces([...over.map(({ fingerprint }) => fingerprint), ...dropped], (some) =>
    db.deleteFrom('alerts').where('fingerprint', 'in', some).execute(),
  );
  await inPieces(transitions, (some) =>
    db
      .insertInto('transitions')
      .values(some.map((transition) => ({ at: transition.at, transition: JSON.stringify(transition), notified: 0 })))
      .execute(),
  );
}

const isOver = ({ status }: Alert) => status === 'resolved';

const alertRow = (alert: Alert) => ({
  fingerprint: alert.fingerprint,
  account: alert.account,
  mailbox_id: alert.mailboxId,
  status: alert.status,
  alert: JSON.stringify(alert),
});

// Circuit breakers: one head per API and one row per entry, so that the size of a write does not grow with the number of
// held mailboxes.

export async function loadBreakers(db: Db): Promise<readonly BreakerRecord[]> {
  const heads = await db.selectFrom('breakers').selectAll().execute();
  const rows = await db.selectFrom('breaker_entries').selectAll().orderBy('place').execute();
  return heads.map(({ api, head }) => ({
    api,
    state: {
      ...parsed<Omit<BreakerState, 'entries'>>(head, 'breakers', { api }),
      entries: rows
        .filter((row) => row.api === api)
        .map(({ key, entry }) => parsed<BreakerEntry>(entry, 'breaker_entries', { api, key })),
    },
  }));
}

export async function writeBreaker(db: Db, { api, before, state }: BreakerMove): Promise<void> {
  const { gone, added } = entriesBetween(before.entries, state.entries);
  await inPieces(gone, (some) =>
    db.deleteFrom('breaker_entries').where('api', '=', api).where('key', 'in', some).execute(),
  );
  const places = db.selectFrom('breaker_entries').select((of) => of.fn.max('place').as('last'));
  const { last } = await places.where('api', '=', api).executeTakeFirstOrThrow();
  const rows = added.map((entry, index) => ({
    ...{ api, key: entry.key, place: (last ?? 0) + index + 1 },
    entry: JSON.stringify(entry),
  }));
  await upsert(db, 'breaker_entries', rows);
  const { entries: _, ...head } = state;
  await upsert(db, 'breakers', [{ api, head: JSON.stringify(head) }]);
}

/** Unchanged entries are the same objects in the same order, followed by the new ones: one pass finds both. */
function entriesBetween(before: readonly BreakerEntry[], after: readonly BreakerEntry[]) {
  let stayed = 0;
  const left = new Set<string>();
  for (const entry of before) {
    if (entry === after[stayed]) stayed += 1;
    else left.add(entry.key);
  }
  const added = lastOfEach(after.slice(stayed), ({ key }) => key);
  for (const { key } of added) left.delete(key);
  return { gone: [...left], added };
}
