// What the notifier needs of the store, which implements it. Each verb that writes is a transaction of its own.
import type { AlertChanges } from '../model/alert.ts';
import type { Delivery, NewDelivery, StoredTransition, WhichUndelivered } from '../model/delivery.ts';
import type { DeliverySettlement } from '../model/delivery-transition.ts';
import type { DeliveryRecord, DigestFacts, NotificationLog, OutboxCount } from '../model/outbox.ts';
import type { NotifiedOutage, StoreTrouble } from '../model/store-failure.ts';
import type { EpochMs } from '../model/time.ts';
import type { WritesOff } from '../model/write-scope.ts';

export interface OutboxStore {
  readonly outbox: Outbox;
  /** Alerts about the channels and the store themselves. */
  recordAlerts(changes: AlertChanges): Promise<void>;
  /** Beside the store, which may take nothing: people are being notified that it fails. False when that can't be written either. */
  keepOutage(outage: NotifiedOutage): Promise<boolean>;
  /** Beside the store: the emergency stops in force while it fails, in case the next process has another one; null: it works. */
  keepStops(stops: readonly WritesOff[] | null): void;
  /** What an earlier process kept, and nobody ended; null when there is nothing. */
  outage(): Promise<NotifiedOutage | null>;
  /** One transaction: the alert's end, and that the outage of that beginning is over. */
  endOutage(changes: AlertChanges, begunAt: EpochMs): Promise<void>;
  /** What failed since the store was opened, of whatever was read or written by anyone. */
  readonly trouble: StoreTrouble;
  /** Nothing has failed for long: what failed before counts no more. */
  forgetTrouble(): void;
  /** Called after each failure. There is one listener. */
  onTrouble(listener: () => void): void;
  /** Writes something. Rejects when it can't. */
  proveWritable(now: EpochMs): Promise<void>;
}

export interface Outbox {
  /** What people know, as the last process left it. */
  loadNotificationLog(): Promise<NotificationLog>;
  /** Transitions that no delivery was made of, by id, at most `limit`. */
  unnotifiedTransitions(limit: number): Promise<readonly StoredTransition[]>;
  /** Marks the transitions as notified, remembers what people know, and writes the deliveries, due at once, each channel's in the order given. */
  recordDeliveries(record: DeliveryRecord): Promise<void>;
  /** Pending deliveries of a channel in order of sequence, also those that are not due yet. */
  pendingDeliveries(channel: string, limit: number): Promise<readonly Delivery[]>;
  /** Counts the attempt and keeps its outcome. */
  settleDelivery(id: string, settlement: DeliverySettlement): Promise<void>;
  /** Before an attempt of a channel that sends once: after a crash it is found begun. */
  beginDelivery(id: string, now: EpochMs): Promise<void>;
  /** Deliveries that were given up. */
  undelivered(which: WhichUndelivered): Promise<readonly { readonly id: string; readonly channel: string }[]>;
  /** Of these, those that were given up are pending again, with their ids and bytes. How many, by channel. */
  resendDeliveries(
    ids: readonly string[],
    now: EpochMs,
  ): Promise<readonly { readonly channel: string; readonly count: number }[]>;
  /** Until when the newest digest reached; null: there was none. */
  digestedUntil(): Promise<EpochMs | null>;
  /** What happened since then. */
  digestFacts(since: EpochMs): Promise<DigestFacts>;
  /** The digest's deliveries, due at once, and until when it reached. */
  recordDigest(record: { readonly deliveries: readonly NewDelivery[]; readonly until: EpochMs }): Promise<void>;
  /** One entry for every channel with something pending, or given up since `deadSince`, configured or not. */
  outboxState(deadSince: EpochMs): Promise<readonly OutboxCount[]>;
}
