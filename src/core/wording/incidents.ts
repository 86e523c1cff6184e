// An incident in words.
import {
  type Incident,
  type IncidentCause,
  type IncidentMailbox,
  type MemberState,
  memberStates,
} from '../incident.ts';
import { domainOf, typedName } from '../mailbox.ts';
import { compareTexts } from '../nearest.ts';
import { campaignsUntouched } from './explain.ts';
import { bouncesText, capital, counted, momentText } from './phrases.ts';

/** `Provider google: 16 mailboxes on 5 domains over their bounce limits since 20 March 09:40 UTC, mostly block bounces` */
export function incidentTitle(
  { cause, kind, beganAt }: Pick<Incident, 'cause' | 'kind' | 'beganAt'>,
  members: readonly IncidentMailbox[],
  zone: string,
): string {
  const domains = cause.attribute === 'domain' ? '' : ` on ${counted(domainCountOf(members), 'domain')}`;
  const count = counted(members.length, 'mailbox', 'mailboxes');
  const which = kind === null ? '' : `, mostly ${kind} bounces`;
  const limits = members.length === 1 ? 'its bounce limit' : 'their bounce limits';
  return `${cause.attribute === 'domain' ? cause.value : capital(causeText(cause))}: ${count}${domains} over ${limits} since ${momentText(beganAt, zone)}${which}`;
}

/** `provider google`, `account acme` */
export function causeText(cause: IncidentCause): string {
  return `${causeNoun(cause)} ${cause.value}`;
}

export function causeNoun({ attribute }: IncidentCause): string {
  if (attribute === 'ip') return 'IP address';
  return attribute === 'base_url' ? 'API' : attribute;
}

const doneWords: Readonly<Record<MemberState, (count: string) => string>> = {
  recovery: (count) => `Warmwarden switched ${count} to recovery mode.`,
  paused: (count) => `Warmwarden paused the warm-up of ${count}.`,
  held: (count) => `The circuit breaker holds ${count}. Warmwarden has taken NO ACTION there.`,
  failed: (count) => `The change to ${count} failed or is not confirmed: see the page.`,
  not_acted: (count) =>
    `NO ACTION TAKEN: Warmwarden did not act on ${count}, because it is not allowed to, or is configured not to.`,
  burst: (count) => `${capital(count)} had a burst of bounces, which is not a breach yet.`,
};

export function doneTexts(members: readonly IncidentMailbox[]): readonly string[] {
  return [...memberStates].reverse().flatMap((state) => {
    const count = members.filter((one) => one.state === state).length;
    return count === 0 ? [] : [doneWords[state](counted(count, 'mailbox', 'mailboxes'))];
  });
}

/** Says whose campaigns to stop. Those of mailboxes with a mere burst go on. */
export function campaignTexts(members: readonly IncidentMailbox[]): readonly string[] {
  const inDanger = members.filter(({ state }) => state !== 'paused' && state !== 'burst');
  const count = counted(inDanger.length, 'mailbox', 'mailboxes');
  const whom = inDanger.length < members.length ? `the other ${count}` : inDanger.length === 1 ? 'it' : `all ${count}`;
  const slowed = inDanger.filter(({ state }) => state === 'recovery').length;
  const too = slowed > 0 && slowed < inDanger.length ? ', those in recovery too' : '';
  return [
    members.some(({ state }) => state === 'paused') ? campaignsUntouched : '',
    inDanger.length > 0 ? `If the bounces are real, take ${whom} out of the campaigns yourself${too}.` : '',
  ];
}

export function incidentAdvice({ attribute, value }: IncidentCause): string {
  switch (attribute) {
    case 'domain':
      return `Check the DNS of ${value}, its blacklists, and the recipient lists of these mailboxes.`;
    case 'ip':
      return `Check whether ${value} is on a blacklist, and what else sends from it.`;
    case 'provider':
      return `Read the bounce messages of one mailbox, and check the sending rules and the status page of ${value}.`;
    case 'account':
      return `Check what changed for the whole account ${value}: its recipient lists, its sending volume, its settings.`;
    case 'base_url':
      return `Check whether the API at ${value} reports the right counts before you act on them.`;
  }
}

/** Members that wait for a person come first, then by rate. */
export function worstFirst(members: readonly IncidentMailbox[]): readonly IncidentMailbox[] {
  return [...members].sort(
    (a, b) =>
      memberStates.indexOf(a.state) - memberStates.indexOf(b.state) ||
      b.bounced * a.sent - a.bounced * b.sent ||
      compareTexts(a.email, b.email) ||
      compareTexts(a.account, b.account),
  );
}

const stateWords: Readonly<Record<MemberState, string>> = {
  not_acted: 'NO ACTION TAKEN',
  failed: 'the change failed or is not confirmed',
  held: 'held by the circuit breaker',
  paused: 'warm-up paused',
  recovery: 'switched to recovery mode',
  burst: 'a burst of bounces',
};

/** `acme/bob@acme.example: 4 bounces in 52 emails, switched to recovery mode (20 March 09:41 UTC)`. */
export function memberLine(one: IncidentMailbox, zone: string): string {
  const { account, mailboxId, email, state, since } = one;
  const name = typedName({ account, id: mailboxId, email });
  return `${name}: ${bouncesText(one)}, ${stateWords[state]} (${momentText(since, zone)})`;
}

export function domainCountOf(members: readonly IncidentMailbox[]): number {
  return new Set(members.map(({ email }) => domainOf(email))).size;
}
