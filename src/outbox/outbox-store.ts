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
  recordAlerts(changes: AlertChanges): Promise<void>;
  keepOutage(outage: NotifiedOutage): Promise<boolean>;
  keepStops(stops: readonly WritesOff[]): void;
  outage(): Promise<NotifiedOutage | null>;
  endOutage(changes: AlertChanges, begunAt: EpochMs): Promise<void>;
  readonly trouble: StoreTrouble;
  forgetTrouble(): void;
  onTrouble(listener: () => void): void;
  proveWritable(now: EpochMs): Promise<void>;
}

export interface Outbox {
  loadNotificationLog(): Promise<NotificationLog>;
  unnotifiedTransitions(limit: number): Promise<readonly StoredTransition[]>;
  recordDeliveries(record: DeliveryRecord): Promise<void>;
  pendingDeliveries(channel: string, limit: number): Promise<readonly Delivery[]>;
  settleDelivery(id: string, settlement: DeliverySettlement): Promise<void>;
  /** Before an attempt of a channel that sends once: the next process sees this after a crash. */
  beginDelivery(id: string, now: EpochMs): Promise<void>;
  undelivered(which: WhichUndelivered): Promise<readonly { readonly id: string; readonly channel: string }[]>;
  resendDeliveries(
    ids: readonly string[],
    now: EpochMs,
  ): Promise<readonly { readonly channel: string; readonly count: number }[]>;
  digestedUntil(): Promise<EpochMs | null>;
  digestFacts(since: EpochMs): Promise<DigestFacts>;
  recordDigest(record: { readonly deliveries: readonly NewDelivery[]; readonly until: EpochMs }): Promise<void>;
  /** Backlog of every channel with pending messages, or with messages given up since `deadSince`, configured or not. */
  outboxState(deadSince: EpochMs): Promise<readonly OutboxCount[]>;
}

export interface NotifyParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
}

/** Parts of a step that records something for channels. */
export interface RecordingParts extends NotifyParts {
  readonly channels: () => readonly Channel[];
  readonly recorded: () => void;
}

/** Shows the changes once they are recorded. Rejects if the store can't be written. */
export async function recordAlerts(
  {
    store,
    fleet,
    recorded,
  }: Pick<RecordingParts, 'fleet' | 'recorded'> & { readonly store: Pick<OutboxStore, 'recordAlerts'> },
  changes: AlertChanges,
): Promise<void> {
  if (changes.changed.length + changes.dropped.length + changes.transitions.length === 0) return;
  await store.recordAlerts(changes);
  fleet.putAlerts(changes);
  if (changes.transitions.length > 0) recorded();
}
