// Reads the fleet back: mailboxes with their newest answers, memory, verdict and action.
import { type Kysely, sql } from 'kysely';
import type { Action } from '../model/action.ts';
import type { Alert, Silence } from '../model/alert.ts';
import type { Observed } from '../model/answers.ts';
import { type Change, changesAtHand } from '../model/change.ts';
import type { RecordedDecision } from '../model/decision.ts';
import { type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { WritesOff } from '../model/operator-command.ts';
import type { Verdict } from '../model/verdict.ts';
import type { BreakerRecord } from './records.ts';
import type { Tables } from './schema.ts';
import { storedAction, storedMemory } from './stored.ts';
import { loadSilences } from './telling.ts';

type Db = Kysely<Tables>;

/** What the picture of the fleet is loaded from at start. */
export interface StoredPicture {
  readonly mailboxes: readonly MailboxState[];
  readonly alerts: readonly Alert[];
  readonly actions: readonly Action[];
  readonly breakers: readonly BreakerRecord[];
  readonly writesOff: readonly WritesOff[];
  /** Also those that have expired meanwhile. */
  readonly silences: readonly Silence[];
}

const recentActions = 100;

/** All of it, in one look. */
export async function loadPicture(db: Db): Promise<StoredPicture> {
  const [mailboxes, alerts, breakers, writesOff, silences, actions] = [
    await loadMailboxes(db),
    await db.selectFrom('alerts').select('alert').execute(),
    await db.selectFrom('breakers').selectAll().execute(),
    await db.selectFrom('writes_off').select('off').execute(),
    await loadSilences(db, 0),
    await db.selectFrom('actions').select('action').orderBy('planned_at', 'desc').limit(recentActions).execute(),
  ];
  return {
    mailboxes,
    alerts: alerts.map((row): Alert => JSON.parse(row.alert)),
    actions: actions.map((row) => storedAction(row.action)),
    silences,
    writesOff: writesOff.map((row): WritesOff => JSON.parse(row.off)),
    breakers: breakers.map((row) => ({ api: row.api, state: JSON.parse(row.state) })),
  };
}

/** Every mailbox that has not left; or those that have left one account. */
export async function loadMailboxes(
  db: Db,
  only: { readonly departedFrom: string } | null = null,
): Promise<readonly MailboxState[]> {
  const here = db.selectFrom('mailboxes').selectAll();
  const asked = only
    ? here.where('left_at', 'is not', null).where('account', '=', only.departedFrom)
    : here.where('left_at', 'is', null);
  const rows = await asked.execute();
  if (rows.length === 0) return [];
  const observations = await loadObservations(db);
  const verdicts = await loadVerdicts(db);
  const actions = await loadActions(db);
  const changes = await loadChanges(db);
  const mailboxes: MailboxState[] = [];
  for (const row of rows) {
    const key = mailboxKey(row.account, row.mailbox_id);
    const observed = observations.get(key) ?? new Map<string, Observed<unknown>>();
    const newest = <Answer>(route: string) => (observed.get(route) ?? null) as Observed<Answer> | null;
    const entry = newest<MailboxState['entry']['answer']>('mailboxes');
    if (!entry) continue;
    mailboxes.push({
      account: row.account,
      id: row.mailbox_id,
      email: row.email,
      firstSeenAt: row.first_seen_at,
      missingLists: row.missing_lists,
      entry,
      warmup: newest('warmup'),
      stats: newest('stats'),
      detail: newest('mailbox'),
      dns: newest('dns'),
      blacklist: newest('blacklist'),
      memory: row.memory ? storedMemory(row.memory) : null,
      verdict: verdicts.get(key) ?? null,
      action: actions.get(key) ?? null,
      changes: changes.get(key) ?? [],
    });
  }
  return mailboxes;
}

async function loadObservations(db: Db): Promise<Map<string, Map<string, Observed<unknown>>>> {
  const found = new Map<string, Map<string, Observed<unknown>>>();
  for (const row of await db.selectFrom('observations').selectAll().execute()) {
    const key = mailboxKey(row.account, row.mailbox_id);
    const ofMailbox = found.get(key) ?? new Map<string, Observed<unknown>>();
    ofMailbox.set(row.route, { at: row.observed_at, answer: JSON.parse(row.answer) });
    found.set(key, ofMailbox);
  }
  return found;
}

async function loadVerdicts(db: Db): Promise<Map<string, Observed<Verdict>>> {
  const newest = db
    .selectFrom('decisions')
    .select((of) => of.fn.max('id').as('id'))
    .groupBy(['account', 'mailbox_id']);
  const rows = await db
    .selectFrom('decisions')
    .select(['account', 'mailbox_id', 'until', 'verdict'])
    .where('id', 'in', newest)
    .execute();
  return new Map(
    rows.map((row) => [mailboxKey(row.account, row.mailbox_id), { at: row.until, answer: JSON.parse(row.verdict) }]),
  );
}

async function loadActions(db: Db): Promise<Map<string, Action>> {
  const newest = new Map<string, Action>();
  const rows = await db.selectFrom('actions').select('action').orderBy('planned_at').orderBy('id').execute();
  for (const row of rows) {
    const action = storedAction(row.action);
    newest.set(mailboxKey(action.account, action.mailboxId), action);
  }
  return newest;
}

/** The newest changes of each mailbox, the oldest first. */
async function loadChanges(db: Db): Promise<Map<string, readonly Change[]>> {
  const ranked = db
    .selectFrom('changes')
    .select(['id', 'account', 'mailbox_id', 'change'])
    .select(sql<number>`row_number() over (partition by account, mailbox_id order by id desc)`.as('age'));
  const rows = await db
    .selectFrom(ranked.as('ranked'))
    .select(['account', 'mailbox_id', 'change'])
    .where('age', '<=', changesAtHand)
    .orderBy('id')
    .execute();
  const found = new Map<string, readonly Change[]>();
  for (const row of rows) {
    const key = mailboxKey(row.account, row.mailbox_id);
    found.set(key, [...(found.get(key) ?? []), JSON.parse(row.change)]);
  }
  return found;
}

export function readDecision(row: {
  readonly since: number;
  readonly until: number;
  readonly judged: number;
  readonly verdict: string;
}): RecordedDecision {
  return { since: row.since, until: row.until, count: row.judged, verdict: JSON.parse(row.verdict) };
}
