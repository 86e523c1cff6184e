// An alert as a client's channel gets it: of what concerns several clients its own part, with the rest as a count, and an
// alert about others without names. Pure.

import { type Alert, fingerprintOf, noAccount, type Transition, wordsDigest } from '../core/alert.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { heldEntries } from '../core/guard/breaker.ts';
import { idOfKey } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';
import { acknowledgedText } from '../core/wording/explain.ts';
import { type GroupMessage, groupName, groupOf, messageOf } from './grouping.ts';
import { type AlertRoute, type Audience, audienceOf, escalationText, type KnownFleet } from './routing.ts';
import { leavesUnguarded } from './rules/account-rules.ts';
import { apiName, closedTitle, guardHeld } from './rules/breaker-rule.ts';
import { protectionOf } from './rules/protection-rule.ts';

export interface PartContext {
  readonly routes: readonly AlertRoute[];
  readonly fleet: KnownFleet & Pick<Fleet, 'breaker' | 'mailbox'>;
  readonly zone: string;
  readonly now: EpochMs;
}

/** The same message if its channel may read all of it. */
export function messageFor(channel: string, message: GroupMessage, context: PartContext): GroupMessage {
  const audience = audienceOf(channel, context.routes, context.fleet);
  const transitions = message.transitions.map((one) => ({ ...one, alert: partOf(audience, one, context) }));
  const [first] = transitions;
  if (!first || transitions.every(({ alert }, index) => alert === message.transitions[index]?.alert)) return message;
  const { kind, severity, incident, at } = message;
  // The name of a group of one account begins with the account.
  const group = message.group.includes('|') ? groupOf(first.alert) : message.group;
  return { ...message, ...messageOf(group, transitions, at), kind, severity, incident };
}

/** A firing alert as the channel's receiver may read it. */
export function alertFor(channel: string, alert: Alert, context: PartContext): Alert {
  const audience = audienceOf(channel, context.routes, context.fleet);
  return partOf(audience, { kind: 'firing', at: alert.since, alert }, context);
}

/** Adds why the channel is notified late, as the first sentence, and who acknowledged the alert, as the last. */
export function withStanding(channel: string, { kind, alert }: Transition, context: PartContext): Alert {
  const { acknowledged: by, facts } = alert;
  const late = kind === 'firing' || kind === 'worsened' ? escalationText(channel, alert, context) : null;
  const acknowledged = by ? acknowledgedText(by, context.zone) : null;
  const sentences = [late, ...facts.sentences, acknowledged].filter((text) => text !== null);
  return { ...alert, facts: { ...facts, sentences } };
}

export type PartFacts = Pick<PartContext, 'fleet' | 'zone'>;

/** The alert of a transition as an audience may read it. */
export function partOf(audience: Audience, transition: Transition, context: PartFacts): Alert {
  const concern = audience.concernOf(transition.alert);
  if (concern === 'all') return transition.alert;
  // The reason of an acknowledgement may name others.
  const { acknowledged: _, ...alert } = transition.alert;
  if (concern === 'none') return withheld(alert, noAccount);
  const part = ownPart(audience, { ...transition, alert }, context);
  // The tags of the account may be those of another client.
  return { ...part, facts: { ...part.facts, tags: [] } };
}

function ownPart(audience: Audience, transition: Transition, context: PartFacts): Alert {
  const { alert } = transition;
  if (alert.rule === 'guard_held') return heldPart(audience, transition, context) ?? withheld(alert, noAccount);
  if (leavesUnguarded(alert)) return unguardedPart(alert);
  return namesOnlyFirst(alert) ? withoutReason(alert) : withheld(alert, alert.account);
}

/** The words of the API may be about others. An end has its title alone. */
function unguardedPart(alert: Alert): Alert {
  const { title, sentences, numbers } = alert.facts;
  const vague = 'It concerns all mailboxes of the account. Ask the people who run Warmwarden.';
  return { ...alert, facts: { title, sentences: sentences.length === 0 ? [] : [vague], numbers } };
}

/** True if only the first sentence may name others: it says who did it and why. */
function namesOnlyFirst(alert: Alert): boolean {
  return alert.account === noAccount || protectionOf(alert) === 'writes';
}

function withoutReason(alert: Alert): Alert {
  const { title, sentences, numbers } = alert.facts;
  return { ...alert, facts: { title, sentences: sentences.slice(1), numbers } };
}

/** Returns null if the breaker holds none of the channel's mailboxes any more. */
function heldPart(audience: Audience, { kind, alert }: Transition, { fleet, zone }: PartFacts): Alert | null {
  const api = alert.object ?? '';
  if (kind === 'resolved')
    return { ...alert, facts: { title: closedTitle(apiName(api, [])), sentences: [], numbers: { api } } };
  const breaker = fleet.breaker(api);
  const isOwn = ({ key, account, email }: { key: string; account: string; email: string }) =>
    audience.sees({ account, id: idOfKey(key), email });
  if (!heldEntries(breaker).some(isOwn)) return null;
  const actsFrom = Date.parse(String(alert.facts.numbers['acts_from']));
  const { facts } = guardHeld(breaker, {
    ...{ api, zone, isOwn, alert: undefined },
    windowMs: Number.isNaN(actsFrom) ? 0 : actsFrom - (breaker.openSince ?? actsFrom),
    now: alert.since,
    verdictOf: ({ key, account }) => fleet.mailbox(account, idOfKey(key))?.verdict?.answer,
  });
  return { ...alert, facts };
}

/** Numbers that are words of Warmwarden. Titles and receivers that page go by them. */
const plainNumbers = ['action', 'outcome', 'reason'];

/** Returns the alert without names. `account`: the account that the channel may know of, or none. */
function withheld(alert: Alert, account: string): Alert {
  const { rule, mailboxId, object, facts } = alert;
  const subject = {
    rule,
    account,
    email: null,
    mailboxId: mailboxId === null ? null : standIn(alert.account, mailboxId),
    object: mailboxId === null ? standIn(alert.account, object ?? '') : object && standIn(object),
  };
  const numbers = Object.entries(facts.numbers).filter(([name]) => plainNumbers.includes(name));
  const { unstable: _, ...rest } = alert;
  return {
    ...rest,
    ...subject,
    fingerprint: fingerprintOf(subject),
    facts: {
      title: `${groupName(rule, [{ kind: 'firing', alert }])}, outside the routes of this channel`,
      sentences: [
        `It is about ${account === noAccount ? 'others' : `other mailboxes of account ${account}`}, and no other channel takes it.`,
        'For its names, add a route without account, tag, provider, domain and mailbox.',
      ],
      numbers: Object.fromEntries(numbers),
      withheld: true,
    },
  };
}

/** Stands for what the channel is not told of by name, and is always the same for it. */
function standIn(...words: readonly string[]): string {
  return `other-${wordsDigest(words, 12)}`;
}
