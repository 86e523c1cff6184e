// GET /api/explain: the decisions on a mailbox, what was done and what others changed, as JSON.
import { z } from 'zod';
import type { Action } from '../model/action.ts';
import type { Change } from '../model/change.ts';
import type { RecordedDecision } from '../model/decision.ts';
import { type MailboxState, namedMailbox } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { readRequest } from '../operator/request-problems.ts';
import { changeSentence } from '../wording/causes.ts';
import { actionText, explainVerdict } from '../wording/explain.ts';
import { actionJson, badRequest, decisionJson, notFound } from './json-answers.ts';

/** Where it is read: the daemon's store, or a store without its daemon. Each list has the newest first. */
export interface ExplainSource {
  entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<Entries>;
}

interface Entries {
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
}

export type Explanation = ReturnType<typeof explanationJson>;

export type ExplainAnswer = Explanation | { readonly error: string; readonly message: string };

const entriesShown = 20;

const shape = z.strictObject({ mailbox: z.string(), at: z.iso.datetime({ offset: true }).optional() });

export async function explainAnswer(
  source: ExplainSource,
  { mailboxes, now }: { readonly mailboxes: Iterable<MailboxState>; readonly now: EpochMs },
  asked: Readonly<Record<string, string>>,
): Promise<{ readonly status: 200 | 400 | 404; readonly body: ExplainAnswer }> {
  const query = readRequest(shape, asked, 'the query');
  if ('wrong' in query) return badRequest(query.wrong);
  const { mailbox: name, at } = query.read;
  const found = namedMailbox(name, mailboxes);
  if ('wrong' in found) return notFound(found.wrong);
  // A fleet on another clock (a simulation) may be ahead of ours.
  const until = at === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(at);
  const entries = await source.entriesOf(found.mailbox, until, entriesShown);
  return { status: 200, body: explanationJson(found.mailbox, entries, now) };
}

function explanationJson(mailbox: MailboxState, { decisions, actions, changes }: Entries, now: EpochMs) {
  const { account, id, email, warmup, memory } = mailbox;
  const claim = memory?.claim;
  return {
    at: iso(now),
    mailbox: {
      account,
      id,
      email,
      mode: warmup?.answer.mode ?? null,
      claim: claim ? { kind: claim.kind, since: iso(claim.since) } : null,
      former_ids: memory?.formerIds ?? [],
    },
    decisions: decisions.map((decision) => decisionJson(decision, explainVerdict)),
    actions: actions.map((action) => ({
      ...actionJson(action, explainVerdict),
      target_mode: action.targetMode,
      by: action.by,
      causes: action.causes,
      text: actionText(action, action.plannedAt),
    })),
    changes: changes.map((change) => ({
      what: change.what,
      from: change.from,
      to: change.to,
      since: iso(change.since),
      seen_at: iso(change.at),
      text: changeSentence(change),
    })),
  };
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString();
}
