// What people know once the messages of a look are made: what was announced to whom, and what is over.
import type { EarlyStep } from '../alert/early-steps.ts';
import { announcementOf, type Routed } from '../alert/notifications.ts';
import { isPause, pauseAnnouncement } from '../alert/pauses.ts';
import { eachInPieces } from '../alert/pieces.ts';
import { namedAtTheEnd } from '../alert/quiet-ends.ts';
import type { Announcement } from '../model/alert.ts';
import type { NotificationLogChanges } from '../model/outbox.ts';
import type { EpochMs } from '../model/time.ts';
import type { IncidentNews } from './incidents.ts';

export interface RoutedGroup {
  readonly group: string;
  readonly news: readonly Routed[];
  /** The group is an incident. */
  readonly inIncident: boolean;
}

/** What one look announces. */
export interface Announced {
  readonly groups: readonly RoutedGroup[];
  /** Before its group. */
  readonly early: readonly EarlyStep[];
  /** News only to channels that were not notified of it when it fired. */
  readonly late: readonly Routed[];
  readonly incidents: readonly IncidentNews[];
}

export interface Known {
  /** What people knew before, by fingerprint. */
  readonly before: ReadonlyMap<string, Announcement>;
  readonly now: EpochMs;
  /** Channels that follow pauses. */
  readonly followers: readonly string[];
  /** Called between pieces of a storm: lets others have a turn. */
  readonly pause: () => Promise<void>;
}

export async function notificationLogAfter(
  { groups, early, late, incidents }: Announced,
  { before, now, followers, pause }: Known,
): Promise<NotificationLogChanges> {
  // By fingerprint: what is said of an alert last is what people know.
  const known = new Map<string, Announcement>();
  const put = (one: Announcement | null) => {
    if (one) known.set(one.fingerprint, one);
  };
  for (const { announcement } of early) put(announcement);
  for (const { news, inIncident } of groups) {
    const told = { announced: before, at: now, inIncident };
    await eachInPieces(news, pause, (one) => put(announcementOf(one, told)));
  }
  for (const { outlasting, messages } of incidents) {
    const readers = messages.filter(({ message }) => message.incident !== null).map(({ channel }) => channel);
    for (const alert of outlasting)
      put(namedAtTheEnd(alert, known.get(alert.fingerprint) ?? before.get(alert.fingerprint), readers));
  }
  const ended = new Set<string>();
  for (const { news } of groups)
    await eachInPieces(news, pause, ({ transition: { kind, alert } }) => {
      if (kind === 'resolved') ended.add(alert.fingerprint);
    });
  // It may have ended after an incident named it as still so.
  for (const fingerprint of ended) known.delete(fingerprint);
  // A mailbox may be paused again in the look in which its last pause ends: that one is known in its place.
  const plain = groups.filter(({ inIncident }) => !inIncident);
  for (const { news } of followers.length > 0 ? plain : [])
    await eachInPieces(news, pause, (one) => put(followed(one, followers, now)));
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
