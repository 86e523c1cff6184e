// The audit log in one list, for the page and the API: commands of people, and actions of Warmwarden.
import { type Action, guardActionKinds } from '../../core/action.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { type CommandEntry, itself } from '../../core/operator-command.ts';
import type { EpochMs } from '../../core/time.ts';
import { reasons } from '../../core/verdict.ts';
import { operationNames } from '../../operations/command-requests.ts';
import { cursorOf, means, oneOf, pageOf, type Query, upTo } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';

const maxNameLength = 400;

export const historyFilters = {
  by: means('Only what this person did; `Warmwarden`: only what it did by itself.', upTo(maxNameLength)),
  operation: means(
    'Only this operation, or this action of Warmwarden.',
    oneOf(...new Set([...operationNames, ...guardActionKinds])),
  ),
  reason: means('Only what Warmwarden did for this reason.', oneOf(...reasons)),
};

export const historyCursor = cursorOf('whole', 'whole', 'text');

export interface HistoryRead extends Query<typeof historyFilters> {
  readonly since: EpochMs;
  readonly mailbox: MailboxState | null;
  readonly actions: boolean;
  readonly cursor: Query<{ cursor: typeof historyCursor }>['cursor'];
  readonly limit: number;
}

export interface HistoryLine {
  readonly at: EpochMs;
  readonly entry: CommandEntry | { readonly action: Action };
}

/** Reads one page, newest first. Commands come before actions of the same time. */
export async function readHistory({ history }: Pick<RouteParts, 'history'>, query: HistoryRead) {
  const { by, reason = null, operation = null, mailbox, since, limit, cursor } = query;
  const ids = mailbox && [mailbox.id, ...(mailbox.memory?.formerIds ?? [])];
  const wanted = { since, by: by || null, operation, reason, limit: limit + 1 };
  const read = { ...wanted, mailbox: mailbox && { account: mailbox.account, ids: ids ?? [] } };
  const [negative = 0, kind = 0, id = ''] = cursor ?? [];
  const at = -negative;
  // After the last command of a moment come the actions of the same moment, so they are read from the moment after it.
  const afterCommand = { at, id: kind === 0 && /^\d{1,15}$/.test(id) ? Number(id) : 0 };
  const afterAction = kind === 0 ? { at: at + 1, id: '' } : { at, id };
  const asksCommands = by !== itself && reason === null;
  const asksActions = query.actions && (!by || by === itself);
  const commands = asksCommands ? await history.commands({ ...read, before: cursor ? afterCommand : null }) : [];
  const actions = asksActions ? await history.guardActions({ ...read, before: cursor ? afterAction : null }) : [];
  const lines: HistoryLine[] = [
    ...commands.map((entry) => ({ at: entry.at, entry })),
    ...actions.map((action) => ({ at: action.plannedAt, entry: { action } })),
  ];
  const keyOf = ({ at, entry }: HistoryLine) =>
    'action' in entry ? [-at, 1, entry.action.id] : [-at, 0, `${entry.id}`];
  return pageOf(
    lines.sort((a, b) => b.at - a.at),
    keyOf,
    limit,
  );
}
