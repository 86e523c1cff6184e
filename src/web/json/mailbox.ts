// GET /api/explain: decisions, actions and changes of a mailbox.
import { z } from 'zod';
import { settingsText } from '../../core/action.ts';
import type { Alert } from '../../core/alert.ts';
import { type MailboxState, namedMailbox } from '../../core/mailbox.ts';
import { notGuardedText } from '../../core/not-guarded.ts';
import type { MailboxEntries } from '../../core/records.ts';
import { actionText } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { pausedText } from '../../core/wording/states.ts';
import { holdFacts, rowOf } from '../overview/fleet.ts';
import { limitOf, mailboxName } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import {
  type AnswerTime,
  actionFacts,
  actionFields,
  answerTimeOf,
  change,
  changeFacts,
  count,
  decision,
  decisionFacts,
  listOf,
  moment,
  text,
  texts,
  timeZone,
} from './facts.ts';
import { fleetRoute, UnknownMailboxError } from './route.ts';

const explainedAction = z.strictObject({
  ...actionFields,
  target_mode: text.nullable(),
  target_limit: count.nullable().describe('Emails a day.'),
  target_settings: text.nullable().describe('As `set` takes them: `reply_rate=30 send_window=8-18`.'),
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
    disconnected: text.nullable().describe('Since when its connection is lost, and what to do; null when it is not.'),
    enforced: z.boolean().describe('Warmwarden acts on it: guard.enforce is true, and writes are on.'),
    not_guarded: text.nullable().describe('Why it is not guarded, and since when; null when it is.'),
    held: text.nullable().describe('What ends the hold of an action, and when; null when none is held.'),
    paused: text.nullable().describe('Who paused its warm-up, and when.'),
    former_ids: texts.describe('Ids that its address had before.'),
  }),
  more: z.boolean().describe('There are older entries.'),
  decisions: listOf(decision).describe('The newest first.'),
  actions: listOf(explainedAction).describe('The newest first: each is an [action](#action), and has more.'),
  changes: listOf(change).describe('What others changed, the newest first.'),
});

export type Explanation = z.infer<typeof explainAnswer>;
type Explained = Explanation['mailbox'];

export const maxEntriesShown = 1_000;

export const explainRoute = fleetRoute({
  route: 'GET /api/explain',
  id: 'explainMailbox',
  summary: 'Why a mailbox is in its state',
  description: 'The last decisions, actions and changes by others, each with its explanation.',
  query: {
    mailbox: { ...mailboxName, required: true, meaning: 'An address, an id or ACCOUNT/ADDRESS.' },
    limit: limitOf('of each', 20, maxEntriesShown),
  },
  shape: explainAnswer,
  read: async (
    parts: Pick<RouteParts, 'entries' | 'fleet' | 'policyOf' | 'timeZone' | 'world'>,
    { mailbox: name, limit },
  ) => {
    const time = answerTimeOf(parts);
    const found = namedMailbox(name, parts.fleet.mailboxes());
    if ('wrong' in found) throw new UnknownMailboxError(found.wrong);
    // No upper bound, because the clock of a simulated fleet may be ahead. One more shows if there are older.
    const entries = await parts.entries.entriesOf(found.mailbox, Number.MAX_SAFE_INTEGER, limit + 1);
    const { decisions, actions, changes } = entries;
    const more = [decisions, actions, changes].some(({ length }) => length > limit);
    const newest = {
      decisions: decisions.slice(0, limit),
      actions: actions.slice(0, limit),
      changes: changes.slice(0, limit),
    };
    const { fleet, policyOf } = parts;
    const { account, id } = found.mailbox;
    const { enforce } = policyOf(found.mailbox);
    const notGuarded = notGuardedText(fleet, found.mailbox, { ...time, enforce });
    const enforced = enforce && fleet.writesAllowed(account, id, time.now);
    const row = rowOf(fleet, found.mailbox, policyOf);
    const disconnected = disconnectedText(row.alerts, time);
    const hold = row.state === 'held' && notGuarded === null ? await holdFacts(parts, row) : null;
    const held = hold && `HELD, no action yet. Ends with: ${hold.ends}`;
    return { ...explanationFacts({ ...found.mailbox, disconnected, enforced, held, notGuarded }, newest, time), more };
  },
});

function disconnectedText(alerts: readonly Alert[], { zone }: AnswerTime): string | null {
  const alert = alerts.find(({ rule, object }) => rule === 'mailbox_unwell' && object === 'connection');
  return alert ? `DISCONNECTED since ${momentText(alert.since, zone)}. ${alert.facts.sentences.join(' ')}` : null;
}

function explanationFacts(
  mailbox: MailboxState &
    Pick<Explained, 'disconnected' | 'enforced' | 'held'> & { readonly notGuarded: string | null },
  { decisions, actions, changes }: MailboxEntries,
  { now, zone }: AnswerTime,
) {
  const { warmup, memory, verdict } = mailbox;
  const claim = memory?.claim ?? null;
  const isPaused = verdict?.answer.reason === 'already_paused';
  // `since` is the time of the request, as in the action; the claim itself begins with the read-back.
  const since = claim && (actions.find((one) => one.id === claim.actionId)?.openedAt ?? claim.since);
  return {
    at: now,
    timeZone: zone,
    mailbox: {
      ...mailbox,
      mode: warmup?.answer.mode ?? null,
      claim: claim && since ? { kind: claim.kind, since } : null,
      paused: isPaused ? pausedText({ claim, actions, changes }, zone) : null,
      formerIds: memory?.formerIds ?? [],
    },
    decisions: decisions.map(decisionFacts),
    actions: actions.map((one) => ({
      ...actionFacts(one),
      targetLimit: one.targetLimit ?? null,
      targetSettings: one.targetSettings ? settingsText(one.targetSettings) : null,
      text: actionText(one, one.plannedAt, zone),
    })),
    changes: changes.map((one) => changeFacts(one, zone)),
  };
}
