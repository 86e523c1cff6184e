// A message as a delivery for one channel: rendered, and with an id that is the same in every run.

import { createHash } from 'node:crypto';
import type { EarlyStep } from '../alerts/engine.ts';
import { type GroupMessage, namedAtTheEnd } from '../alerts/grouping.ts';
import { announcementOf, type Routed } from '../alerts/notifications.ts';
import type { Channel, Rendered } from '../channels/channel.ts';
import type { Announcement } from '../core/alert.ts';
import type { NewDelivery } from '../core/delivery.ts';
import type { NotificationLogChanges } from '../core/records.ts';
import type { EpochMs } from '../core/time.ts';
import type { Log } from '../world/world.ts';
import type { IncidentNews } from './incidents.ts';

/**
 * Returns null if the channel does not show the message, or can't render it, which is logged. `shown`: the message as
 * the channel's receiver may read it.
 */
export function deliveryOf(channel: Channel, message: GroupMessage, shown: GroupMessage, log: Log): NewDelivery | null {
  const rendered = rendering(channel, shown, log);
  if (!rendered) return null;
  const { group, transitions, at, incident } = message;
  const { payload, title } = rendered;
  const steps = createHash('sha256');
  for (const { kind, at: of, alert } of transitions) steps.update(`${kind} ${of} ${alert.fingerprint},`);
  const id = deliveryId([channel.name, group, String(at), steps.digest('base64url'), payload]);
  const fingerprints = transitions.map(({ alert }) => alert.fingerprint);
  // Messages about an incident keep their order, whatever alerts they contain.
  const ofIncident = incident ? [`incident|${incident.id}`] : [];
  return { id, channel: channel.name, group, payload, title, alerts: [...ofIncident, ...fingerprints] };
}

/** Renders a message. A channel that can't render it must not keep the message from the others. */
function rendering(channel: Channel, message: GroupMessage, log: Log): Rendered | null {
  try {
    return channel.render(message);
  } catch (error) {
    const { group } = message;
    log.error({ channel: channel.name, group, err: error }, 'A message could not be composed and is undelivered.');
    return null;
  }
}

/** Differs from the id of any other message, also of another installation with the same receiver. */
export function deliveryId(parts: readonly string[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`;
}

export interface RoutedGroup {
  readonly group: string;
  readonly news: readonly Routed[];
  readonly inIncident: boolean;
  /** True if a channel gets the news now: some may wait for the end of a mute time. */
  readonly isSent: boolean;
}

interface LookAnnouncements {
  readonly groups: readonly RoutedGroup[];
  readonly early: readonly EarlyStep[];
  readonly incidents: readonly IncidentNews[];
}

interface KnownBefore {
  readonly before: ReadonlyMap<string, Announcement>;
  readonly now: EpochMs;
}

export function notificationLogAfter(
  { groups, early, incidents }: LookAnnouncements,
  { before, now }: KnownBefore,
): NotificationLogChanges {
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
  // An alert may have ended after an incident named it as still firing.
  for (const fingerprint of ended) known.delete(fingerprint);
  const sent = groups.flatMap(({ group, inIncident, isSent }) => (isSent && !inIncident ? [group] : []));
  return { announced: [...known.values()], ended: [...ended], groups: sent };
}
