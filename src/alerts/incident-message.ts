// Words of the messages about an incident. Pure.

import { type Alert, accountsOf } from '../core/alert.ts';
import { alertRules, ruleBook } from '../core/alert-rules.ts';
import { apiHost } from '../core/guard/breaker.ts';
import type { Incident, IncidentCause, IncidentMailbox, MemberState, MessageIncident } from '../core/incident.ts';
import { mailboxKey } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';
import { undoEarlier } from '../core/wording/explain.ts';
import {
  campaignTexts,
  causeNoun,
  causeText,
  domainCountOf,
  doneTexts,
  incidentAdvice,
  incidentTitle,
  memberLine,
  worstFirst,
} from '../core/wording/incidents.ts';
import { counted, listText, momentText, spanText } from '../core/wording/phrases.ts';
import { unattendedText } from '../core/wording/states.ts';
import { callsForNothing, worstOf } from './grouping.ts';

/** Mailboxes outside of an incident. */
export interface IncidentRest {
  /** Number of mailboxes that share its cause. */
  readonly sharing: number;
  /** Number of these that Warmwarden switched or paused within a day. */
  readonly changed: number;
  /** Number of mailboxes with another value of the cause's attribute, such as another domain. */
  readonly others: number;
}

export interface IncidentLook {
  readonly now: EpochMs;
  readonly zone: string;
  readonly pageUrl: string | null;
  readonly firing: readonly Alert[];
  readonly restOf: (cause: IncidentCause) => IncidentRest;
}

const worstNamed = 5;

/** `members` are the mailboxes that the reader may see, at least one. */
export function messageIncident(
  incident: Incident,
  step: MessageIncident['step'],
  members: readonly IncidentMailbox[],
  look: IncidentLook,
): MessageIncident {
  const { id, cause, kind, beganAt, endedAt, alerts } = incident;
  const worst = worstFirst(members).slice(0, worstNamed);
  const shared = look.firing.filter(({ mailboxId, fingerprint }) => mailboxId === null && alerts.includes(fingerprint));
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
    domainCount: domainCountOf(members),
    worst: worst.map((one) => {
      const { account, mailboxId, email } = one;
      return { account, mailboxId, email, line: memberLine(one, look.zone) };
    }),
    pageUrl: look.pageUrl === null ? null : `${look.pageUrl}/#${id}`,
  };
}

export function firingOf(
  { alerts }: Pick<Incident, 'alerts'>,
  members: readonly IncidentMailbox[],
  firing: readonly Alert[],
): readonly Alert[] {
  const isIn = new Set(members.map(({ account, mailboxId }) => mailboxKey(account, mailboxId)));
  return firing.filter(({ account, mailboxId, fingerprint }) =>
    mailboxId === null ? alerts.includes(fingerprint) : isIn.has(mailboxKey(account, mailboxId)),
  );
}

function sentencesOf(incident: Incident, members: readonly IncidentMailbox[], look: IncidentLook): readonly string[] {
  const own = firingOf(incident, members, look.firing);
  const also = countsText(own.filter(({ rule }) => ruleBook[rule].isSymptom));
  const isAny = (wanted: MemberState) => members.some(({ state }) => state === wanted);
  const heldIn = members.flatMap(({ account, state }) => (state === 'held' ? account : []));
  const holds = look.firing.filter(
    (alert) => alert.rule === 'guard_held' && accountsOf(alert).some((account) => heldIn.includes(account)),
  );
  // Each circuit breaker that holds has its own commands.
  const hosts = holds.length === 0 ? [''] : holds.map(({ object }) => ` ${apiHost(object ?? '')}`);
  return [
    commonText(incident, members, look),
    ...doneTexts(members),
    ...own.filter(({ rule }) => ruleBook[rule].shows === 'sender').map(({ facts }) => `${facts.title}.`),
    also && `Also seen: ${also}.`,
    incidentAdvice(incident.cause),
    ...campaignTexts(members),
    holds.length > 0 ? unattendedText(holds, { ...look, isUnread: false }) : '',
    ...(isAny('held') ? hosts : []).flatMap((host) => [
      `Real bounces: \`warmwarden breaker apply${host}\` acts on ALL mailboxes held on this API, also beyond this incident.`,
      `Wrong data: \`warmwarden breaker discard${host}\` voids the bounces of ALL mailboxes held on this API.`,
    ]),
    isAny('held') && (isAny('recovery') || isAny('paused')) ? undoEarlier : '',
  ].filter((text) => text !== '');
}

function commonText({ cause }: Incident, members: readonly IncidentMailbox[], look: IncidentLook): string {
  const { sharing, changed, others } = look.restOf(cause);
  const all =
    members.length === 1
      ? 'What this mailbox shares:'
      : `What all ${counted(members.length, 'mailbox', 'mailboxes')} share:`;
  const rest =
    sharing === 0
      ? `No other mailbox shares the ${causeNoun(cause)}`
      : `${counted(sharing, 'other mailbox shares', 'other mailboxes share')} the ${causeNoun(cause)} and ${sharing === 1 ? 'is' : 'are'} not in this incident`;
  const acted = changed === 0 ? '' : `; of these others, Warmwarden switched or paused ${changed} within a day`;
  const beyond =
    others === 0 ? '' : `; ${counted(others, 'mailbox has', 'mailboxes have')} another ${causeNoun(cause)}`;
  return `${all} ${causeText(cause)}. ${rest}${acted}${beyond}.`;
}

function countsText(alerts: readonly Alert[]): string {
  const counts = Map.groupBy(alerts, ({ rule }) => rule);
  const rules = alertRules.filter((rule) => counts.has(rule));
  return listText(rules.map((rule) => `${ruleBook[rule].name} (${counts.get(rule)?.length})`));
}

function endSentences(
  incident: Incident,
  members: readonly IncidentMailbox[],
  { zone, firing }: IncidentLook,
): readonly string[] {
  const { beganAt, movedAt } = incident;
  const isAny = (wanted: MemberState) => members.some(({ state }) => state === wanted);
  // Alerts that outlast the incident and need no action, because bounces count for days.
  const still = countsText(firingOf(incident, members, firing).filter(callsForNothing));
  return [
    `It lasted from ${momentText(beganAt, zone)} to ${momentText(movedAt, zone)}, ${spanText(movedAt - beganAt)}. Since then no mailbox was added and none is waiting for an action.`,
    ...doneTexts(members),
    still && `Still firing: ${still}. You get no message when this ends.`,
    isAny('paused') ? 'A paused warm-up stays paused until you resume it: clean the recipient list first.' : '',
    isAny('recovery') ? 'Warmwarden switches the mailboxes in recovery mode back by itself when they stay clean.' : '',
  ].filter((text) => text !== '');
}
