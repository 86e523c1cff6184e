// GET /api/explain: the decisions on a mailbox, what was done and what others changed.
import { z } from 'zod';
import { type MailboxState, namedMailbox } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { actionText, explainVerdict } from '../../core/wording/explain.ts';
import { pausedText } from '../../core/wording/paused.ts';
import { recentEmailSentences } from '../../core/wording/phrases.ts';
import { decisionAt } from '../../core/wording/states.ts';
import { limitOf, mailboxName, means, type Parameter } from '../query.ts';
import type { Entries, RouteParts } from '../route-parts.ts';
import {
  account,
  claim,
  email,
  action as exampleAction,
  decision as exampleDecision,
  id,
  told,
} from './example-facts.ts';
import {
  actionFields,
  actionJson,
  change,
  changeJson,
  count,
  decision,
  decisionJson,
  iso,
  listOf,
  moment,
  type Telling,
  tellingOf,
  text,
  texts,
  timeZone,
} from './facts.ts';
import { fleetRoute, unknownMailbox } from './route.ts';

/** An action as `explain` tells it. */
const explainedAction = z.strictObject({
  ...actionFields,
  target_mode: text.nullable(),
  target_limit: count.nullable().describe('Emails a day.'),
  by: z
    .strictObject({ name: text, reason: text })
    .nullable()
    .describe('Who asked for it; null when the guard decided it.'),
  causes: texts.describe('What may explain the bounces.'),
  text: text.describe('What was done, in a sentence.'),
});

export const explainAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  mailbox: z.strictObject({
    account: text,
    id: text,
    email: text,
    mode: text.nullable(),
    claim: z.strictObject({ kind: text, since: moment }).nullable(),
    paused: text.nullable().describe('Who paused its warm-up, and when, in a sentence; null when it is not paused.'),
    former_ids: texts.describe('Ids that its address had before.'),
    recent_emails: texts.describe('What its recent emails show: how many landed in spam, and whether its queue moves.'),
  }),
  moment: z
    .strictObject({
      at: moment,
      exact: z.boolean().describe('false: only the counts at the beginning and at the end of the decision are kept.'),
      text: text.describe('What had been decided then, in a sentence.'),
    })
    .nullable()
    .describe('The time that was asked for.'),
  more: z.boolean().describe('There are older entries.'),
  decisions: listOf(decision).describe('The newest first.'),
  actions: listOf(explainedAction).describe(
    'The newest first: an [action](#action) with `target_mode`, `target_limit`, `by`, `causes`, `text`.',
  ),
  changes: listOf(change).describe('What others changed, the newest first.'),
});

export type Explanation = z.infer<typeof explainAnswer>;

/** The most that a query may ask for. */
export const maxEntriesShown = 1_000;

/** A `+` in a query is a space. */
const momentAsked: Parameter<EpochMs> = {
  wanted: 'a time such as 2026-11-22T03:08:10Z, or with an offset (write + as %2B)',
  schema: { type: 'string', format: 'date-time' },
  required: false,
  read: (found) => (z.iso.datetime({ offset: true }).safeParse(found).success ? Date.parse(found) : null),
};

export const explainRoute = fleetRoute({
  path: '/api/explain',
  id: 'explainMailbox',
  summary:
    'Why a mailbox is in its state: its last decisions, actions and changes by others, each with its explanation',
  query: {
    mailbox: { ...mailboxName, required: true, meaning: 'An address, an id or ACCOUNT/ADDRESS.' },
    at: means('Only what had happened by then.', momentAsked),
    limit: limitOf('of each', 20, maxEntriesShown),
  },
  named: true,
  shape: explainAnswer,
  example: {
    ...told,
    mailbox: { account, id, email, mode: 'aggressive', claim, paused: null, former_ids: [], recent_emails: [] },
    decisions: [exampleDecision],
    actions: [
      {
        ...exampleAction,
        target_mode: null,
        target_limit: null,
        by: null,
        causes: ['The last 2 bounces were hard (invalid_recipient).'],
        text: 'Warmwarden paused the warm-up at 12:32 UTC, confirmed after 0.2 s.',
      },
    ],
    changes: [],
    moment: null,
    more: true,
  },
  read: async (parts: Pick<RouteParts, 'entries' | 'fleet' | 'timeZone' | 'world'>, { mailbox: name, at, limit }) => {
    const { now, zone } = tellingOf(parts);
    const found = namedMailbox(name, parts.fleet.mailboxes());
    if ('wrong' in found) return unknownMailbox(found.wrong);
    // Without a time, all of it: a fleet on another clock (a simulation) may be ahead of ours.
    // One more of each shows whether there are older ones.
    const entries = await parts.entries.entriesOf(found.mailbox, at ?? Number.MAX_SAFE_INTEGER, limit + 1);
    const decided = typeof at === 'number' ? { at: iso(at), ...decisionAt(entries.decisions[0], at, zone) } : null;
    const { decisions, actions, changes } = entries;
    const more = [decisions, actions, changes].some(({ length }) => length > limit);
    const newest = {
      decisions: decisions.slice(0, limit),
      actions: actions.slice(0, limit),
      changes: changes.slice(0, limit),
    };
    return { ...explanationJson(found.mailbox, newest, { now, zone }), moment: decided, more };
  },
});

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
