// Forgets mailboxes that were removed long ago, unless something that is under way still needs them.
import { sql } from 'kysely';
import type { EpochMs } from '../../core/time.ts';
import { DamagedRowError } from '../failure.ts';
import { storedMemory } from '../schema/stored.ts';
import type { Db, Walk } from './step.ts';

/** A mailbox has up to six answers, and those of stats are long. */
const mailboxesAStep = 25;

interface Departed {
  readonly account: string;
  readonly mailbox_id: string;
  readonly left_at: number | null;
  readonly memory: string | null;
}

/** What the API said of those that left before that moment, but for the list's entry, which they are recognized by. */
export function oldObservations(before: EpochMs): Walk {
  return walk('old answers about removed mailboxes', before, async (trx, account, ids) => {
    await trx
      .deleteFrom('observations')
      .where('account', '=', account)
      .where('mailbox_id', 'in', ids)
      .where('route', '!=', 'mailboxes')
      .execute();
  });
}

/** That they were there at all. What was decided and done about them is kept for as long as that of others. */
export function oldDeparted(before: EpochMs): Walk {
  return walk('mailboxes that were removed long ago', before, async (trx, account, ids) => {
    for (const table of ['observations', 'mailboxes'] as const)
      await trx.deleteFrom(table).where('account', '=', account).where('mailbox_id', 'in', ids).execute();
  });
}

function walk(
  what: string,
  before: EpochMs,
  forget: (trx: Db, account: string, ids: readonly string[]) => Promise<void>,
): Walk {
  return {
    what,
    first: [0, '', ''],
    step: async (trx, [leftAt = 0, account = '', id = '']) => {
      const rows = await trx
        .selectFrom('mailboxes')
        .select(['account', 'mailbox_id', 'left_at', 'memory'])
        .where('left_at', '<', before)
        .where(sql<boolean>`(left_at, account, mailbox_id) > (${leftAt}, ${account}, ${id})`)
        .orderBy('left_at')
        .orderBy('account')
        .orderBy('mailbox_id')
        .limit(mailboxesAStep)
        .execute();
      for (const [name, some] of Map.groupBy(rows, (row) => row.account)) {
        const ids = await unneeded(trx, name, some);
        if (ids.length > 0) await forget(trx, name, ids);
      }
      const last = rows.at(-1);
      if (!last || rows.length < mailboxesAStep) return null;
      return [last.left_at ?? 0, last.account, last.mailbox_id];
    },
  };
}

/** Those without a claim, an action under way, or an alert about them. */
async function unneeded(trx: Db, account: string, rows: readonly Departed[]): Promise<readonly string[]> {
  const ids = rows.filter((row) => !hasClaim(row)).map(({ mailbox_id }) => mailbox_id);
  if (ids.length === 0) return [];
  const acting = await trx
    .selectFrom('actions')
    .select('mailbox_id')
    .where('account', '=', account)
    .where('mailbox_id', 'in', ids)
    .where('state', 'in', ['planned', 'open', 'unconfirmed'])
    .execute();
  const alerted = await trx
    .selectFrom('alerts')
    .select('mailbox_id')
    .where('account', '=', account)
    .where('mailbox_id', 'in', ids)
    .execute();
  const needed = new Set([...acting, ...alerted].map(({ mailbox_id }) => mailbox_id));
  return ids.filter((id) => !needed.has(id));
}

/** What can't be read may be one. */
function hasClaim({ account, mailbox_id, memory }: Departed): boolean {
  if (memory === null) return false;
  try {
    return storedMemory(memory, { account, mailbox_id }).claim !== null;
  } catch (error) {
    if (error instanceof DamagedRowError) return true;
    throw error;
  }
}
