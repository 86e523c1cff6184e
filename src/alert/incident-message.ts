// What people read of an incident: its cause and its count first, what Warmwarden did, what waits, what to do. Pure.
import type { Alert, AlertRule } from '../model/alert.ts';
import { alertRules } from '../model/alert.ts';
import {
  type Incident,
  type IncidentCause,
  type IncidentMailbox,
  type IncidentMember,
  type MemberState,
  type MessageIncident,
  memberStates,
} from '../model/incident.ts';
import { domainOf, mailboxKey, typedName } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { campaignsUntouched } from '../wording/explain.ts';
import { counted, listText, momentText, spanText } from '../wording/phrases.ts';
import { ruleNames } from '../wording/rule-names.ts';
import { worstOf } from './grouping.ts';

/** What a message is written with. */
export interface IncidentLook {
  readonly now: EpochMs;
  /** For the times in sentences: an IANA name. */
  readonly zone: string;
  /** Base of the links to the page; null when there is no page. */
  readonly pageUrl: string | null;
  /** The words that start this program. */
  readonly command: string;
  /** Alerts that fire now. */
  readonly firing: readonly Alert[];
  /** How many mailboxes share a cause without being in the incident, and how many have something else there. */
  readonly sharing: (cause: IncidentCause) => { readonly spared: number; readonly others: number };
}

const worstNamed = 5;

/** `members`: those that the reader may know of, at least one. */
export function messageIncident(
  incident: Incident,
  step: MessageIncident['step'],
  members: readonly IncidentMailbox[],
  look: IncidentLook,
): MessageIncident {
  const { id, cause, kind, beganAt, endedAt, alerts } = incident;
  const shared = look.firing.filter(({ fingerprint }) => alerts.includes(fingerprint));
  return {
    id,
    step,
    title: incidentTitle(incident, members, look.zone),
    sentences: step === 'ended' ? endSentences(incident, members, look) : sentencesOf(incident, members, look),
    cause,
    kind,
    severity: worstOf([...members, ...shared].map(({ severity }) => severity)),
    beganAt,
    endedAt,
    memberCount: members.length,
    domainCount: domainsOf(members),
    worst: worstFirst(members)
      .slice(0, worstNamed)
      .map((one) => memberOf(one, look.zone)),
    pageUrl: look.pageUrl === null ? null : `${look.pageUrl}/#${id}`,
  };
}

/** `Provider google: 16 mailboxes on 5 domains over their bounce limits since 20 March 09:40 UTC: block (policy_block)`. */
function incidentTitle(
  { cause, kind, beganAt }: Pick<Incident, 'cause' | 'kind' | 'beganAt'>,
  members: readonly IncidentMailbox[],
  zone: string,
): string {
  const domains = cause.attribute === 'domain' ? '' : ` on ${counted(domainsOf(members), 'domain')}`;
  const count = counted(members.length, 'mailbox', 'mailboxes');
  const which = kind === null ? '' : `: ${kind}`;
  const limits = members.length === 1 ? 'its bounce limit' : 'their bounce limits';
  return `${cause.attribute === 'domain' ? cause.value : capital(causeText(cause))}: ${count}${domains} over ${limits} since ${momentText(beganAt, zone)}${which}`;
}

/** `provider google`, `account acme`, `domain acme.example`. */
function causeText({ attribute, value }: IncidentCause): string {
  if (attribute === 'ip') return `IP address ${value}`;
  return attribute === 'base_url' ? `API ${value}` : `${attribute} ${value}`;
}

function sentencesOf(incident: Incident, members: readonly IncidentMailbox[], look: IncidentLook): readonly string[] {
  const isIn = new Set(members.map(keyOf));
  const own = look.firing.filter(({ account, mailboxId, fingerprint }) =>
    mailboxId === null ? incident.alerts.includes(fingerprint) : isIn.has(mailboxKey(account, mailboxId)),
  );
  return [
    commonText(incident, members, look),
    ...doneTexts(members),
    ...own.filter(({ rule }) => told.includes(rule)).map(({ facts }) => `${facts.title}.`),
    ...symptomTexts(own),
    ...(members.some(({ state }) => state === 'held')
      ? [`To carry out the held actions now: \`${look.command} breaker release\`.`]
      : []),
    adviceOf(incident.cause),
    ...(members.some(({ state }) => state === 'paused') ? [campaignsUntouched] : []),
  ];
}

/** What is common is said as what it is, with how many of those that share it are not in it. */
function commonText({ cause, kind }: Incident, members: readonly IncidentMailbox[], look: IncidentLook): string {
  const { spared, others } = look.sharing(cause);
  const which = kind === null ? '' : ` and the kind of bounce, ${kind}`;
  const all = members.length === 1 ? 'This mailbox has' : `All ${members.length} have in common:`;
  const rest =
    spared === 0
      ? `No other mailbox shares the ${nounOf(cause)}`
      : `${counted(spared, 'other mailbox shares', 'other mailboxes share')} the ${nounOf(cause)} and ${spared === 1 ? 'is' : 'are'} not in this incident`;
  const beyond = others === 0 ? '' : `; ${counted(others, 'mailbox has', 'mailboxes have')} another one`;
  return `${all} ${causeText(cause)}${which}. ${rest}${beyond}.`;
}

function nounOf({ attribute }: IncidentCause): string {
  if (attribute === 'ip') return 'IP address';
  return attribute === 'base_url' ? 'API' : attribute;
}

const doneWords: Readonly<Record<MemberState, (count: string) => string>> = {
  recovery: (count) => `Warmwarden switched ${count} to recovery mode.`,
  paused: (count) => `Warmwarden paused the warm-up of ${count}.`,
  held: (count) => `The circuit breaker holds ${count}: Warmwarden has NOT ACTED on them yet.`,
  failed: (count) => `The change of ${count} failed or is not confirmed: see the page.`,
  not_acted: (count) => `NOT ACTED: Warmwarden did not act on ${count}, because it may not or is configured not to.`,
  burst: (count) => `${capital(count)} had a burst of bounces, which is not a breach yet.`,
};

function doneTexts(members: readonly IncidentMailbox[]): readonly string[] {
  return [...memberStates].reverse().flatMap((state) => {
    const count = members.filter((one) => one.state === state).length;
    return count === 0 ? [] : [doneWords[state](counted(count, 'mailbox', 'mailboxes'))];
  });
}

/** Alerts that belong to it and say something of their own. */
const told: readonly AlertRule[] = ['dns_failing', 'blacklisted'];
const symptoms: readonly AlertRule[] = ['health_score_drop', 'inbox_rate_low', 'bounce_near_limit'];

function symptomTexts(own: readonly Alert[]): readonly string[] {
  const counts = alertRules
    .filter((rule) => symptoms.includes(rule))
    .map((rule) => [rule, countOf(own, rule)] as const);
  const words = counts.filter(([, count]) => count > 0).map(([rule, count]) => `${ruleNames[rule]} (${count})`);
  return words.length === 0 ? [] : [`Also on these mailboxes: ${listText(words)}.`];
}

function countOf(alerts: readonly Alert[], wanted: AlertRule): number {
  return alerts.filter(({ rule }) => rule === wanted).length;
}

function adviceOf({ attribute, value }: IncidentCause): string {
  switch (attribute) {
    case 'domain':
      return `Check the DNS of ${value}, its blacklists, and the recipient lists of these mailboxes.`;
    case 'ip':
      return `Check whether ${value} is on a blacklist, and what else sends from it.`;
    case 'provider':
      return `Read what the bounces of one mailbox say, and check the sending rules and the status page of ${value}.`;
    case 'account':
      return `Check what changed for the whole account ${value}: its recipient lists, its sending volume, its settings.`;
    case 'base_url':
      return `Check whether the API at ${value} reports the right counts before you act on them.`;
  }
}

function endSentences(
  incident: Incident,
  members: readonly IncidentMailbox[],
  { zone }: IncidentLook,
): readonly string[] {
  const { beganAt, endedAt, movedAt } = incident;
  const counts = (state: MemberState) => members.filter((one) => one.state === state).length;
  return [
    `It lasted from ${momentText(beganAt, zone)} to ${momentText(movedAt, zone)}, ${spanText(movedAt - beganAt)}. Since then no mailbox was added and none is waiting for an action.`,
    ...(endedAt === null ? [] : doneTexts(members)),
    ...(counts('paused') > 0
      ? ['A paused warm-up stays paused until you resume it: clean the recipient list first.']
      : []),
    ...(counts('recovery') > 0
      ? ['Warmwarden switches the mailboxes in recovery mode back by itself when they stay clean.']
      : []),
  ];
}

function worstFirst(members: readonly IncidentMailbox[]): readonly IncidentMailbox[] {
  return [...members].sort(
    (a, b) =>
      memberStates.indexOf(a.state) - memberStates.indexOf(b.state) ||
      b.bounced * a.sent - a.bounced * b.sent ||
      (a.email < b.email ? -1 : 1),
  );
}

const stateWords: Readonly<Record<MemberState, string>> = {
  not_acted: 'NOT ACTED',
  failed: 'the change failed or is not confirmed',
  held: 'held by the circuit breaker',
  paused: 'warm-up paused',
  recovery: 'switched to recovery mode',
  burst: 'a burst of bounces',
};

/** `bob@acme.example (acme): 4 bounces in 52 emails, switched to recovery mode at 20 March 09:41 UTC`. */
function memberOf(one: IncidentMailbox, zone: string): IncidentMember {
  const { account, mailboxId, email, state, since, sent, bounced } = one;
  const counts = `${counted(bounced, 'bounce')} in ${counted(sent, 'email')}`;
  const name = typedName({ account, id: mailboxId, email });
  return { account, mailboxId, email, line: `${name}: ${counts}, ${stateWords[state]} (${momentText(since, zone)})` };
}

function keyOf({ account, mailboxId }: IncidentMailbox): string {
  return mailboxKey(account, mailboxId);
}

function domainsOf(members: readonly IncidentMailbox[]): number {
  return new Set(members.map(({ email }) => domainOf(email))).size;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
