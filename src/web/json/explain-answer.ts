// GET /api/explain: the decisions on a mailbox, what was done and what others changed, as JSON.
import { z } from 'zod';
import type { Action } from '../../core/action.ts';
import type { Change } from '../../core/change.ts';
import type { RecordedDecision } from '../../core/decision.ts';
import { type MailboxState, namedMailbox } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { actionText, explainVerdict } from '../../core/wording/explain.ts';
import { pausedText } from '../../core/wording/paused.ts';
import { recentEmailSentences } from '../../core/wording/phrases.ts';
import { type DecisionAt, decisionAt } from '../../core/wording/states.ts';
import { mailboxName, type Parameter, readQuery, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { actionJson, changeJson, decisionJson, iso, type Telling } from './json-answers.ts';

/** Store of the entries. Each list has the newest first. */
export interface ExplainSource {
  entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<Entries>;
}

interface Entries {
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
}

export type Explanation = ReturnType<typeof explanationJson> & {
  /** What had been decided at the moment that was asked for; null when none was. */
  readonly moment: ({ readonly at: string } & DecisionAt) | null;
  /** There are older entries than these. */
  readonly more: boolean;
};

export type ExplainAnswer = Explanation | { readonly error: string; readonly message: string };

/** Of each list, unless the query says another number. */
const entriesShown = 20;
/** The most that a query may ask for. */
export const maxEntriesShown = 1_000;

/** A `+` in a query is a space. */
const moment: Parameter<EpochMs> = {
  wanted: 'a time such as 2026-11-22T03:08:10Z, or with an offset (write + as %2B)',
  schema: { type: 'string', format: 'date-time' },
  required: false,
  read: (found) => (z.iso.datetime({ offset: true }).safeParse(found).success ? Date.parse(found) : null),
};

export const explainParameters = {
  mailbox: { ...mailboxName, required: true },
  at: moment,
  limit: whole(1, maxEntriesShown),
} as const;

export async function explainAnswer(
  source: ExplainSource,
  { mailboxes, now, zone }: Telling & { readonly mailboxes: Iterable<MailboxState> },
  asked: URLSearchParams,
): Promise<{ readonly status: 200 | 400 | 404; readonly body: ExplainAnswer }> {
  const query = readQuery(explainParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { mailbox: name, at, limit = entriesShown } = query.read;
  const found = namedMailbox(name, mailboxes);
  if ('wrong' in found) return refusalJson('unknown_mailbox', found.wrong);
  // Without a time, all of it: a fleet on another clock (a simulation) may be ahead of ours.
  // One more of each shows whether there are older ones.
  const entries = await source.entriesOf(found.mailbox, at ?? Number.MAX_SAFE_INTEGER, limit + 1);
  const decided = typeof at === 'number' ? { at: iso(at), ...decisionAt(entries.decisions[0], at, zone) } : null;
  const { decisions, actions, changes } = entries;
  const more = [decisions, actions, changes].some(({ length }) => length > limit);
  const newest = {
    decisions: decisions.slice(0, limit),
    actions: actions.slice(0, limit),
    changes: changes.slice(0, limit),
  };
  return { status: 200, body: { ...explanationJson(found.mailbox, newest, { now, zone }), moment: decided, more } };
}

function explanationJson(mailbox: MailboxState, { decisions, actions, changes }: Entries, { now, zone }: Telling) {
  const { account, id, email, warmup, memory, verdict } = mailbox;
  const claim = memory?.claim ?? null;
  const isPaused = verdict?.answer.reason === 'already_paused';
  // Since the request, as the action below says; the claim itself begins when it was read back.
  const claimed = claim && (actions.find((one) => one.id === claim.actionId)?.openedAt ?? claim.since);
  return {
    at: iso(now),
    time_zone: zone,
    mailbox: {
      account,
      id,
      email,
      mode: warmup?.answer.mode ?? null,
      claim: claim && claimed ? { kind: claim.kind, since: iso(claimed) } : null,
      paused: isPaused ? pausedText({ claim, actions, changes }, zone) : null,
      former_ids: memory?.formerIds ?? [],
      recent_emails: recentEmailSentences(warmup, zone),
    },
    decisions: decisions.map((decision) => decisionJson(decision, explainVerdict)),
    actions: actions.map((action) => ({
      ...actionJson(action, explainVerdict),
      target_mode: action.targetMode,
      target_limit: action.targetLimit ?? null,
      by: action.by,
      causes: action.causes,
      text: actionText(action, action.plannedAt, zone),
    })),
    changes: changes.map((change) => changeJson(change, zone)),
  };
}
