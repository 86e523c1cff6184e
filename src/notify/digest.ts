// The digest: what was done since the last one, what is at risk, what is unknown, and what did not reach anybody. Pure.

import type { Notice } from '../channels/channel.ts';
import type { Action } from '../model/action.ts';
import { type Alert, type AlertRule, severities } from '../model/alert.ts';
import type { Delivery } from '../model/delivery.ts';
import type { Incident } from '../model/incident.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { DigestFacts } from '../model/outbox.ts';
import type { EpochMs } from '../model/time.ts';
import { actionText } from '../wording/explain.ts';
import { doneTexts, incidentTitle } from '../wording/incidents.ts';
import { counted, timeText } from '../wording/phrases.ts';

export interface DigestPicture {
  readonly since: EpochMs;
  readonly now: EpochMs;
  readonly timeZone: string;
  readonly mailboxes: Iterable<MailboxState>;
  readonly alerts: Iterable<Alert>;
  /** Those that go on, and those that ended lately. */
  readonly incidents: readonly Incident[];
  /** Channels with messages that wait, and how many. */
  readonly waiting: readonly { readonly name: string; readonly pending: number }[];
}

/** Lines of one section; the page has the rest. */
const maxLines = 10;

/** Alerts that say that nothing is known; all others say what is. */
const blindRules: readonly AlertRule[] = [
  'api_down',
  'key_rejected',
  'guard_blind',
  'stale_data',
  'measurement_stale',
  'mailbox_missing',
  'mailbox_list_short',
];

/** The message, also when there is nothing to report: that it comes says that somebody watches. */
export function digestOf({ actions, undelivered }: DigestFacts, picture: DigestPicture): Notice {
  const { now } = picture;
  const firing = [...picture.alerts].filter(({ status }) => status === 'firing').sort(byWeight);
  const blind = firing.filter(({ rule }) => blindRules.includes(rule));
  const risks = firing.filter(({ rule }) => !blindRules.includes(rule));
  const unjudged = [...picture.mailboxes].filter(({ verdict }) => verdict === null).length;
  const failed = undelivered.map((delivery) => undeliveredText(delivery, picture.timeZone));
  const late = [...failed, ...picture.waiting.map(waitingText)];
  const titles = (alerts: readonly Alert[]) => alerts.map(({ facts, severity }) => `${severity}: ${facts.title}`);
  const incidents = picture.incidents
    .filter(({ endedAt }) => endedAt === null || endedAt >= picture.since)
    .map((incident) => incidentText(incident, picture.timeZone));
  const unknown = [
    ...(unjudged > 0 ? [`${counted(unjudged, 'mailbox', 'mailboxes')} not judged yet`] : []),
    ...titles(blind),
  ];
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: picture.timeZone, day: 'numeric', month: 'long' }).format(
    now,
  );
  const counts = [`${actions.length} done`, `${risks.length} at risk`, `${blind.length + unjudged} unknown`];
  return {
    name: 'digest',
    title: `Warmwarden on ${day}: ${[...counts, `${late.length} undelivered`].join(', ')}`,
    at: now,
    sections: [
      { heading: 'The fleet', lines: [fleetText([...picture.mailboxes])] },
      {
        heading: 'What was done',
        lines: shortened(
          actions.map((action) => doneText(action, now, picture.timeZone)),
          'Nothing.',
        ),
      },
      ...(incidents.length === 0 ? [] : [{ heading: 'Incidents', lines: shortened(incidents, 'None.') }]),
      { heading: 'At risk', lines: shortened(titles(risks), 'Nothing.') },
      { heading: 'Unknown', lines: shortened(unknown, 'Nothing: every mailbox is judged.') },
      { heading: 'Undelivered messages', lines: shortened(late, 'None.') },
    ],
  };
}

function incidentText(incident: Incident, zone: string): string {
  const { endedAt, members, severity } = incident;
  const lead = endedAt === null ? severity : 'ended';
  return [`${lead}: ${incidentTitle(incident, members, zone)}.`, ...doneTexts(members)].join(' ');
}

function fleetText(mailboxes: readonly MailboxState[]): string {
  const claimed = (kind: string) => mailboxes.filter(({ memory }) => memory?.claim?.kind === kind).length;
  const total = counted(mailboxes.length, 'mailbox', 'mailboxes');
  return `${total}, of which Warmwarden has ${claimed('recovery')} in recovery and ${claimed('pause')} paused.`;
}

function doneText(action: Action, now: EpochMs, zone: string): string {
  const who = action.by ? ` (${action.by.name})` : '';
  return `${action.email}${who}: ${actionText(action, now, zone)}`;
}

function undeliveredText({ channel, title, detail, settledAt, createdAt }: Delivery, zone: string): string {
  const why = detail ? `: ${detail}` : '';
  return `${channel}, undelivered since ${timeText(settledAt ?? createdAt, zone)}: ${title}${why}`;
}

function waitingText({ name, pending }: { readonly name: string; readonly pending: number }): string {
  return `${name}: ${counted(pending, 'message is', 'messages are')} waiting`;
}

function shortened(lines: readonly string[], none: string): readonly string[] {
  if (lines.length === 0) return [none];
  const more = lines.length - maxLines;
  return more > 0 ? [...lines.slice(0, maxLines), `and ${more} more: see the page.`] : lines;
}

function byWeight(one: Alert, other: Alert): number {
  return severities.indexOf(one.severity) - severities.indexOf(other.severity) || other.since - one.since;
}
