// The digest: actions since the last one, mailboxes at risk, missing data, and undelivered messages. Pure.

import { type AlertRoute, audienceOf } from '../alerts/routing.ts';
import type { Notice } from '../channels/channel.ts';
import type { Action } from '../core/action.ts';
import type { Alert } from '../core/alert.ts';
import { ruleBook, severities } from '../core/alert-rules.ts';
import type { Delivery, NewDelivery } from '../core/delivery.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { Incident, IncidentMailbox } from '../core/incident.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { DigestFacts } from '../core/records.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { actionText } from '../core/wording/explain.ts';
import { doneTexts, incidentTitle } from '../core/wording/incidents.ts';
import { counted, timeText } from '../core/wording/phrases.ts';
import { cronSchedule, isSameLocalMinute, type Schedule } from '../world/schedule.ts';
import { alertFor, type PartContext } from './client-part.ts';
import { deliveryId } from './delivery-of.ts';
import type { RecordingParts } from './outbox-store.ts';

const maxLines = 10;

/** Makes the message even if there is nothing to report: its arrival shows that the guard works. */
export function digestOf(
  { actions: done, undelivered }: DigestFacts,
  { channel, ...context }: PartContext & { readonly fleet: Fleet; readonly channel: string },
  { since, now }: { readonly since: EpochMs; readonly now: EpochMs },
): Notice {
  const { fleet, routes, zone: timeZone } = context;
  const { sees, concernOf, ...audience } = audienceOf(channel, routes, fleet);
  const isClient = audience.isClient();
  const isSeen = ({ mailboxId: id, ...of }: Action | IncidentMailbox) => sees({ ...of, id });
  const isShown = (name: string) => !isClient || name === channel;
  const actions = done.filter(isSeen);
  const mailboxes = [...fleet.mailboxes()].filter(sees);
  const waiting = [...fleet.channels()].filter(({ name, pending }) => pending > 0 && isShown(name));
  const firing = [...fleet.alerts()]
    .filter((alert) => alert.status === 'firing' && concernOf(alert) !== 'none')
    .map((alert) => alertFor(channel, alert, context))
    .sort(byWeight);
  const blind = firing.filter(({ rule }) => ruleBook[rule].isBlind);
  const risks = firing.filter(({ rule }) => !ruleBook[rule].isBlind);
  const unjudged = mailboxes.filter(({ verdict }) => verdict === null).length;
  const failed = undelivered
    .filter((one) => isShown(one.channel))
    .map((delivery) => undeliveredText(delivery, timeZone));
  const late = [
    ...failed,
    ...waiting.map(({ name, pending }) => `${name}: ${counted(pending, 'message is', 'messages are')} waiting`),
  ];
  const titles = (alerts: readonly Alert[]) => alerts.map(({ facts, severity }) => `${severity}: ${facts.title}`);
  const incidents = fleet
    .incidents()
    .filter(({ endedAt }) => endedAt === null || endedAt >= since)
    .map((incident) => ({ ...incident, members: incident.members.filter(isSeen) }))
    .filter(({ members }) => !isClient || members.length > 0)
    .map((incident) => incidentText(incident, timeZone));
  const unknown = [
    ...(unjudged > 0 ? [`${counted(unjudged, 'mailbox', 'mailboxes')} not judged yet`] : []),
    ...titles(blind),
  ];
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long' }).format(now);
  const counts = [`${actions.length} done`, `${risks.length} at risk`, `${blind.length + unjudged} unknown`];
  return {
    name: 'digest',
    title: `Warmwarden on ${day}: ${[...counts, `${late.length} undelivered`].join(', ')}`,
    at: now,
    sections: [
      { heading: 'The fleet', lines: [fleetText(mailboxes)] },
      {
        heading: 'What was done',
        lines: shortened(
          actions.map((action) => doneText(action, now, timeZone)),
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

function shortened(lines: readonly string[], none: string): readonly string[] {
  if (lines.length === 0) return [none];
  const more = lines.length - maxLines;
  return more > 0 ? [...lines.slice(0, maxLines), `and ${more} more: see the page.`] : lines;
}

function byWeight(one: Alert, other: Alert): number {
  return severities.indexOf(one.severity) - severities.indexOf(other.severity) || other.since - one.since;
}

// Sends the digest at its time, and once after a downtime in which it was due.

export interface DigestSettings {
  readonly at: string;
  readonly timeZone: string;
  readonly channels: readonly string[];
}

interface DigesterParts extends RecordingParts {
  readonly settings: () => { readonly digest: DigestSettings | null; readonly routes: readonly AlertRoute[] };
}

export class Digester {
  readonly #parts: DigesterParts;
  #until: EpochMs | null = null;
  #askedUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: DigesterParts) {
    this.#parts = parts;
  }

  async step(): Promise<number> {
    const { digest: settings } = this.#parts.settings();
    if (!settings) return minuteMs;
    const now = this.#parts.world.clock.now();
    const schedule = cronSchedule(settings.at, settings.timeZone);
    this.#until ??= await this.#parts.store.outbox.digestedUntil();
    // The period of the first digest begins when digests were first configured.
    if (this.#until === null) await this.#record([], now);
    else if (this.#isDue(schedule, this.#until, now) && !isSameLocalMinute(this.#until, now, settings.timeZone)) {
      await this.#record(await this.#deliveries(settings, this.#until, now), now);
    }
    this.#askedUntil = now;
    return schedule.stepMs - (now % schedule.stepMs);
  }

  #isDue(schedule: Schedule, until: EpochMs, now: EpochMs): boolean {
    // A clock that was set back leaves a checked time in the future.
    const asked = this.#askedUntil > now ? Number.NEGATIVE_INFINITY : this.#askedUntil;
    return schedule.dueBetween(Math.max(Math.min(until, now), asked), now);
  }

  async #deliveries(settings: DigestSettings, since: EpochMs, now: EpochMs): Promise<readonly NewDelivery[]> {
    const { store, fleet, channels, world } = this.#parts;
    const { timeZone } = settings;
    const { routes } = this.#parts.settings();
    const facts = await store.outbox.digestFacts(since);
    const readers = channels().filter(({ name }) => settings.channels.includes(name));
    return readers.flatMap((channel) => {
      const reader = { channel: channel.name, routes, fleet, command: world.command, zone: timeZone };
      const rendered = channel.renderNotice(digestOf(facts, reader, { since, now }));
      if (!rendered) return [];
      const id = deliveryId([channel.name, 'digest', String(now)]);
      return [{ id, channel: channel.name, group: 'digest', alerts: [], ...rendered }];
    });
  }

  async #record(deliveries: readonly NewDelivery[], until: EpochMs): Promise<void> {
    await this.#parts.store.outbox.recordDigest({ deliveries, until });
    this.#until = until;
    if (deliveries.length > 0) this.#parts.recorded();
  }
}
