// Methods of the store that the notifier needs. Each one that writes is a transaction of its own.
import type { Channel } from '../channels/channel.ts';
import type { AlertChanges } from '../core/alert.ts';
import type {
  Delivery,
  DeliverySettlement,
  NewDelivery,
  StoredTransition,
  WhichUndelivered,
} from '../core/delivery.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { DeliveryRecord, DigestFacts, NotificationLog, OutboxCount } from '../core/records.ts';
import type { NotifiedOutage, StoreTrouble } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { WritesOff } from '../core/write-scope.ts';
import type { World } from '../world/world.ts';

export interface OutboxStore {
  readonly outbox: Outbox;
  /** Records alerts about the channels and the store themselves. */
  recordAlerts(changes: AlertChanges): Promise<void>;
  /**
   * Records in a note beside the failing store that people are being notified of its failure. Returns false if the note
   * can't be written either.
   */
  keepOutage(outage: NotifiedOutage): Promise<boolean>;
  /** Writes the emergency stops in force beside the store, for a next process that finds the store lost. */
  keepStops(stops: readonly WritesOff[]): void;
  /** Outage that an earlier process announced, or null if its end was announced, too. */
  outage(): Promise<NotifiedOutage | null>;
  /** Records the alert's end and the end of the outage with that beginning, in one transaction. */
  endOutage(changes: AlertChanges, begunAt: EpochMs): Promise<void>;
  /** Failures of all reads and writes since the store was opened. */
  readonly trouble: StoreTrouble;
  /** Forgets earlier failures, because nothing has failed for long. */
  forgetTrouble(): void;
  /** Called after each failure. There is one listener. */
  onTrouble(listener: () => void): void;
  /** Writes something. Rejects if it can't. */
  proveWritable(now: EpochMs): Promise<void>;
}

export interface Outbox {
  /** Notification log of the last process. */
  loadNotificationLog(): Promise<NotificationLog>;
  /** Transitions without a delivery, by id, at most `limit`. */
  unnotifiedTransitions(limit: number): Promise<readonly StoredTransition[]>;
  /**
   * Marks the transitions as notified, records the announcements, and writes the deliveries, due at once, in the given
   * order for each channel.
   */
  recordDeliveries(record: DeliveryRecord): Promise<void>;
  /** Pending deliveries of a channel in order of sequence, including those that are not due yet. */
  pendingDeliveries(channel: string, limit: number): Promise<readonly Delivery[]>;
  /** Counts the attempt and stores its outcome. */
  settleDelivery(id: string, settlement: DeliverySettlement): Promise<void>;
  /**
   * Marks a delivery as begun, before an attempt of a channel that sends once: the next process sees this after a
   * crash.
   */
  beginDelivery(id: string, now: EpochMs): Promise<void>;
  /** Undelivered messages that match. */
  undelivered(which: WhichUndelivered): Promise<readonly { readonly id: string; readonly channel: string }[]>;
  /** Makes undelivered messages pending again, with their ids and bytes. Returns their number by channel. */
  resendDeliveries(
    ids: readonly string[],
    now: EpochMs,
  ): Promise<readonly { readonly channel: string; readonly count: number }[]>;
  /** End of the newest digest's period, or null if there was none. */
  digestedUntil(): Promise<EpochMs | null>;
  /** Events since a moment. */
  digestFacts(since: EpochMs): Promise<DigestFacts>;
  /** Records the digest's deliveries, due at once, and the end of its period. */
  recordDigest(record: { readonly deliveries: readonly NewDelivery[]; readonly until: EpochMs }): Promise<void>;
  /** Backlog of every channel with pending messages, or with messages given up since `deadSince`, configured or not. */
  outboxState(deadSince: EpochMs): Promise<readonly OutboxCount[]>;
}

// Parts for findings about alerts, which are committed, then shown, then passed on.

interface AlertRooms {
  readonly store: { recordAlerts(changes: AlertChanges): Promise<void> };
  readonly fleet: Pick<Fleet, 'putAlerts'>;
  /** Called after a record that may notify people. */
  readonly recorded: () => void;
}

/**
 * Records changes of alerts, if there are any, then shows them. Rejects if the store can't be written: nothing is shown
 * in that case.
 */
export async function recordAlerts({ store, fleet, recorded }: AlertRooms, changes: AlertChanges): Promise<void> {
  if (changes.changed.length + changes.dropped.length + changes.transitions.length === 0) return;
  await store.recordAlerts(changes);
  fleet.putAlerts(changes);
  if (changes.transitions.length > 0) recorded();
}

// Common parts of the notifier.

export interface NotifyParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
}

/** Parts of a step that records something for channels. */
export interface RecordingParts extends NotifyParts {
  /** Channels configured at the moment of the call. */
  readonly channels: () => readonly Channel[];
  /** Called after a record; `critical`: names of the channels that get a critical alert from it. */
  readonly recorded: (critical?: ReadonlySet<string>) => void;
}
