// Sends one channel's deliveries in order of sequence. The first one blocks the rest of its channel, and nothing else.
import type { ChannelState, Fleet } from '../fleet/fleet.ts';
import type { Delivery } from '../model/delivery.ts';
import type { Tally } from '../model/tally.ts';
import type { EpochMs } from '../model/time.ts';
import type { World } from '../world.ts';
import type { Channel, SendResult } from './channel.ts';
import { idleMs } from './collector.ts';
import type { OutboxStore } from './outbox-store.ts';
import { maxRetryAfterMs, settlementOf } from './retry-policy.ts';

export interface SenderParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
  readonly tally: Tally;
}

/** The longest that a receiver may take, real time: also under a moved clock a socket must not hang for ever. */
const sendDeadlineMs = 10_000;

export class Sender {
  readonly #parts: SenderParts;
  readonly #channel: Channel;
  #lastSendAt = Number.NEGATIVE_INFINITY;
  #refused: { readonly id: string; readonly times: number } = { id: '', times: 0 };
  #lastSuccessAt: EpochMs | null = null;
  #failing: { readonly since: EpochMs; readonly detail: string } | null = null;

  constructor(channel: Channel, parts: SenderParts) {
    this.#channel = channel;
    this.#parts = parts;
  }

  /** At most one attempt. Returns how long to wait for the next step, milliseconds. */
  async step(): Promise<number> {
    const [first] = await this.#parts.store.pendingDeliveries(this.#channel.name, 1);
    const wait = first ? this.#waitFor(first) : idleMs;
    if (first && wait <= 0) await this.#attempt(first);
    await this.#show();
    return Math.max(0, wait);
  }

  #waitFor(delivery: Delivery): number {
    const { clock } = this.#parts.world;
    const due = delivery.nextAttemptAt - clock.now();
    const gap = this.#lastSendAt + this.#channel.minGapMs - clock.monotonic();
    // No wait is ever this long: the clock was set back.
    return Math.max(gap, due > maxRetryAfterMs ? 0 : due);
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { world, store, tally } = this.#parts;
    this.#lastSendAt = world.clock.monotonic();
    const result = await world.clock.busy(() => this.#send(delivery));
    const times = this.#refused.id === delivery.id ? this.#refused.times + 1 : 1;
    this.#refused = result.kind === 'refused' ? { id: delivery.id, times } : { id: '', times: 0 };
    const now = world.clock.now();
    const refusals = this.#refused.times;
    const settlement = settlementOf({ delivery, result, refusals, random: world.random(), now });
    await store.settleDelivery(settlement);
    const outcome = { sent: 'sent', pending: 'failed', dead: 'given_up' } as const;
    tally.notification(this.#channel.name, outcome[settlement.state]);
    if (result.kind === 'sent') this.#succeeded(now);
    else this.#failed(now, result.detail);
    if (settlement.state === 'dead') this.#gaveUp(delivery, settlement.detail);
  }

  async #send(delivery: Delivery): Promise<SendResult> {
    try {
      return await this.#channel.send(delivery, AbortSignal.timeout(sendDeadlineMs));
    } catch (error) {
      // A mistake of ours: it must neither stop the channel for ever nor be forgotten.
      this.#parts.world.log.error({ channel: this.#channel.name, name: nameOf(error) }, 'Sending a message broke.');
      return {
        kind: 'refused',
        detail: 'the message could not be sent because of a mistake in Warmwarden',
        retryAfterMs: null,
      };
    }
  }

  #succeeded(now: EpochMs): void {
    this.#lastSuccessAt = now;
    if (!this.#failing) return;
    const failedForSeconds = Math.round((now - this.#failing.since) / 1_000);
    this.#parts.world.log.info({ channel: this.#channel.name, failedForSeconds }, 'The channel takes messages again.');
    this.#failing = null;
  }

  #failed(now: EpochMs, detail: string): void {
    if (!this.#failing) {
      this.#parts.world.log.warn({ channel: this.#channel.name, detail }, 'The channel does not take messages.');
    }
    this.#failing = { since: this.#failing?.since ?? now, detail };
  }

  #gaveUp(delivery: Delivery, detail: string | null): void {
    const { log } = this.#parts.world;
    const { id, title, attempts } = delivery;
    const what = { channel: this.#channel.name, delivery: id, title, attempts: attempts + 1, detail };
    log.error(what, 'A message was given up.');
  }

  /** Puts the channel into the picture that pages and scrapes read. */
  async #show(): Promise<void> {
    const { store, fleet } = this.#parts;
    const { name, type } = this.#channel;
    const count = (await store.outboxState()).find(({ channel }) => channel === name);
    const state: ChannelState = {
      name,
      type,
      pending: count?.pending ?? 0,
      oldestPendingAt: count?.oldestPendingAt ?? null,
      lastSuccessAt: this.#lastSuccessAt,
      lastFailure: this.#failing?.detail ?? null,
    };
    fleet.putChannel(state);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
