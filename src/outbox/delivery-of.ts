// A message as a delivery for one channel: rendered, and named so that it is the same however often it is made.

import { createHash } from 'node:crypto';
import type { EarlyStep } from '../alerts/engine.ts';
import type { GroupMessage } from '../alerts/grouping.ts';
import { announcementOf, type Routed } from '../alerts/notifications.ts';
import { namedAtTheEnd } from '../alerts/quiet-ends.ts';
import { isPause, pauseAnnouncement, pauseFingerprint } from '../alerts/routing.ts';
import type { Channel, Rendered } from '../channels/channel.ts';
import type { Announcement } from '../core/alert.ts';
import type { NewDelivery } from '../core/delivery.ts';
import type { NotificationLogChanges } from '../core/outbox.ts';
import type { EpochMs } from '../core/time.ts';
import type { Log } from '../world/world.ts';
import type { IncidentNews } from './incidents.ts';

/** null: the channel has nothing to say of it, or can't write it down, which the log says. */
export function deliveryOf(channel: Channel, message: GroupMessage, log: Log): NewDelivery | null {
  const rendered = rendering(channel, message, log);
  if (!rendered) return null;
  const { group, transitions, at, incident } = message;
  const { payload, title } = rendered;
  const steps = createHash('sha256');
  const named = createHash('sha256');
  for (const { kind, at: of, alert } of transitions) {
    steps.update(`${kind} ${of} ${alert.fingerprint},`);
    named.update(`${alert.fingerprint},`);
  }
  const id = deliveryId([channel.name, group, String(at), steps.digest('base64url'), payload]);
  // The end of a pause waits behind the pause.
  const fingerprints = transitions.flatMap((one) =>
    isPause(one) ? [one.alert.fingerprint, pauseFingerprint(one.alert)] : [one.alert.fingerprint],
  );
  const reminds = transitions.length > 0 && transitions.every(({ kind }) => kind === 'reminder');
  const first = [
    ...(reminds ? [`${reminderPrefix}${named.digest('base64url')}`] : []),
    // What is said of an incident keeps its order, whatever else is said with it.
    ...(incident ? [`incident|${incident.id}`] : []),
  ];
  return { id, channel: channel.name, group, payload, title, alerts: [...first, ...fingerprints] };
}

/** A channel that can't write a message down must not keep the others from getting theirs. */
function rendering(channel: Channel, message: GroupMessage, log: Log): Rendered | null {
  try {
    return channel.render(message);
  } catch (error) {
    const { group } = message;
    log.error({ channel: channel.name, group, err: error }, 'A message could not be composed and is undelivered.');
    return null;
  }
}

const reminderPrefix = 'reminder|';

/** Among the alerts of a message that only reminds people of them, what is the same for the same alerts; undefined for any other. */
export function reminderAmong(alerts: readonly string[]): string | undefined {
  return alerts[0]?.startsWith(reminderPrefix) ? alerts[0] : undefined;
}

/** The same for the same message however often it is made, and no other's: also of two installations with one receiver. */
export function deliveryId(parts: readonly string[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`;
}

// What people know once the messages of a look are made: what was announced to whom, and what is over.

export interface RoutedGroup {
  readonly group: string;
  readonly news: readonly Routed[];
  /** The group is an incident. */
  readonly inIncident: boolean;
}

/** What one look announces. */
interface LookAnnouncements {
  readonly groups: readonly RoutedGroup[];
  /** Before its group. */
  readonly early: readonly EarlyStep[];
  /** News only to channels that were not notified of it when it fired. */
  readonly late: readonly Routed[];
  readonly incidents: readonly IncidentNews[];
}

interface KnownBefore {
  /** What people knew before, by fingerprint. */
  readonly before: ReadonlyMap<string, Announcement>;
  readonly now: EpochMs;
  /** Channels that follow pauses. */
  readonly followers: readonly string[];
}

export function notificationLogAfter(
  { groups, early, late, incidents }: LookAnnouncements,
  { before, now, followers }: KnownBefore,
): NotificationLogChanges {
  // By fingerprint: what is said of an alert last is what people know.
  const known = new Map<string, Announcement>();
  const put = (one: Announcement | null) => {
    if (one) known.set(one.fingerprint, one);
  };
  for (const { announcement } of early) put(announcement);
  for (const { news, inIncident } of groups) {
    const told = { announced: before, at: now, inIncident };
    for (const one of news) put(announcementOf(one, told));
  }
  for (const { outlasting, messages } of incidents) {
    const readers = messages.filter(({ message }) => message.incident !== null).map(({ channel }) => channel);
    for (const alert of outlasting)
      put(namedAtTheEnd(alert, known.get(alert.fingerprint) ?? before.get(alert.fingerprint), readers));
  }
  const ended = new Set<string>();
  for (const { news } of groups)
    for (const { transition } of news) {
      if (transition.kind === 'resolved') ended.add(transition.alert.fingerprint);
    }
  // It may have ended after an incident named it as still so.
  for (const fingerprint of ended) known.delete(fingerprint);
  // A mailbox may be paused again in the look in which its last pause ends: that one is known in its place.
  const plain = groups.filter(({ inIncident }) => !inIncident);
  for (const { news } of followers.length > 0 ? plain : []) for (const one of news) put(followed(one, followers, now));
  for (const one of late) {
    // The next reminder comes when it is due for those who knew it first.
    const at = before.get(one.transition.alert.fingerprint)?.at ?? now;
    put(announcementOf(one, { announced: before, at, inIncident: false }));
  }
  const sent = plain.flatMap(({ group, news }) => (news.some(({ to }) => to.length > 0) ? [group] : []));
  const over = [...ended].filter((fingerprint) => !known.has(fingerprint));
  return { announced: [...known.values()], ended: over, groups: sent };
}

/** That the channels which follow pauses were notified of one; null for what is none, and where none of them was. */
function followed({ transition, to }: Routed, followers: readonly string[], at: EpochMs): Announcement | null {
  const channels = followers.filter((name) => to.includes(name));
  return channels.length > 0 && isPause(transition) ? pauseAnnouncement(transition, { channels, at }) : null;
}
