// GET /api/history: the audit log as JSON, with what the guard did by itself when that is asked for.
import type { Action } from '../model/action.ts';
import { type MailboxState, namedMailbox } from '../model/mailbox.ts';
import type { CommandEntry } from '../model/operator-command.ts';
import { dayMs, type EpochMs, secondMs } from '../model/time.ts';
import { actionText } from '../wording/explain.ts';
import { mailboxName, oneOf, readQuery, whole } from './query.ts';
import { refusalJson } from './refusals.ts';

/** Where the audit log is read: the daemon's store, or a store without its daemon. */
export interface HistorySource {
  commands(query: HistoryQuery): Promise<readonly CommandEntry[]>;
  guardActions(query: HistoryQuery): Promise<readonly Action[]>;
}

interface HistoryQuery {
  readonly since: EpochMs;
  readonly mailbox: { readonly account: string; readonly ids: readonly string[] } | null;
  readonly limit: number;
}

/** A line of the history. */
export type HistoryEntry = ReturnType<typeof commandJson> | ReturnType<typeof actionJson>;

export type HistoryAnswer =
  | { readonly entries: readonly HistoryEntry[]; readonly more: boolean }
  | { readonly error: string; readonly message: string };

const usualSpanSeconds = (30 * dayMs) / secondMs;
const usualLimit = 100;
const maxLimit = 1_000;

export const historyParameters = {
  mailbox: mailboxName,
  since_seconds: whole(1),
  guard: oneOf('true', 'false'),
  limit: whole(1, maxLimit),
};

/** The newest first. */
export async function historyAnswer(
  source: HistorySource,
  { mailboxes, now }: { readonly mailboxes: Iterable<MailboxState>; readonly now: EpochMs },
  asked: URLSearchParams,
): Promise<{ readonly status: 200 | 400 | 404; readonly body: HistoryAnswer }> {
  const query = readQuery(historyParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { mailbox: name, since_seconds: span = usualSpanSeconds, guard, limit = usualLimit } = query.read;
  const found = name === undefined ? null : namedMailbox(name, mailboxes);
  if (found && 'wrong' in found) return refusalJson('unknown_mailbox', found.wrong);
  const about = found ? { account: found.mailbox.account, ids: idsOf(found.mailbox) } : null;
  const wanted = { since: now - span * secondMs, mailbox: about, limit: limit + 1 };
  const commands = await source.commands(wanted);
  const actions = guard === 'true' ? await source.guardActions(wanted) : [];
  const entries = [...commands.map(commandJson), ...actions.map((action) => actionJson(action, now))];
  entries.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return { status: 200, body: { entries: entries.slice(0, limit), more: entries.length > limit } };
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
    ended_at: endedAt === null ? null : iso(endedAt),
  };
}

function actionJson(action: Action, now: EpochMs) {
  const { plannedAt, kind, email, account, verdict, state, settledAt } = action;
  return {
    at: iso(plannedAt),
    kind: 'guard' as const,
    by: 'Warmwarden',
    operation: kind,
    command: `${kind} ${email}`,
    account,
    mailboxes: [email],
    reason: verdict.reason,
    result: state,
    outcome: actionText(action, now),
    ended_at: settledAt === null ? null : iso(settledAt),
  };
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString();
}
