// GET /api/history: the audit log in one list, with the actions of Warmwarden on request. The activity page reads it, too.
import { z } from 'zod';
import type { Action } from '../../core/action.ts';
import { type MailboxState, namedMailbox } from '../../core/mailbox.ts';
import { type CommandEntry, itself } from '../../core/operator-command.ts';
import { dayMs, type EpochMs, secondMs } from '../../core/time.ts';
import { actionText } from '../../core/wording/explain.ts';
import { cursorOf, keyText, limitOf, mailboxName, means, oneOf, pageOf, type Query, upTo, whole } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { type AnswerTime, answerTimeOf, listOf, moment, nextCursor, text, texts, timeZone } from './facts.ts';
import { fleetRoute, UnknownMailboxError } from './route.ts';

const maxNameLength = 400;

export const byParameter = means(
  'Only what this person did; `Warmwarden`: only what it did by itself.',
  upTo(maxNameLength),
);

export const historyCursor = cursorOf(z.int(), z.int(), keyText);

export interface HistoryRead {
  readonly by: string | undefined;
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
  const { by, mailbox, since, limit, cursor } = query;
  const ids = mailbox && [mailbox.id, ...(mailbox.memory?.formerIds ?? [])];
  const named = mailbox && { account: mailbox.account, ids: ids ?? [] };
  const read = { since, by: by || null, mailbox: named, limit: limit + 1 };
  const [negative = 0, kind = 0, id = ''] = cursor ?? [];
  const at = -negative;
  // After the last command of a moment come the actions of the same moment, so they are read from the moment after it.
  const afterCommand = { at, id: kind === 0 && /^\d{1,15}$/.test(id) ? Number(id) : 0 };
  const afterAction = kind === 0 ? { at: at + 1, id: '' } : { at, id };
  const asksCommands = by !== itself;
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

const historyEntry = z.strictObject({
  at: moment,
  kind: z.enum(['operator', 'guard']).describe('A person, or Warmwarden.'),
  by: text,
  operation: text.nullable(),
  command: text,
  account: text.nullable(),
  mailboxes: texts,
  reason: text,
  result: text,
  outcome: text.describe('Sentences, each on a line of its own.'),
  ended_at: moment.nullable(),
});

export const historyAnswer = z.strictObject({
  time_zone: timeZone,
  entries: listOf(historyEntry).describe('The newest first.'),
  next_cursor: nextCursor,
});

export type HistoryEntry = z.infer<typeof historyEntry>;
export type HistoryAnswer = z.infer<typeof historyAnswer>;

interface HistoryParts extends Pick<RouteParts, 'history' | 'timeZone'> {
  readonly fleet: Pick<RouteParts['fleet'], 'mailboxes'>;
  readonly world: Pick<RouteParts['world'], 'clock'>;
}

export const historyRoute = fleetRoute({
  route: 'GET /api/history',
  id: 'listHistory',
  summary: 'Audit log',
  description: 'The newest first.',
  query: {
    mailbox: means('Only what is about this mailbox: an address, an id or ACCOUNT/ADDRESS.', mailboxName),
    by: byParameter,
    since_seconds: { ...whole(1), usual: (30 * dayMs) / secondMs, meaning: 'How far back; 30 days when left out.' },
    guard: means('`true`: also what Warmwarden did by itself. `by=Warmwarden` includes it.', oneOf('true', 'false')),
    limit: limitOf('entries', 100),
    cursor: historyCursor,
  },
  shape: historyAnswer,
  read: async (parts: HistoryParts, { mailbox: name, since_seconds: span, guard, ...asked }) => {
    const time = answerTimeOf(parts);
    const found = name === undefined ? null : namedMailbox(name, parts.fleet.mailboxes());
    if (found && 'wrong' in found) throw new UnknownMailboxError(found.wrong);
    const actions = guard === 'true' || asked.by === itself;
    const since = time.now - span * secondMs;
    const { rows, next } = await readHistory(parts, { ...asked, since, actions, mailbox: found?.mailbox ?? null });
    return { timeZone: time.zone, entries: rows.map((line) => entryFacts(line, time)), nextCursor: next };
  },
});

function entryFacts({ entry }: HistoryLine, { now, zone }: AnswerTime) {
  if (!('action' in entry)) {
    const { name, mailboxes, end } = entry;
    return {
      ...entry,
      kind: 'operator' as const,
      operation: name === '' ? null : name,
      mailboxes: mailboxes.map(({ email }) => email),
      result: end ?? 'under_way',
    };
  }
  const { kind, email, account, plannedAt, settledAt, verdict, state } = entry.action;
  return {
    at: plannedAt,
    kind: 'guard' as const,
    by: itself,
    operation: kind,
    command: `${kind} ${email}`,
    account,
    mailboxes: [email],
    reason: verdict.reason,
    result: state,
    outcome: actionText(entry.action, now, zone),
    endedAt: settledAt,
  };
}
