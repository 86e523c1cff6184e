// The outbox in memory, for tests of notifications: what the store promises, without a database.
import type { Announcement, Transition } from '../../src/core/alert.ts';
import {
  type Delivery,
  type DeliveryEvent,
  deliveryAfter,
  pendingDelivery,
  publicState,
  type StoredTransition,
} from '../../src/core/delivery.ts';
import type { DigestFacts } from '../../src/core/records.ts';
import type { NotifiedOutage, StoreTrouble } from '../../src/core/store-failure.ts';
import type { Outbox, OutboxStore } from '../../src/outbox/outbox-store.ts';

export interface MemoryOutbox extends OutboxStore {
  /** What a tick's commit would do. */
  commit(transitions: readonly Transition[]): void;
  deliveries(): readonly Delivery[];
  unnotified(): number;
  /** What digests are made of. */
  facts: DigestFacts;
  /** Set, every verb fails with it. */
  broken: Error | null;
  /** What a person is to do. */
  remedy: string;
  /** Set, nothing is reached, until something is written again. */
  away: Error | null;
  /** Set, every verb that writes fails with it, as on a full disk. */
  full: Error | null;
  /** What lies beside the store, whatever becomes of it. */
  outageNote: NotifiedOutage | null;
  /** Another process opens it. */
  restart(): void;
}

/** `outageNote`: what another store left beside it. */
export function memoryOutbox(outageNote: NotifiedOutage | null = null): MemoryOutbox {
  const transitions: (StoredTransition & { notified: boolean })[] = [];
  const deliveries = new Map<string, Delivery>();
  const announcements = new Map<string, Announcement>();
  const groups = new Map<string, number>();
  let sequence = 0;
  let digested: number | null = null;
  let outageEnded: number | null = null;
  const pending = () => [...deliveries.values()].filter((delivery) => publicState(delivery) === 'pending');
  const move = (id: string, event: DeliveryEvent) => {
    const delivery = deliveries.get(id);
    if (!delivery) throw new Error(`there is no delivery ${id}`);
    deliveries.set(id, deliveryAfter(delivery, event));
  };
  let trouble: StoreTrouble = { failures: 0, newest: null, isOver: true };
  let noticed = () => {};
  const fail = (said: string, untilWritten: boolean) => {
    const newest = { said, remedy: store.remedy, lasting: false, untilWritten, mayPass: untilWritten };
    trouble = { failures: trouble.failures + 1, newest, isOver: false };
    noticed();
  };
  const throwing = (error: Error | null) => {
    if (!error) return;
    fail(error.message, error === store.away);
    throw error;
  };
  const check = () => throwing(store.away ?? store.broken);
  const checkWrite = () => {
    throwing(store.away ?? store.broken ?? store.full);
    trouble = { ...trouble, isOver: true };
  };
  const outbox: Outbox = {
    unnotifiedTransitions: async (limit) => {
      check();
      return transitions.filter(({ notified }) => !notified).slice(0, limit);
    },
    loadNotificationLog: async () => {
      check();
      return {
        announcements: [...announcements.values()],
        groups: [...groups].map(([group, at]) => ({ group, at })),
      };
    },
    recordDeliveries: async ({ transitionIds, deliveries: made, notificationLog, now }) => {
      checkWrite();
      for (const one of notificationLog?.announced ?? []) announcements.set(one.fingerprint, one);
      for (const fingerprint of notificationLog?.ended ?? []) announcements.delete(fingerprint);
      for (const group of notificationLog?.groups ?? []) groups.set(group, now);
      for (const id of transitionIds) {
        const stored = transitions[id - 1];
        if (!stored || stored.notified) throw new Error(`transition ${id} was notified already`);
        stored.notified = true;
      }
      for (const delivery of made) {
        if (deliveries.has(delivery.id)) throw new Error(`delivery ${delivery.id} exists`);
        sequence += 1;
        deliveries.set(delivery.id, pendingDelivery(delivery, now, sequence));
      }
    },
    pendingDeliveries: async (channel, limit) => {
      check();
      return pending()
        .filter((delivery) => delivery.channel === channel)
        .slice(0, limit);
    },
    digestedUntil: async () => digested,
    digestFacts: async () => store.facts,
    recordDigest: async ({ deliveries: made, until }) => {
      await outbox.recordDeliveries({ transitionIds: [], deliveries: made, now: until });
      digested = until;
    },
    beginDelivery: async (id, now) => {
      checkWrite();
      move(id, { kind: 'begun', at: now });
    },
    undelivered: async ({ channel, delivery: wanted }) => {
      check();
      return [...deliveries.values()].filter(
        (one) => one.state === 'dead' && (channel ?? one.channel) === one.channel && (wanted ?? one.id) === one.id,
      );
    },
    resendDeliveries: async (ids, now) => {
      checkWrite();
      const again = [...deliveries.values()].filter(({ id, state }) => state === 'dead' && ids.includes(id));
      for (const { id } of again) move(id, { kind: 'resent', at: now });
      const names = [...new Set(again.map((one) => one.channel))];
      return names.map((name) => ({ channel: name, count: again.filter((one) => one.channel === name).length }));
    },
    settleDelivery: async (id, settlement) => {
      checkWrite();
      move(id, settlement);
    },
    outboxState: async () => {
      check();
      const dead = [...deliveries.values()].filter(({ state }) => state === 'dead');
      const channels = new Set([...pending(), ...dead].map(({ channel }) => channel));
      return [...channels].map((channel) => {
        const waiting = pending().filter((delivery) => delivery.channel === channel);
        const undelivered = dead.filter((delivery) => delivery.channel === channel).length;
        return { channel, pending: waiting.length, oldestPendingAt: waiting[0]?.createdAt ?? null, undelivered };
      });
    },
  };
  const store: MemoryOutbox = {
    outbox,
    broken: null,
    away: null,
    remedy: 'Free space on the disk.',
    full: null,
    outageNote,
    restart: () => {
      store.broken = null;
      store.full = null;
      trouble = { failures: 0, newest: null, isOver: true };
    },
    // A full disk is read all the same.
    outage: async () => (store.outageNote?.alert.firingAt === outageEnded ? null : store.outageNote),
    keepOutage: async (outage) => {
      store.outageNote = outage;
      return true;
    },
    keepStops: () => {},
    endOutage: async ({ transitions: added }, begunAt) => {
      checkWrite();
      store.commit(added);
      outageEnded = begunAt;
      store.outageNote = null;
    },
    facts: { actions: [], undelivered: [] },
    commit: (added) => {
      for (const transition of added) transitions.push({ id: transitions.length + 1, transition, notified: false });
    },
    deliveries: () => [...deliveries.values()],
    unnotified: () => transitions.filter(({ notified }) => !notified).length,
    recordAlerts: async ({ transitions: added }) => {
      checkWrite();
      store.commit(added);
    },
    get trouble() {
      return trouble;
    },
    onTrouble: (listener) => {
      noticed = listener;
    },
    forgetTrouble: () => {
      trouble = { ...trouble, newest: null, isOver: true };
    },
    // It writes something else than what failed, which proves that the store is there, and no more.
    proveWritable: async () => {
      const { isOver, newest } = trouble;
      checkWrite();
      trouble = { ...trouble, isOver: isOver || newest?.untilWritten === true };
    },
  };
  return store;
}
