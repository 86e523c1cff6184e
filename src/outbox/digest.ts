// A digest: actions since the last one, mailboxes at risk, missing data, and undelivered messages. Pure.

import { alertFor, type PartContext } from '../alerts/client-part.ts';
import { type AlertRoute, audienceIn, audienceOf } from '../alerts/routing.ts';
import type { Notice } from '../channels/channel.ts';
import type { Action } from '../core/action.ts';
import { type Alert, type AlertMatch, matchText } from '../core/alert.ts';
import { ruleBook, severities } from '../core/alert-rules.ts';
import type { Delivery, NewDelivery } from '../core/delivery.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { isCounted, readDays } from '../core/guard/rows.ts';
import type { Incident, IncidentMailbox } from '../core/incident.ts';
import type { MailboxName, MailboxState } from '../core/mailbox.ts';
import { ratePpm } from '../core/policy.ts';
import type { DigestFacts } from '../core/records.ts';
import { dayMs, type EpochMs, minuteMs, utcDate } from '../core/time.ts';
import { actionText, countsAndRate } from '../core/wording/explain.ts';
import { doneTexts, incidentTitle } from '../core/wording/incidents.ts';
import { counted, datesText, numberText, percentText, timeText } from '../core/wording/phrases.ts';
import { cronSchedule, isSameLocalMinute, type Schedule } from '../world/schedule.ts';
import { deliveryId } from './delivery-of.ts';
import type { RecordingParts } from './outbox-store.ts';

const maxLines = 10;
const yearMs = 366 * dayMs;

interface DigestReader extends PartContext {
  readonly fleet: Fleet;
  readonly channel: string;
  readonly match: AlertMatch;
}

/** Makes the message even if there is nothing to report: its arrival shows that the guard works. */
export function digestOf(
  { actions: done, undelivered }: DigestFacts,
  { channel, match, ...context }: DigestReader,
  { since, now }: { readonly since: EpochMs; readonly now: EpochMs },
): Notice {
  const { fleet, routes, zone: timeZone } = context;
  // The digest is about what both its own match and the routes of its channel pick.
  const audiences = [audienceIn([match], fleet), audienceOf(channel, routes, fleet)];
  const sees = (mailbox: MailboxName) => audiences.every((one) => one.sees(mailbox));
  const isClient = audiences.some((one) => one.isClient());
  const isSeen = ({ mailboxId: id, ...of }: Action | IncidentMailbox) => sees({ ...of, id });
  const isShown = (name: string) => !isClient || name === channel;
  const actions = done.filter(isSeen);
  const mailboxes = [...fleet.mailboxes()].filter(sees);
  const waiting = [...fleet.channels()].filter(({ name, pending }) => pending > 0 && isShown(name));
  const firing = [...fleet.alerts()]
    .filter((alert) => alert.status === 'firing' && audiences.every((one) => one.concernOf(alert) !== 'none'))
    .map((alert) => alertFor(channel, alert, context))
    .sort(byWeight);
  const blind = firing.filter(isUnguarded);
  const risks = firing.filter((alert) => !isUnguarded(alert));
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
  const unguarded = [
    ...(unjudged > 0 ? [`Not judged yet, until all is read once: ${counted(unjudged, 'mailbox', 'mailboxes')}`] : []),
    ...titles(blind),
  ];
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long' }).format(now);
  const about = matchText(match);
  const counts = [
    `${counted(actions.length, 'action')}`,
    `${risks.length} at risk`,
    `${blind.length} not guarded`,
    `${unjudged} not judged yet`,
  ];
  return {
    name: 'digest',
    title: `Warmwarden on ${day}${about && ` (${about})`}: ${[...counts, `${late.length} undelivered`].join(', ')}`,
    at: now,
    sections: [
      { heading: 'The fleet', lines: [fleetText(mailboxes), emailsText(mailboxes, { since, now })] },
      {
        heading: 'What was done',
        lines: shortened(
          actions.map((action) => doneText(action, now, timeZone)),
          'Nothing.',
        ),
      },
      ...(incidents.length === 0 ? [] : [{ heading: 'Incidents', lines: shortened(incidents, 'None.') }]),
      { heading: 'At risk', lines: shortened(titles(risks), 'Nothing.') },
      { heading: 'Not guarded', lines: shortened(unguarded, 'Nothing.') },
      { heading: 'Undelivered messages', lines: shortened(late, 'None.') },
    ],
  };
}

/** The bounces of a mailbox are guarded on an old check of DNS or blacklists, but not on old statistics. */
function isUnguarded({ rule, object }: Alert): boolean {
  return ruleBook[rule].isBlind === true && (rule !== 'stale_data' || object === 'statistics');
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

/**
 * `1,240 emails since 13 March, of which 14 bounced: 1.13%. 2 mailboxes have no readable statistics and are not counted.`
 * Statistics older than a day, or with an unreadable day, are known only in part.
 */
function emailsText(mailboxes: readonly MailboxState[], { since, now }: { since: EpochMs; now: EpochMs }): string {
  const first = utcDate(since);
  const readings = mailboxes.map(({ stats }) => {
    const { days, undated } = readDays(stats?.answer.rows ?? [], now);
    const wanted = days.filter(({ date }) => date >= first);
    const known = wanted.filter(isCounted);
    const isRecent = stats !== null && stats.answer.rows !== null && stats.at >= Math.max(since, now - dayMs);
    return { known, isWhole: isRecent && !undated && known.length === wanted.length };
  });
  const read = readings.filter(({ known, isWhole }) => isWhole || known.length > 0);
  const days = read.flatMap(({ known }) => known);
  const sent = days.reduce((sum, day) => sum + day.sent, 0);
  const bounced = days.reduce((sum, day) => sum + day.bounced, 0);
  const rate = ratePpm({ sent, bounced });
  const share = rate === null ? '' : `: ${percentText(rate)}`;
  const emails = `${numberText(sent)} ${sent === 1 ? 'email' : 'emails'} since ${datesText(first, first)}, of which ${numberText(bounced)} bounced${share}.`;
  const left = readings.length - read.length;
  const uncounted = `${counted(left, 'mailbox has', 'mailboxes have')} no readable statistics and ${left === 1 ? 'is' : 'are'} not counted.`;
  const partly = read.filter(({ isWhole }) => !isWhole).length;
  return [
    ...(read.length > 0 || left === 0 ? [emails] : []),
    ...(partly > 0 ? [`${counted(partly, 'mailbox is', 'mailboxes are')} known only in part.`] : []),
    ...(left > 0 ? [uncounted] : []),
  ].join(' ');
}

/** Action with the counts that led to it. */
function doneText(action: Action, now: EpochMs, zone: string): string {
  const { by, kind, email, verdict } = action;
  const why = !by && (kind === 'recovery' || kind === 'pause') ? ` ${countsAndRate(verdict)}.` : '';
  return `${email}${by ? ` (${by.name})` : ''}: ${actionText(action, now, zone)}${why}`;
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

// Sends each digest at its time, and once after a downtime in which it was due. One moment is stored: until it, every
// digest was sent that was due. A digest begins with its own last run before that moment.

export interface DigestSettings {
  readonly match: AlertMatch;
  readonly at: string;
  readonly timeZone: string;
  readonly channels: readonly string[];
}

interface DigesterParts extends RecordingParts {
  readonly settings: () => { readonly digests: readonly DigestSettings[]; readonly routes: readonly AlertRoute[] };
}

export class Digester {
  readonly #parts: DigesterParts;
  #until: EpochMs | null = null;
  #known: readonly DigestSettings[] | null = null;
  #askedUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: DigesterParts) {
    this.#parts = parts;
  }

  async step(): Promise<number> {
    const { digests } = this.#parts.settings();
    const now = this.#parts.world.clock.now();
    this.#until ??= await this.#parts.store.outbox.digestedUntil();
    const until = this.#until;
    const due = until === null ? [] : digests.filter((digest) => this.#isDue(digest, until, now));
    // A digest that a start or a reload adds is not due for the time before.
    if (due.length > 0 || (digests.length > 0 && digests !== this.#known)) {
      const deliveries = until === null ? [] : await this.#deliveries(due, until, now);
      await this.#record(deliveries, now);
    }
    this.#known = digests;
    this.#askedUntil = now;
    const stepMs = Math.min(minuteMs, ...digests.map(({ at, timeZone }) => cronSchedule(at, timeZone).stepMs));
    return stepMs - (now % stepMs);
  }

  #isDue({ at, timeZone }: DigestSettings, until: EpochMs, now: EpochMs): boolean {
    // A clock that was set back leaves a checked time in the future.
    const asked = this.#askedUntil > now ? Number.NEGATIVE_INFINITY : this.#askedUntil;
    const schedule = cronSchedule(at, timeZone);
    const run = schedule.newestRun(Math.max(Math.min(until, now), asked), now);
    return run !== null && !isSameLocalMinute(lastRun(schedule, until), run, timeZone);
  }

  async #deliveries(due: readonly DigestSettings[], until: EpochMs, now: EpochMs): Promise<readonly NewDelivery[]> {
    const { store, fleet, channels } = this.#parts;
    const { routes } = this.#parts.settings();
    const deliveries = new Map<string, NewDelivery>();
    for (const { match, at, timeZone, channels: names } of due) {
      const since = lastRun(cronSchedule(at, timeZone), until);
      const facts = await store.outbox.digestFacts(since);
      for (const channel of channels().filter(({ name }) => names.includes(name))) {
        const reader = { channel: channel.name, match, routes, fleet, zone: timeZone, now };
        const rendered = channel.renderNotice(digestOf(facts, reader, { since, now }));
        const id = deliveryId([channel.name, 'digest', matchText(match), String(now)]);
        if (rendered) deliveries.set(id, { id, channel: channel.name, group: 'digest', alerts: [], ...rendered });
      }
    }
    return [...deliveries.values()];
  }

  async #record(deliveries: readonly NewDelivery[], until: EpochMs): Promise<void> {
    await this.#parts.store.outbox.recordDigest({ deliveries, until });
    this.#until = until;
    if (deliveries.length > 0) this.#parts.recorded();
  }
}

/** Last run before a moment, or the moment itself if there was none in a year. */
function lastRun(schedule: Schedule, until: EpochMs): EpochMs {
  return schedule.newestRun(until - yearMs, until) ?? until;
}
