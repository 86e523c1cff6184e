// GET /api/history: the audit log, with the actions of Warmwarden on request.
import { z } from 'zod';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { namedMailbox } from '../../core/mailbox.ts';
import { itself } from '../../core/operator-command.ts';
import { dayMs, secondMs } from '../../core/time.ts';
import { actionText } from '../../core/wording/explain.ts';
import { type HistoryLine, historyCursor, historyFilters, readHistory } from '../overview/history.ts';
import { limitOf, mailboxName, means, oneOf, whole } from '../query.ts';
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

interface HistoryParts extends Pick<RouteParts, 'history' | 'timeZone'> {
  readonly fleet: Pick<Fleet, 'mailboxes'>;
  readonly world: Pick<RouteParts['world'], 'clock'>;
}

export const historyRoute = fleetRoute({
  route: 'GET /api/history',
  id: 'listHistory',
  summary: 'The audit log, the newest first',
  query: {
    mailbox: means('Only what is about this mailbox: an address, an id or ACCOUNT/ADDRESS.', mailboxName),
    ...historyFilters,
    since_seconds: { ...whole(1), usual: (30 * dayMs) / secondMs, meaning: 'How far back; 30 days when left out.' },
    guard: means(
      '`true`: also what Warmwarden did by itself. `by=Warmwarden` and `reason` include it.',
      oneOf('true', 'false'),
    ),
    limit: limitOf('entries', 100),
    cursor: historyCursor,
  },
  shape: historyAnswer,
  read: async (parts: HistoryParts, { mailbox: name, since_seconds: span, guard, ...asked }) => {
    const time = answerTimeOf(parts);
    const found = name === undefined ? null : namedMailbox(name, parts.fleet.mailboxes());
    if (found && 'wrong' in found) throw new UnknownMailboxError(found.wrong);
    const actions = guard === 'true' || asked.by === itself || asked.reason !== undefined;
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
