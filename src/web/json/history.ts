// GET /api/history: the audit log, with the actions of Warmwarden on request.
import { z } from 'zod';
import { type Action, guardActionKinds } from '../../core/action.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { type MailboxState, namedMailbox } from '../../core/mailbox.ts';
import { type CommandEntry, itself } from '../../core/operator-command.ts';
import { dayMs, type EpochMs, secondMs } from '../../core/time.ts';
import { reasons } from '../../core/verdict.ts';
import { actionText } from '../../core/wording/explain.ts';
import { operationNames } from '../../operations/command-requests.ts';
import type { Source } from '../../world/schema/json.ts';
import { asksForActions, asksForCommands } from '../overview/history.ts';
import { cursorOf, limitOf, mailboxName, means, oneOf, pageOf, type Query, upTo, whole } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { type AnswerTime, answerTimeOf, listOf, moment, nextCursor, text, texts, timeZone } from './facts.ts';
import { fleetRoute, UnknownMailboxError } from './route.ts';

const historyEntry = z.strictObject({
  at: moment,
  kind: z.enum(['operator', 'guard']),
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
export type HistoryAnswer = z.infer<typeof historyAnswer> | { readonly error: string; readonly message: string };

const usualSpanSeconds = (30 * dayMs) / secondMs;
const maxNameLength = 400;

/** Filters of the history, here and on the page. */
export const historyFilters = {
  by: means('Only what this person did; `Warmwarden`: only what it did by itself.', upTo(maxNameLength)),
  operation: means(
    'Only this operation, or this action of Warmwarden.',
    oneOf(...new Set([...operationNames, ...guardActionKinds])),
  ),
  reason: means('Only what Warmwarden did for this reason.', oneOf(...reasons)),
};
const query = {
  mailbox: means('Only what is about this mailbox: an address, an id or ACCOUNT/ADDRESS.', mailboxName),
  ...historyFilters,
  since_seconds: { ...whole(1), usual: usualSpanSeconds, meaning: 'How far back; 30 days when left out.' },
  guard: means(
    '`true`: also what Warmwarden did by itself. `by=Warmwarden` and `reason` include it.',
    oneOf('true', 'false'),
  ),
  limit: limitOf('entries', 100),
  cursor: cursorOf('whole', 'whole', 'text'),
};

interface HistoryParts extends Pick<RouteParts, 'history' | 'timeZone'> {
  readonly fleet: Pick<Fleet, 'mailboxes'>;
  readonly world: Pick<RouteParts['world'], 'clock'>;
}

export const historyRoute = fleetRoute({
  route: 'GET /api/history',
  id: 'listHistory',
  summary: 'The audit log, the newest first',
  query,
  shape: historyAnswer,
  read: async (parts: HistoryParts, asked) => {
    const { now, zone } = answerTimeOf(parts);
    const { mailbox: name, since_seconds: span, guard, limit, cursor, by, operation = null, reason = null } = asked;
    const filter = { by: by || null, operation, reason };
    const found = name === undefined ? null : namedMailbox(name, parts.fleet.mailboxes());
    if (found && 'wrong' in found) throw new UnknownMailboxError(found.wrong);
    const about = found ? { account: found.mailbox.account, ids: idsOf(found.mailbox) } : null;
    const wanted = { since: now - span * secondMs, mailbox: about, ...filter, limit: limit + 1 };
    const { ofCommands, ofActions } = placesIn(cursor);
    const isWanted = guard === 'true' || filter.by === itself || reason !== null;
    const commands = asksForCommands(filter) ? await parts.history.commands({ ...wanted, before: ofCommands }) : [];
    const actions =
      isWanted && asksForActions(filter) ? await parts.history.guardActions({ ...wanted, before: ofActions }) : [];
    const lines: readonly HistoryLine[] = [
      ...commands.map((command) => ({ at: command.at, kind: 0, id: `${command.id}`, entry: commandFacts(command) })),
      ...actions.map((action) => ({
        at: action.plannedAt,
        kind: 1,
        id: action.id,
        entry: actionFacts(action, { now, zone }),
      })),
    ];
    // Commands come before actions of the same time; the sort keeps the order within each kind.
    const inOrder = lines.toSorted((a, b) => b.at - a.at || a.kind - b.kind);
    const { rows, next } = pageOf(inOrder, ({ at, kind, id }) => [-at, kind, id], limit);
    return { timeZone: zone, entries: rows.map(({ entry }) => entry), nextCursor: next };
  },
});

interface HistoryLine {
  readonly at: EpochMs;
  /** 0 for a command, 1 for an action of the guard. */
  readonly kind: number;
  readonly id: string;
  readonly entry: Source<typeof historyEntry>;
}

/** Positions after the row of a cursor, from which commands and actions are read. */
function placesIn(cursor: Query<typeof query>['cursor']) {
  if (cursor === undefined) return { ofCommands: null, ofActions: null };
  const [negative, kind, id] = cursor;
  const at = -negative;
  return kind === 0
    ? { ofCommands: { at, id: /^\d{1,15}$/.test(id) ? Number(id) : 0 }, ofActions: { at: at + 1, id: '' } }
    : { ofCommands: { at, id: 0 }, ofActions: { at, id } };
}

/** Ids of a mailbox, with the former ids of its address. */
function idsOf({ id, memory }: MailboxState): readonly string[] {
  return [id, ...(memory?.formerIds ?? [])];
}

function commandFacts(one: CommandEntry) {
  return {
    ...one,
    kind: 'operator' as const,
    operation: one.name === '' ? null : one.name,
    mailboxes: one.mailboxes.map(({ email }) => email),
    result: one.end ?? 'under_way',
  };
}

function actionFacts(action: Action, { now, zone }: AnswerTime) {
  const { kind, email } = action;
  return {
    at: action.plannedAt,
    kind: 'guard' as const,
    by: itself,
    operation: kind,
    command: `${kind} ${email}`,
    account: action.account,
    mailboxes: [email],
    reason: action.verdict.reason,
    result: action.state,
    outcome: actionText(action, now, zone),
    endedAt: action.settledAt,
  };
}
