// GET /api/history: the audit log as JSON, with what the guard did by itself when that is asked for.

import { type Action, guardActionKinds } from '../../core/action.ts';
import { type MailboxState, namedMailbox } from '../../core/mailbox.ts';
import { type CommandEntry, itself } from '../../core/operator-command.ts';
import { dayMs, type EpochMs, secondMs } from '../../core/time.ts';
import { type Reason, reasons } from '../../core/verdict.ts';
import { actionText } from '../../core/wording/explain.ts';
import { operationNames } from '../../operations/command-requests.ts';
import { cursorOf, mailboxName, oneOf, pageOf, type Query, readQuery, upTo, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { iso, type Telling } from './json-answers.ts';

/** Where the audit log is read: the daemon's store, or a store without its daemon. */
export interface HistorySource {
  commands(query: HistoryQuery<number>): Promise<readonly CommandEntry[]>;
  guardActions(query: HistoryQuery<string>): Promise<readonly Action[]>;
}

/** Rows that come behind one: of an earlier moment, or of the same with a lower id. */
export interface Before<Id> {
  readonly at: EpochMs;
  readonly id: Id;
}

interface HistoryQuery<Id> {
  readonly since: EpochMs;
  /** Where the page before ended; null, or absent: from the newest on. */
  readonly before?: Before<Id> | null;
  readonly mailbox: { readonly account: string; readonly ids: readonly string[] } | null;
  readonly by?: string | null;
  readonly operation?: string | null;
  readonly reason?: Reason | null;
  readonly limit: number;
}

/** The page and the API are narrowed by the same. null: by nothing. */
export interface HistoryFilter {
  /** A person's name, or `Warmwarden`. */
  readonly by: string | null;
  readonly operation: string | null;
  /** Why Warmwarden acted: people give reasons in their own words, which are not filtered. */
  readonly reason: Reason | null;
}

export function asksForCommands({ by, reason }: HistoryFilter): boolean {
  return by !== itself && reason === null;
}

export function asksForActions({ by }: HistoryFilter): boolean {
  return by === null || by === itself;
}

/** A line of the history. */
export type HistoryEntry = ReturnType<typeof commandJson> | ReturnType<typeof actionJson>;

export type HistoryAnswer =
  | { readonly time_zone: string; readonly entries: readonly HistoryEntry[]; readonly next_cursor: string | null }
  | { readonly error: string; readonly message: string };

const usualSpanSeconds = (30 * dayMs) / secondMs;
const usualLimit = 100;
const maxLimit = 1_000;

const maxNameLength = 400;
/** What narrows the history, here and on the page. */
export const historyFilters = {
  by: upTo(maxNameLength),
  operation: oneOf(...new Set([...operationNames, ...guardActionKinds])),
  reason: oneOf(...reasons),
};
export const historyParameters = {
  mailbox: mailboxName,
  ...historyFilters,
  since_seconds: whole(1),
  guard: oneOf('true', 'false'),
  limit: whole(1, maxLimit),
  cursor: cursorOf('whole', 'whole', 'text'),
};

/** The newest first. */
export async function historyAnswer(
  source: HistorySource,
  { mailboxes, now, zone }: Telling & { readonly mailboxes: Iterable<MailboxState> },
  asked: URLSearchParams,
): Promise<{ readonly status: 200 | 400 | 404; readonly body: HistoryAnswer }> {
  const query = readQuery(historyParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { mailbox: name, since_seconds: span = usualSpanSeconds, guard, limit = usualLimit, cursor } = query.read;
  const { by, operation = null, reason = null } = query.read;
  const filter = { by: by || null, operation, reason };
  const found = name === undefined ? null : namedMailbox(name, mailboxes);
  if (found && 'wrong' in found) return refusalJson('unknown_mailbox', found.wrong);
  const about = found ? { account: found.mailbox.account, ids: idsOf(found.mailbox) } : null;
  const wanted = { since: now - span * secondMs, mailbox: about, ...filter, limit: limit + 1 };
  const { ofCommands, ofActions } = placesIn(cursor);
  const isWanted = guard === 'true' || filter.by === itself || reason !== null;
  const commands = asksForCommands(filter) ? await source.commands({ ...wanted, before: ofCommands }) : [];
  const actions = isWanted && asksForActions(filter) ? await source.guardActions({ ...wanted, before: ofActions }) : [];
  const lines: readonly Line[] = [
    ...commands.map((command) => ({ at: command.at, kind: 0, id: `${command.id}`, json: commandJson(command) })),
    ...actions.map((action) => ({
      at: action.plannedAt,
      kind: 1,
      id: action.id,
      json: actionJson(action, { now, zone }),
    })),
  ];
  // Of one moment commands first, each kind in the order in which it was read.
  const inOrder = lines.toSorted((a, b) => b.at - a.at || a.kind - b.kind);
  const { rows, next } = pageOf(inOrder, ({ at, kind, id }) => [-at, kind, id], limit);
  return { status: 200, body: { time_zone: zone, entries: rows.map(({ json }) => json), next_cursor: next } };
}

interface Line {
  readonly at: EpochMs;
  /** 0: a command, 1: an action of the guard. */
  readonly kind: number;
  readonly id: string;
  readonly json: HistoryEntry;
}

/** Where commands and actions go on behind the line that a cursor names. */
function placesIn(cursor: Query<typeof historyParameters>['cursor']) {
  if (cursor === undefined) return { ofCommands: null, ofActions: null };
  const [negative, kind, id] = cursor;
  const at = -negative;
  return kind === 0
    ? { ofCommands: { at, id: /^\d{1,15}$/.test(id) ? Number(id) : 0 }, ofActions: { at: at + 1, id: '' } }
    : { ofCommands: { at, id: 0 }, ofActions: { at, id } };
}

/** Also those that its address had before. */
function idsOf({ id, memory }: MailboxState): readonly string[] {
  return [id, ...(memory?.formerIds ?? [])];
}

function commandJson({ at, by, reason, name, command, account, mailboxes, end, endedAt, outcome }: CommandEntry) {
  return {
    at: iso(at),
    kind: 'operator' as const,
    by,
    operation: name === '' ? null : name,
    command,
    account,
    mailboxes: mailboxes.map(({ email }) => email),
    reason,
    result: end ?? ('under_way' as const),
    outcome,
    ended_at: iso(endedAt),
  };
}

function actionJson(action: Action, { now, zone }: Telling) {
  const { plannedAt, kind, email, account, verdict, state, settledAt } = action;
  return {
    at: iso(plannedAt),
    kind: 'guard' as const,
    by: itself,
    operation: kind,
    command: `${kind} ${email}`,
    account,
    mailboxes: [email],
    reason: verdict.reason,
    result: state,
    outcome: actionText(action, now, zone),
    ended_at: iso(settledAt),
  };
}
