// Records that the outbox and the store exchange: notifications, deliveries and their outcomes.
import type { Action } from './action.ts';
import type { Announcement } from './alert.ts';
import type { Delivery, NewDelivery } from './delivery.ts';
import type { Incident } from './incident.ts';
import type { EpochMs } from './time.ts';

/** Notifications that must survive a restart. */
export interface NotificationLog {
  readonly announcements: readonly Announcement[];
  /** Moment at which each group was sent last. */
  readonly groups: readonly { readonly group: string; readonly at: EpochMs }[];
}

/** Changes of the notification log by one look at the transitions. */
export interface NotificationLogChanges {
  readonly announced: readonly Announcement[];
  /** Fingerprints whose alert ended; none of those that are announced: the two are written in any order, and in pieces. */
  readonly ended: readonly string[];
  /** Groups that are sent now. */
  readonly groups: readonly string[];
}

/** Result of one look at the transitions. */
export interface DeliveryRecord {
  /** Settled from now on, whether or not any channel wanted them. */
  readonly transitionIds: readonly number[];
  readonly deliveries: readonly NewDelivery[];
  /** Changes of the notification log. A message about no alert has none. */
  readonly notificationLog?: NotificationLogChanges;
  /** Incidents as they are from now on; absent when none changed. */
  readonly incidents?: readonly Incident[];
  readonly now: EpochMs;
}

/** Backlog of a channel. */
export interface OutboxCount {
  readonly channel: string;
  readonly pending: number;
  /** Creation of the oldest pending delivery, or null if there is none. */
  readonly oldestPendingAt: EpochMs | null;
  /** Given up since the moment that was asked for. */
  readonly undelivered: number;
}

/** Events since the last digest. */
export interface DigestFacts {
  /** Settled since then, oldest first. */
  readonly actions: readonly Action[];
  /** Given up since then, oldest first. */
  readonly undelivered: readonly Delivery[];
}
