// What was decided and done about a mailbox, and what others changed, also under the ids that its address had before.
import type { Action } from '../core/action.ts';
import type { Change } from '../core/change.ts';
import { goingOn, type RecordedDecision } from '../core/decision.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';
import { decisionColumns, readDecision } from './decisions.ts';
import { parsed, storedAction } from './rows.ts';
import type { Db } from './schema/tables.ts';

export interface MailboxEntries {
  /** The newest first. */
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  /** What others changed. */
  readonly changes: readonly Change[];
}

/** Until a moment; at most `limit` of each. */
export async function loadEntries(
  db: Db,
  mailbox: MailboxState,
  { until, limit }: { readonly until: EpochMs; readonly limit: number },
): Promise<MailboxEntries> {
  const ids = [mailbox.id, ...(mailbox.memory?.formerIds ?? [])];
  const decisions = await db
    .selectFrom('decisions')
    .select(decisionColumns)
    .where('account', '=', mailbox.account)
    .where('mailbox_id', 'in', ids)
    .where('since', '<=', until)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const actions = await db
    .selectFrom('actions')
    .select(['id', 'action'])
    .where('account', '=', mailbox.account)
    .where('mailbox_id', 'in', ids)
    .where('planned_at', '<=', until)
    .orderBy('planned_at', 'desc')
    .limit(limit)
    .execute();
  const changes = await db
    .selectFrom('changes')
    .select(['id', 'change'])
    .where('account', '=', mailbox.account)
    .where('mailbox_id', 'in', ids)
    .where('at', '<=', until)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const { newest } = await db
    .selectFrom('decisions')
    .select((of) => of.fn.max<number | null>('id').as('newest'))
    .where('account', '=', mailbox.account)
    .where('mailbox_id', '=', mailbox.id)
    .executeTakeFirstOrThrow();
  return {
    decisions: decisions.map((row) => (row.id === newest ? goingOn(readDecision(row), mailbox) : readDecision(row))),
    actions: actions.map(storedAction),
    changes: changes.map(({ id, change }) => parsed<Change>(change, 'changes', { id })),
  };
}
