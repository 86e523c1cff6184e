// Keeps the store small while the daemon is active, in small steps with one transaction each, so that other work does
// not wait.
import { type RawBuilder, sql } from 'kysely';
import type { AccountState } from '../core/mailbox.ts';
import { auditRetentionMs, type Retention } from '../core/store-failure.ts';
import { type EpochMs, hourMs, minuteMs } from '../core/time.ts';
import type { Loop, Loops } from '../world/loop.ts';
import type { World } from '../world/world.ts';
import type { Transact } from './database.ts';
import { type Db, keyOf, type Tables } from './schema/tables.ts';

export interface UpkeepPlan {
  readonly now: EpochMs;
  readonly retention: Retention;
}

export interface UpkeepDuty {
  readonly what: string;
  /** Returns false if nothing is left to do. */
  step(): Promise<boolean>;
}

/** Rows of a table, called `t` in the condition, that are past their retention and that nothing needs any more. */
interface OldRows {
  readonly table: keyof Tables;
  readonly isOld: RawBuilder<unknown>;
}

/** Matches a mailbox `m` without a claim, a pending action, or an alert. An unreadable memory may hold a claim. */
const isUnneeded = sql`(m.memory IS NULL OR m.memory LIKE '%"claim":null%')
  AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.account = m.account AND a.mailbox_id = m.mailbox_id
    AND a.state IN ('planned', 'open', 'unconfirmed'))
  AND NOT EXISTS (SELECT 1 FROM alerts al WHERE al.account = m.account AND al.mailbox_id = m.mailbox_id)`;

/** Old rows by the name of the data, in the order of deletion: rows that refer to others come before them. */
function oldRows({ now, retention }: UpkeepPlan): Readonly<Record<string, OldRows>> {
  const before = (ms: number) => sql.lit(now - ms);
  const auditBefore = before(auditRetentionMs(retention));
  const [historyBefore, messagesBefore] = [before(retention.historyMs), before(retention.messagesMs)];
  const isOfRemovedMailbox = sql`(t.account, t.mailbox_id) IN (SELECT m.account, m.mailbox_id FROM mailboxes m
    WHERE m.left_at < ${historyBefore} AND ${isUnneeded})`;
  const hasMailbox = sql`SELECT 1 FROM mailboxes m WHERE m.account = t.account AND m.mailbox_id = t.mailbox_id`;
  return {
    // The newest decision on each known mailbox stays.
    'old decisions': {
      table: 'decisions',
      isOld: sql`t.since < ${historyBefore} AND t.until < ${historyBefore} AND (NOT EXISTS (${hasMailbox})
        OR EXISTS (SELECT 1 FROM decisions newer WHERE newer.account = t.account AND newer.mailbox_id = t.mailbox_id AND newer.id > t.id))`,
    },
    'old changes by others': { table: 'changes', isOld: sql`t.at < ${historyBefore}` },
    'old steps of alerts': { table: 'transitions', isOld: sql`t.at < ${messagesBefore} AND t.notified = 1` },
    'sent messages': {
      table: 'deliveries',
      isOld: sql`t.state = 'sent' AND t.settled_at < ${messagesBefore}`,
    },
    // The audit log still has each silence and its author.
    'expired silences': { table: 'silences', isOld: sql`t.until <= ${sql.lit(now)}` },
    'answers about mailboxes that were removed long ago': { table: 'observations', isOld: isOfRemovedMailbox },
    'mailboxes that were removed long ago': { table: 'mailboxes', isOld: isOfRemovedMailbox },
    // An action that a claim rests on stays, and the newest one on each known mailbox.
    'old actions': {
      table: 'actions',
      isOld: sql`t.planned_at < ${auditBefore} AND t.state NOT IN ('planned', 'open') AND NOT EXISTS (${hasMailbox} AND (
        m.memory LIKE '%"actionId":"' || t.id || '"%'
        OR NOT EXISTS (SELECT 1 FROM actions newer WHERE newer.account = t.account
          AND newer.mailbox_id = t.mailbox_id AND newer.planned_at > t.planned_at)))`,
    },
    'old operator commands': {
      table: 'operator_commands',
      isOld: sql`t.at < ${auditBefore} AND t.result IS NOT NULL`,
    },
    'old incidents': { table: 'incidents', isOld: sql`t.ended_at < ${auditBefore}` },
  };
}

const rowsAStep = 100;

export function forgettingDuties(write: Transact, plan: UpkeepPlan): readonly UpkeepDuty[] {
  return Object.entries(oldRows(plan)).map(([what, { table, isOld }]) => {
    const key = sql.join(keyOf(table).map((column) => sql.ref(column)));
    const step = async (trx: Db) => {
      const { numAffectedRows } = await sql`DELETE FROM ${sql.table(table)} WHERE (${key}) IN (
        SELECT ${key} FROM ${sql.table(table)} t WHERE ${isOld} LIMIT ${sql.lit(rowsAStep)})`.execute(trx);
      return Number(numAffectedRows) === rowsAStep;
    };
    return { what, step: () => write(step) };
  });
}

interface UpkeepParts {
  readonly world: World;
  readonly loops: Loops;
  readonly store: { duties(plan: UpkeepPlan): readonly UpkeepDuty[] };
  readonly retention: () => Retention;
  /** Null if no API was reached yet. */
  readonly aheadMs: () => number | null;
}

/** Start-up with its first polls has ended by then, and the clocks of the APIs are known. */
const beginAfterMs = 5 * minuteMs;
const everyMs = 6 * hourMs;
const pauseMs = 20;

export function upkeepLoop({ world, loops, store, retention, aheadMs }: UpkeepParts): Loop {
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
      duties = [...store.duties({ now: clock.now() - ahead, retention: retention() })];
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

/** Null if no account was reached yet: a clock that is wrong may make all certificates look expired. */
export function clockAheadMs(accounts: Iterable<Pick<AccountState, 'apiHealth' | 'lastSuccessAt'>>): number | null {
  const all = [...accounts];
  if (all.length > 0 && all.every(({ lastSuccessAt }) => lastSuccessAt === null)) return null;
  const ahead = all.map(({ apiHealth }) => apiHealth.clockAheadMs).filter((ms) => typeof ms === 'number');
  return ahead.length === 0 ? 0 : Math.max(0, Math.min(...ahead));
}
