// Keeps the store small while the daemon is on duty: small steps, each a transaction of its own, so that nothing waits for them.
import { sql } from 'kysely';
import type { AccountState } from '../core/mailbox.ts';
import { auditRetentionMs, type Retention } from '../core/store-failure.ts';
import { type EpochMs, hourMs, minuteMs } from '../core/time.ts';
import type { Loop, Loops } from '../world/loop.ts';
import type { World } from '../world/world.ts';
import type { Transact } from './database.ts';
import type { Db } from './schema/tables.ts';

export interface UpkeepPlan {
  readonly now: EpochMs;
  readonly retention: Retention;
  /** The names of those that are configured. */
  readonly channels: readonly string[];
}

export interface UpkeepDuty {
  /** What it clears, for the log. */
  readonly what: string;
  /** One small step; false when nothing is left to do. */
  step(): Promise<boolean>;
}

/** Deletes some rows; false when none of that kind is left. */
type ForgetStep = (trx: Db) => Promise<boolean>;

/** A millisecond or two of CPU. */
const rowsAStep = 50;
/** A mailbox has up to six answers, and those of stats are long. */
const mailboxesAStep = 25;
/** A command may name a thousand mailboxes. */
const commandsAStep = 5;

/** All that is old now, in this order. What an open claim or intent, an undelivered message or an alert needs stays. */
export function forgettingDuties(write: Transact, { now, retention, channels }: UpkeepPlan): readonly UpkeepDuty[] {
  const sentBefore = now - retention.deliveriesMs;
  const auditBefore = now - auditRetentionMs(retention);
  const steps: Readonly<Record<string, ForgetStep>> = {
    'old decisions': decisionsBefore(now - retention.decisionsMs),
    'old changes by others': (trx) => forgetChanges(trx, now - retention.changesMs),
    'old steps of alerts': (trx) => forgetTransitions(trx, sentBefore),
    'sent messages': (trx) => forgetDeliveries(trx, 'sent', sentBefore),
    'replaced reminders': (trx) => forgetDeliveries(trx, 'replaced', sentBefore),
    // Those of configured channels can be sent again.
    'messages to removed channels': (trx) => forgetDeliveries(trx, 'dead', sentBefore, channels),
    // Who silenced what stays in the audit log.
    'expired silences': (trx) => forgetRows(trx, 'silences', sql`until <= ${now}`),
    'old answers about removed mailboxes': (trx) => forgetAnswers(trx, now - retention.observationsMs),
    'mailboxes that were removed long ago': (trx) => forgetDeparted(trx, now - retention.departedMs),
    'old actions': (trx) => forgetActions(trx, auditBefore),
    'old operator commands': (trx) => forgetCommands(trx, auditBefore),
    'old incidents': (trx) => forgetRows(trx, 'incidents', sql`ended_at < ${auditBefore}`),
  };
  return Object.entries(steps).map(([what, step]) => ({ what, step: () => write(step) }));
}

/** Deletes some rows of a table with an id that meet a condition. */
async function forgetRows(trx: Db, table: string, condition: ReturnType<typeof sql>): Promise<boolean> {
  const { numAffectedRows } = await sql`DELETE FROM ${sql.table(table)} WHERE id IN (
    SELECT id FROM ${sql.table(table)} WHERE ${condition} LIMIT ${sql.lit(rowsAStep)})`.execute(trx);
  return Number(numAffectedRows) === rowsAStep;
}

/** Decisions that were given last before that moment, but the newest on each mailbox that is known. */
function decisionsBefore(before: EpochMs): ForgetStep {
  let after = 0;
  return async (trx) => {
    const decisions = trx.selectFrom('decisions').select(['id', 'since', 'until']).where('id', '>', after);
    const rows = await decisions.orderBy('id').limit(rowsAStep).execute();
    // Ids grow with time: whatever follows a decision that began later ended later.
    const reached = rows.findIndex(({ since }) => since >= before);
    const walked = reached < 0 ? rows : rows.slice(0, reached);
    after = walked.at(-1)?.id ?? after;
    const ids = walked.filter(({ until }) => until < before).map(({ id }) => id);
    if (ids.length > 0)
      await sql`DELETE FROM decisions WHERE id IN (${sql.join(ids)}) AND (
        EXISTS (SELECT 1 FROM decisions newer WHERE newer.account = decisions.account
          AND newer.mailbox_id = decisions.mailbox_id AND newer.id > decisions.id)
        OR NOT EXISTS (SELECT 1 FROM mailboxes m WHERE m.account = decisions.account AND m.mailbox_id = decisions.mailbox_id)
      )`.execute(trx);
    return walked.length === rowsAStep;
  };
}

/** What others changed, seen before that moment. */
async function forgetChanges(trx: Db, before: EpochMs): Promise<boolean> {
  const rows = await trx.selectFrom('changes').select(['id', 'at']).orderBy('id').limit(rowsAStep).execute();
  const ids = rows.filter(({ at }) => at < before).map(({ id }) => id);
  if (ids.length > 0) await trx.deleteFrom('changes').where('id', 'in', ids).execute();
  return ids.length === rowsAStep;
}

/** Steps of alerts that messages were made of, before that moment. */
async function forgetTransitions(trx: Db, before: EpochMs): Promise<boolean> {
  const notified = trx.selectFrom('transitions').select(['id', 'at']).where('notified', '=', 1);
  const ids = (await notified.orderBy('id').limit(rowsAStep).execute())
    .filter(({ at }) => at < before)
    .map(({ id }) => id);
  if (ids.length > 0) await trx.deleteFrom('transitions').where('id', 'in', ids).execute();
  return ids.length === rowsAStep;
}

/** Messages that were settled so before that moment, but those of the channels to keep. */
function forgetDeliveries(trx: Db, state: string, before: EpochMs, kept: readonly string[] = []): Promise<boolean> {
  const elsewhere = kept.length === 0 ? sql`TRUE` : sql`channel NOT IN (${sql.join(kept)})`;
  return forgetRows(trx, 'deliveries', sql`state = ${state} AND settled_at < ${before} AND ${elsewhere}`);
}

/** A mailbox without a claim, an action under way, or an alert about it. A memory that can't be read may hold a claim. */
const isUnneeded = sql<boolean>`(m.memory IS NULL OR m.memory LIKE '%"claim":null%')
  AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.account = m.account AND a.mailbox_id = m.mailbox_id
    AND a.state IN ('planned', 'open', 'unconfirmed'))
  AND NOT EXISTS (SELECT 1 FROM alerts al WHERE al.account = m.account AND al.mailbox_id = m.mailbox_id)`;

/** What the API said of mailboxes that left before that moment, but for the list's entry, which they are recognized by. */
async function forgetAnswers(trx: Db, before: EpochMs): Promise<boolean> {
  const left = await unneededMailboxes(
    trx,
    sql`m.left_at < ${before} AND EXISTS (SELECT 1 FROM observations o
      WHERE o.account = m.account AND o.mailbox_id = m.mailbox_id AND o.route <> 'mailboxes')`,
  );
  for (const { account, mailbox_id } of left)
    await trx
      .deleteFrom('observations')
      .where('account', '=', account)
      .where('mailbox_id', '=', mailbox_id)
      .where('route', '!=', 'mailboxes')
      .execute();
  return left.length === mailboxesAStep;
}

/** That mailboxes were there at all. What was decided and done about them is kept for as long as that of others. */
async function forgetDeparted(trx: Db, before: EpochMs): Promise<boolean> {
  const left = await unneededMailboxes(trx, sql`m.left_at < ${before}`);
  for (const { account, mailbox_id } of left)
    for (const table of ['observations', 'mailboxes'] as const)
      await trx.deleteFrom(table).where('account', '=', account).where('mailbox_id', '=', mailbox_id).execute();
  return left.length === mailboxesAStep;
}

async function unneededMailboxes(trx: Db, condition: ReturnType<typeof sql>) {
  const { rows } = await sql<{ account: string; mailbox_id: string }>`
    SELECT account, mailbox_id FROM mailboxes m WHERE ${condition} AND ${isUnneeded}
    LIMIT ${sql.lit(mailboxesAStep)}`.execute(trx);
  return rows;
}

/** Actions that were planned before that moment and are over, but what a claim rests on, and the newest on each known mailbox. */
function forgetActions(trx: Db, before: EpochMs): Promise<boolean> {
  return forgetRows(
    trx,
    'actions',
    sql`planned_at < ${before} AND state NOT IN ('planned', 'open') AND NOT EXISTS (SELECT 1 FROM mailboxes m
      WHERE m.account = actions.account AND m.mailbox_id = actions.mailbox_id AND (
        m.memory LIKE '%"actionId":"' || actions.id || '"%'
        OR NOT EXISTS (SELECT 1 FROM actions newer WHERE newer.account = actions.account
          AND newer.mailbox_id = actions.mailbox_id AND newer.planned_at > actions.planned_at)
      ))`,
  );
}

/** Commands that began before that moment and have ended, with the mailboxes that they name. */
async function forgetCommands(trx: Db, before: EpochMs): Promise<boolean> {
  const ended = trx
    .selectFrom('operator_commands')
    .select('id')
    .where('at', '<', before)
    .where('result', 'is not', null);
  const ids = (await ended.limit(commandsAStep).execute()).map(({ id }) => id);
  if (ids.length === 0) return false;
  await trx.deleteFrom('command_mailboxes').where('command_id', 'in', ids).execute();
  await trx.deleteFrom('operator_commands').where('id', 'in', ids).execute();
  return ids.length === commandsAStep;
}

interface UpkeepParts {
  readonly world: World;
  readonly loops: Loops;
  readonly store: { duties(plan: UpkeepPlan): readonly UpkeepDuty[] };
  /** As configured now; as the next. */
  readonly retention: () => Retention;
  /** The names of the channels. */
  readonly channels: () => readonly string[];
  /** How far our clock is ahead of the APIs', milliseconds; null while none of them was reached. */
  readonly aheadMs: () => number | null;
}

/** The start, with its first polls, is over by then, and the times of the APIs are known. */
const beginAfterMs = 5 * minuteMs;
const everyMs = 6 * hourMs;
/** Between two steps, so that a tick never waits for long. */
const pauseMs = 20;

/** Begins after five minutes, once an API was reached. A step that hangs is found by the watchdog. */
export function upkeepLoop({ world, loops, store, retention, channels, aheadMs }: UpkeepParts): Loop {
  const { clock, log } = world;
  let isBegun = false;
  let duties: UpkeepDuty[] = [];
  return loops.create('deleting old history', async () => {
    if (!isBegun) {
      isBegun = true;
      return beginAfterMs;
    }
    if (duties.length === 0) {
      // A clock that is ahead by years would make all history old.
      const ahead = aheadMs();
      if (ahead === null) return minuteMs;
      duties = [...store.duties({ now: clock.now() - ahead, retention: retention(), channels: channels() })];
    }
    const [duty] = duties;
    if (duty && (await didMore(duty))) return pauseMs;
    duties.shift();
    return duties.length === 0 ? everyMs : pauseMs;
  });

  async function didMore(duty: UpkeepDuty): Promise<boolean> {
    try {
      return await clock.busy(() => duty.step());
    } catch (error) {
      log.error({ err: error, part: duty.what }, 'old history could not be deleted');
      return false;
    }
  }
}

/**
 * The least by which our clock is ahead of an API's, milliseconds; 0 when it is not, or none tells the time. Null if no account was
 * reached yet, as with a clock by which all certificates have expired. History that a wrong clock deletes does not come back.
 */
export function clockAheadMs(accounts: Iterable<Pick<AccountState, 'apiHealth' | 'lastSuccessAt'>>): number | null {
  const all = [...accounts];
  if (all.length > 0 && all.every(({ lastSuccessAt }) => lastSuccessAt === null)) return null;
  const ahead = all.map(({ apiHealth }) => apiHealth.clockAheadMs).filter((ms) => typeof ms === 'number');
  return ahead.length === 0 ? 0 : Math.max(0, Math.min(...ahead));
}
