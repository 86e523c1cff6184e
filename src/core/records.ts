// Records that other rooms exchange with the store: notifications, deliveries, budgets of keys, sessions.
import type { Action } from './action.ts';
import type { Announcement } from './alert.ts';
import type { Delivery, NewDelivery } from './delivery.ts';
import type { Incident } from './incident.ts';
import type { EpochMs } from './time.ts';

export interface NotificationLog {
  readonly announcements: readonly Announcement[];
  readonly groups: readonly { readonly group: string; readonly at: EpochMs }[];
}

/** Changes of the notification log by one look at the transitions. */
export interface NotificationLogChanges {
  readonly announced: readonly Announcement[];
  /** Fingerprints whose alert ended; none of those that are announced: the two are written in any order, and in pieces. */
  readonly ended: readonly string[];
  readonly groups: readonly string[];
}

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

export interface OutboxCount {
  readonly channel: string;
  readonly pending: number;
  readonly oldestPendingAt: EpochMs | null;
  /** Given up since the moment that was asked for. */
  readonly undelivered: number;
}

export interface DigestFacts {
  readonly actions: readonly Action[];
  readonly undelivered: readonly Delivery[];
}

// State of an account's rate limit that the next process needs.

/** Budget of a key, by the wall clock. */
export interface BudgetLedger {
  /** Requests a minute, as configured or as the API said, whichever is smaller. */
  readonly limit: number;
  /** Starts of the last 60 s, oldest first. */
  readonly starts: readonly EpochMs[];
  /** Moment of the latest sign of another user of the key, or null if there was none lately. */
  readonly sharedAt: EpochMs | null;
  readonly restraint: Restraint;
}

/** Effects of 429s and failures on a key. */
export interface Restraint {
  /** Moment before which no request starts. */
  readonly keyUntil: EpochMs;
  /** Moments before which no request of a kind starts. */
  readonly kindsUntil: Readonly<Record<string, EpochMs>>;
  /** Waits after 429s of the last hour, oldest first. */
  readonly stops: readonly { readonly at: EpochMs; readonly until: EpochMs }[];
  /** Share of the budget since then. */
  readonly share: number;
}

export interface AccountLedger {
  readonly account: string;
  readonly budget: BudgetLedger;
}

// A browser that signed in with a token. Of the cookie and of the token only digests are kept.

export interface Session {
  /** SHA-256 of the cookie's value, 64 hex digits. */
  readonly id: string;
  /** SHA-256 of the token's name, digest and role, 64 hex digits: another one when any of them changed. */
  readonly token: string;
  readonly startedAt: EpochMs;
  /** Within a few minutes. */
  readonly usedAt: EpochMs;
}

/** Sessions that ended at these moments or earlier, and those beyond `perToken` of one token, are forgotten. */
export interface SessionLimits {
  readonly startedAfter: EpochMs;
  readonly usedAfter: EpochMs;
  readonly perToken: number;
}
