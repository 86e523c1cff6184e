// Keeps the store small while the daemon is active, in small steps with one transaction each, so that other work does
// not wait.
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
  /** Names of the configured channels. */
  readonly channels: readonly string[];
}

export interface UpkeepDuty {
  /** Name of the deleted data, for the log. */
  readonly what: string;
  /** Runs one small step. Returns false if nothing is left to do. */
  step(): Promise<boolean>;
}

/** Deletes some rows. Returns false if none of that kind is left. */
type ForgetStep = (trx: Db) => Promise<boolean>;

/** Rows per step, which takes one or two milliseconds of CPU. */
const rowsAStep = 50;
/** Mailboxes per step: a mailbox has up to six answers, and statistics are long. */
const mailboxesAStep = 25;
/** Commands per step: a command may name a thousand mailboxes. */
const commandsAStep = 5;

/**
 * Duties that delete old data, in this order. Data of an open claim or intent, an undelivered message or an alert
 * stays.
 */
export function forgettingDuties(write: Transact, { now, retention, channels }: UpkeepPlan): readonly UpkeepDuty[] {
  const sentBefore = now - retention.deliveriesMs;
  const auditBefore = now - auditRetentionMs(retention);
  const steps: Readonly<Record<string, ForgetStep>> = {
    'old decisions': decisionsBefore(now - retention.decisionsMs),
    'old changes by others': (trx) => forgetChanges(trx, now - retention.changesMs),
    'old steps of alerts': (trx) => forgetTransitions(trx, sentBefore),
    'sent messages': (trx) => forgetDeliveries(trx, 'sent', sentBefore),
    'replaced reminders': (trx) => forgetDeliveries(trx, 'replaced', sentBefore),
    // Messages to configured channels stay, because they can be sent again.
    'messages to removed channels': (trx) => forgetDeliveries(trx, 'dead', sentBefore, channels),
    // The audit log still has each silence and its author.
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

/** Deletes decisions whose span ended before a moment, except the newest on each known mailbox. */
function decisionsBefore(before: EpochMs): ForgetStep {
  let after = 0;
  return async (trx) => {
    const decisions = trx.selectFrom('decisions').select(['id', 'since', 'until']).where('id', '>', after);
    const rows = await decisions.orderBy('id').limit(rowsAStep).execute();
    // Ids increase with time: all decisions after one that began at `before` or later also ended later.
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

/** Deletes changes by others that were seen before a moment. */
async function forgetChanges(trx: Db, before: EpochMs): Promise<boolean> {
  const rows = await trx.selectFrom('changes').select(['id', 'at']).orderBy('id').limit(rowsAStep).execute();
  const ids = rows.filter(({ at }) => at < before).map(({ id }) => id);
  if (ids.length > 0) await trx.deleteFrom('changes').where('id', 'in', ids).execute();
  return ids.length === rowsAStep;
}

/** Deletes transitions of alerts from before a moment that messages were made of. */
async function forgetTransitions(trx: Db, before: EpochMs): Promise<boolean> {
  const notified = trx.selectFrom('transitions').select(['id', 'at']).where('notified', '=', 1);
  const ids = (await notified.orderBy('id').limit(rowsAStep).execute())
    .filter(({ at }) => at < before)
    .map(({ id }) => id);
  if (ids.length > 0) await trx.deleteFrom('transitions').where('id', 'in', ids).execute();
  return ids.length === rowsAStep;
}

/** Deletes messages that reached the state before a moment, except those of the channels to keep. */
function forgetDeliveries(trx: Db, state: string, before: EpochMs, kept: readonly string[] = []): Promise<boolean> {
  const elsewhere = kept.length === 0 ? sql`TRUE` : sql`channel NOT IN (${sql.join(kept)})`;
  return forgetRows(trx, 'deliveries', sql`state = ${state} AND settled_at < ${before} AND ${elsewhere}`);
}

/** Matches a mailbox without a claim, a pending action, or an alert. An unreadable memory may hold a claim. */
const isUnneeded = sql<boolean>`(m.memory IS NULL OR m.memory LIKE '%"claim":null%')
  AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.account = m.account AND a.mailbox_id = m.mailbox_id
    AND a.state IN ('planned', 'open', 'unconfirmed'))
  AND NOT EXISTS (SELECT 1 FROM alerts al WHERE al.account = m.account AND al.mailbox_id = m.mailbox_id)`;

/**
 * Deletes the API's answers about mailboxes that left before a moment, except the list's entry, which identifies a
 * mailbox.
 */
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

/**
 * Deletes mailboxes that left before a moment. Their decisions and actions are kept as long as those of other
 * mailboxes.
 */
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

/**
 * Deletes actions that were planned before a moment and are over, except those that a claim rests on and the newest on
 * each known mailbox.
 */
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

/** Deletes ended commands that began before a moment, with the mailboxes that they name. */
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
  /** Currently configured retention. */
  readonly retention: () => Retention;
  /** Names of the currently configured channels. */
  readonly channels: () => readonly string[];
  /** Milliseconds by which this machine's clock is ahead of the APIs' clocks, or null if no API was reached yet. */
  readonly aheadMs: () => number | null;
}

/** Start-up with its first polls has ended by then, and the clocks of the APIs are known. */
const beginAfterMs = 5 * minuteMs;
const everyMs = 6 * hourMs;
/** Pause between two steps, so that a tick never waits for long. */
const pauseMs = 20;

/** Begins after five minutes, once an API was reached. The watchdog detects a step that hangs. */
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
      // A clock that is years ahead would make all history old.
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
 * Least number of milliseconds by which this machine's clock is ahead of an API's; 0 if it is not ahead, or if no API
 * sends the time. Null if no account was reached yet, for example because a wrong clock makes all certificates look
 * expired. History that was deleted by a wrong clock is lost.
 */
export function clockAheadMs(accounts: Iterable<Pick<AccountState, 'apiHealth' | 'lastSuccessAt'>>): number | null {
  const all = [...accounts];
  if (all.length > 0 && all.every(({ lastSuccessAt }) => lastSuccessAt === null)) return null;
  const ahead = all.map(({ apiHealth }) => apiHealth.clockAheadMs).filter((ms) => typeof ms === 'number');
  return ahead.length === 0 ? 0 : Math.max(0, Math.min(...ahead));
}
