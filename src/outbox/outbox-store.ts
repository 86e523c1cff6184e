// What the notifier needs of the store, which implements it. Each verb that writes is a transaction of its own.
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
import type { DeliveryRecord, DigestFacts, NotificationLog, OutboxCount } from '../core/outbox.ts';
import type { NotifiedOutage, StoreTrouble } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { WritesOff } from '../core/write-scope.ts';
import type { World } from '../world/world.ts';

export interface OutboxStore {
  readonly outbox: Outbox;
  /** Alerts about the channels and the store themselves. */
  recordAlerts(changes: AlertChanges): Promise<void>;
  /** Notes beside the store, which may take nothing, that people are being notified of its failure. Returns false if that can't be written either. */
  keepOutage(outage: NotifiedOutage): Promise<boolean>;
  /** Notes the emergency stops in force beside the store, for a next process that finds the store lost. */
  keepStops(stops: readonly WritesOff[]): void;
  /** What people were notified of by an earlier process, or null if they were notified of its end, too. */
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

// What was found about alerts: committed, then shown, then passed on.

interface AlertRooms {
  readonly store: { recordAlerts(changes: AlertChanges): Promise<void> };
  readonly fleet: Pick<Fleet, 'putAlerts'>;
  /** Called after something was recorded that people may be notified of. */
  readonly recorded: () => void;
}

/** Does nothing when nothing changed. Rejects when the store can't be written: then nothing is shown. */
export async function recordAlerts({ store, fleet, recorded }: AlertRooms, changes: AlertChanges): Promise<void> {
  if (changes.changed.length + changes.dropped.length + changes.transitions.length === 0) return;
  await store.recordAlerts(changes);
  fleet.putAlerts(changes);
  if (changes.transitions.length > 0) recorded();
}

// What the parts of the notifier are given.

export interface NotifyParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
}

/** Of a part that records something for channels. */
export interface RecordingParts extends NotifyParts {
  /** Configured at that moment. */
  readonly channels: () => readonly Channel[];
  /** Called after something was recorded; `critical`: names of the channels that get a critical alert by it. */
  readonly recorded: (critical?: ReadonlySet<string>) => void;
}
