// What the outbox and the store say to one another: what people know, what is to be sent, and what came of it.
import type { Action } from './action.ts';
import type { Announcement } from './alert.ts';
import type { Delivery, NewDelivery } from './delivery.ts';
import type { Incident } from './incident.ts';
import type { EpochMs } from './time.ts';

/** What is remembered over a restart of what people were notified of. */
export interface NotificationLog {
  readonly announcements: readonly Announcement[];
  /** When each group was sent last. */
  readonly groups: readonly { readonly group: string; readonly at: EpochMs }[];
}

/** What one look at the transitions changes in it. */
export interface NotificationLogChanges {
  readonly announced: readonly Announcement[];
  /** Fingerprints whose alert ended; none of those that are announced: the two are written in any order, and in pieces. */
  readonly ended: readonly string[];
  /** Groups that are sent now. */
  readonly groups: readonly string[];
}

/** What one look at the transitions led to. */
export interface DeliveryRecord {
  /** Settled from now on, whether or not any channel wanted them. */
  readonly transitionIds: readonly number[];
  readonly deliveries: readonly NewDelivery[];
  /** Absent for a message that is about no alert. */
  readonly notificationLog?: NotificationLogChanges;
  /** Incidents as they are from now on; absent when none changed. */
  readonly incidents?: readonly Incident[];
  readonly now: EpochMs;
}

/** How much a channel has yet to send. */
export interface OutboxCount {
  readonly channel: string;
  readonly pending: number;
  /** When the oldest of them was made; null when there is none. */
  readonly oldestPendingAt: EpochMs | null;
  /** Given up since the moment that was asked for. */
  readonly undelivered: number;
}

/** What happened since a digest. */
export interface DigestFacts {
  /** Settled since then, oldest first. */
  readonly actions: readonly Action[];
  /** Given up since then, oldest first. */
  readonly undelivered: readonly Delivery[];
}
