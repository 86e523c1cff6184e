// Forgets actions and operator commands, which are kept longest.
import { sql } from 'kysely';
import type { EpochMs } from '../../core/time.ts';
import type { Claim } from '../../core/verdict.ts';
import { DamagedRowError } from '../failure.ts';
import { storedMemory } from '../schema/stored.ts';
import { type Db, rowsAStep, type Walk } from './step.ts';

/** A command may name a thousand mailboxes. */
const commandsAStep = 5;

interface OldAction {
  readonly id: string;
  readonly account: string;
  readonly mailbox_id: string;
  readonly planned_at: number;
  readonly state: string;
}

/** Planned before that moment and over, but what a claim rests on, and the newest on each mailbox that is known. */
export function oldActions(before: EpochMs): Walk {
  return {
    what: 'old actions',
    first: [0, ''],
    step: async (trx, [plannedAt = 0, id = '']) => {
      const rows = await trx
        .selectFrom('actions')
        .select(['id', 'account', 'mailbox_id', 'planned_at', 'state'])
        .where('planned_at', '<', before)
        .where(sql<boolean>`(planned_at, id) > (${plannedAt}, ${id})`)
        .orderBy('planned_at')
        .orderBy('id')
        .limit(rowsAStep)
        .execute();
      for (const [account, some] of Map.groupBy(rows, (row) => row.account)) await forget(trx, account, some);
      const last = rows.at(-1);
      return last && rows.length === rowsAStep ? [last.planned_at, last.id] : null;
    },
  };
}

async function forget(trx: Db, account: string, rows: readonly OldAction[]): Promise<void> {
  const over = rows.filter(({ state }) => state !== 'planned' && state !== 'open');
  const mailboxes = [...new Set(over.map(({ mailbox_id }) => mailbox_id))];
  if (mailboxes.length === 0) return;
  const known = await trx
    .selectFrom('mailboxes')
    .select(['mailbox_id', 'memory'])
    .where('account', '=', account)
    .where('mailbox_id', 'in', mailboxes)
    .execute();
  const newest = await trx
    .selectFrom('actions')
    .select((of) => ['mailbox_id', of.fn.max('planned_at').as('at')])
    .where('account', '=', account)
    .where('mailbox_id', 'in', mailboxes)
    .groupBy('mailbox_id')
    .execute();
  const newestAt = new Map(newest.map(({ mailbox_id, at }) => [mailbox_id, at]));
  const claimed = new Map(known.map((row) => [row.mailbox_id, claimedBy(account, row)]));
  const isNeeded = ({ id, mailbox_id, planned_at }: OldAction) => {
    const actions = claimed.get(mailbox_id);
    return (
      actions !== undefined && (actions === 'unknown' || actions.has(id) || newestAt.get(mailbox_id) === planned_at)
    );
  };
  const ids = over.filter((row) => !isNeeded(row)).map(({ id }) => id);
  if (ids.length > 0) await trx.deleteFrom('actions').where('id', 'in', ids).execute();
}

/** The actions that a mailbox's claim rests on. */
function claimedBy(
  account: string,
  row: { readonly mailbox_id: string; readonly memory: string | null },
): ReadonlySet<string> | 'unknown' {
  if (row.memory === null) return new Set();
  try {
    const { claim } = storedMemory(row.memory, { account, mailbox_id: row.mailbox_id });
    return new Set(actionsOf(claim));
  } catch (error) {
    if (error instanceof DamagedRowError) return 'unknown';
    throw error;
  }
}

function actionsOf(claim: Claim | null): readonly string[] {
  return claim === null ? [] : [claim.actionId, ...actionsOf(claim.under)];
}

/** Those that began before that moment and have ended, with the mailboxes that they name. */
export function oldCommands(before: EpochMs): Walk {
  return {
    what: 'old operator commands',
    first: [0],
    step: async (trx, [after = 0]) => {
      const rows = await trx
        .selectFrom('operator_commands')
        .select(['id', 'at', 'result'])
        .where('id', '>', Number(after))
        .orderBy('id')
        .limit(commandsAStep)
        .execute();
      const ids = rows.filter(({ at, result }) => at < before && result !== null).map(({ id }) => id);
      if (ids.length > 0) {
        await trx.deleteFrom('command_mailboxes').where('command_id', 'in', ids).execute();
        await trx.deleteFrom('operator_commands').where('id', 'in', ids).execute();
      }
      const last = rows.at(-1);
      return last && rows.length === commandsAStep && last.at < before ? [last.id] : null;
    },
  };
}
