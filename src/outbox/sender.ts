// Sends one channel's deliveries. A channel that fails delays only its own messages.

import { storeFingerprint } from '../alerts/rules/daemon-rules.ts';
import type { Channel, SendOutcome } from '../channels/channel.ts';
import { type AttemptPatience, attempt } from '../channels/post.ts';
import type { Alert } from '../core/alert.ts';
import type { Delivery } from '../core/delivery.ts';
import type { Tally } from '../core/records.ts';
import type { Log } from '../world/world.ts';
import {
  answered,
  backOffMs,
  ChannelOutbox,
  failedAgain,
  giveUpAfterMs,
  nextDelivery,
  settlementOf,
  untried,
} from './channel-outbox.ts';
import { idleMs } from './collector.ts';
import type { NotifyParts } from './outbox-store.ts';

export interface SenderParts extends NotifyParts {
  readonly tally: Tally;
  /** Absent without a lease. */
  readonly maySend?: () => boolean;
  readonly alwaysMs?: number;
  readonly hasNotified: (alert: Alert) => boolean;
  /** The alert as the channel's receiver may read it, with its links. */
  readonly shown: (alert: Alert) => Alert;
}

const behindMs = 5_000;
const notOursMs = 1_000;
/** Wait before the next look at upkeep: at a start the notification log is not loaded yet. */
const nothingToKeepUpMs = 5_000;

/** Outcome of a channel that sends once: an attempt that may have succeeded is not repeated. */
function lost(because: string): SendOutcome {
  const detail = `${because}; it may have arrived, so Warmwarden does not send it again`;
  return { kind: 'failed', detail, retryAfterMs: null, final: true };
}

export class Sender {
  readonly #parts: SenderParts;
  readonly #channel: Channel;
  readonly #outbox: ChannelOutbox;
  #lastSendAt = Number.NEGATIVE_INFINITY;
  /** Monotonic time until which nothing is sent, because the receiver asked for it. */
  #askedUntil = Number.NEGATIVE_INFINITY;
  /** Monotonic time until which nothing is retried, because the channel failed. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  readonly #refusals = new Map<string, number>();
  /** Consecutive messages that were sent completely and got no answer. */
  #unanswered = 0;
  #isEnding = false;
  #upkeepAt = Number.NEGATIVE_INFINITY;
  #state = untried;

  constructor(channel: Channel, parts: SenderParts) {
    this.#channel = channel;
    this.#parts = parts;
    this.#outbox = new ChannelOutbox(channel.name, parts.store.outbox, parts.world.clock);
  }

  /** Lets the next step retry, because a person asked for it. */
  revive(): void {
    // The wait after a refused set-up is Warmwarden's own; any other is the receiver's Retry-After.
    if (this.#state.refusesSetup) this.#askedUntil = Number.NEGATIVE_INFINITY;
    this.#restsUntil = Number.NEGATIVE_INFINITY;
  }

  end(): void {
    this.#isEnding = true;
  }

  async step(): Promise<number> {
    const { clock } = this.#parts.world;
    if (this.#outbox.isBehind) await this.#outbox.catchUp();
    const open = Math.max(this.#lastSendAt + this.#channel.minGapMs, this.#askedUntil) - clock.monotonic();
    const wait = open <= 0 ? await this.#take() : open;
    await this.#show();
    return Math.max(0, Math.min(wait, this.#outbox.isBehind ? behindMs : idleMs));
  }

  async #take(): Promise<number> {
    const { world } = this.#parts;
    const now = world.clock.monotonic();
    const toUpkeep = this.#channel.upkeep ? this.#upkeepAt - now : Number.POSITIVE_INFINITY;
    if (toUpkeep <= 0) {
      await this.#keepUp();
      return 0;
    }
    const pending = (await this.#outbox.contents()).pending.filter((delivery) => !this.#isUntimely(delivery));
    const patience = { now: world.clock.now(), restMs: this.#restsUntil - now };
    const { delivery, waitMs } = nextDelivery(pending, patience);
    if (!delivery) return Math.min(waitMs, toUpkeep);
    // The lease is checked right before the attempt, since the outbox may have been read long before.
    if (this.#parts.maySend?.() === false) return notOursMs;
    const outcome = await this.#attempt(delivery);
    const others = pending.filter(({ id }) => id !== delivery.id);
    if (outcome.kind === 'failed' && outcome.setup) await this.#giveUpOld(others, outcome.detail);
    return Math.min(waitMs, toUpkeep);
  }

  /** True for a message that the store works again, while the store fails once more. A digest is about no alert. */
  #isUntimely({ alerts }: Delivery): boolean {
    const isOfStore = alerts.length > 0 && alerts.every((name) => name === storeFingerprint);
    if (!isOfStore) return false;
    return this.#parts.fleet.alert(storeFingerprint)?.status === 'firing';
  }

  async #attempt(delivery: Delivery): Promise<SendOutcome> {
    const { world, tally } = this.#parts;
    const outcome = await this.#outcomeOf(delivery);
    const refusals = outcome.kind === 'refused' ? (this.#refusals.get(delivery.id) ?? 0) + 1 : 0;
    const now = world.clock.now();
    const random = world.random();
    const settlement = settlementOf({ delivery, outcome, refusals, random, now });
    await this.#outbox.settle(delivery.id, settlement);
    const isPending = settlement.kind === 'failed' || settlement.kind === 'accepted';
    if (refusals > 0 && isPending) this.#refusals.set(delivery.id, refusals);
    else this.#refusals.delete(delivery.id);
    this.#onOutcome(outcome, random);
    if (settlement.kind !== 'accepted') tally.notification(this.#channel.name, settlement.kind);
    if (settlement.kind === 'undelivered') this.#gaveUp(delivery, settlement.detail);
    if (outcome.kind === 'unanswered') {
      const { id, title } = delivery;
      const what = { channel: this.#channel.name, delivery: id, title, detail: outcome.detail };
      world.log.warn(
        what,
        'A message was sent without an answer: Warmwarden counts it as sent, and does not send it again.',
      );
    }
    return outcome;
  }

  /** Gives up the messages older than a day behind one whose set-up was refused: the refusal applies to them, too. */
  async #giveUpOld(others: readonly Delivery[], detail: string): Promise<void> {
    const { world, tally } = this.#parts;
    const at = world.clock.now();
    for (const delivery of others) {
      if (delivery.state !== 'pending' || at - delivery.createdAt < giveUpAfterMs) continue;
      await this.#outbox.settle(delivery.id, { kind: 'undelivered', detail, at });
      tally.notification(this.#channel.name, 'undelivered');
      this.#gaveUp(delivery, detail);
    }
  }

  async #outcomeOf(delivery: Delivery): Promise<SendOutcome> {
    const { world, store } = this.#parts;
    if (this.#channel.once) {
      if (delivery.state === 'begun') return lost('Warmwarden ended while it was sending');
      if (delivery.state === 'pending') await store.outbox.beginDelivery(delivery.id, world.clock.now());
    }
    this.#lastSendAt = world.clock.monotonic();
    return world.clock.busy(() => this.#guarded((signal) => this.#channel.send(delivery, signal)));
  }

  /** Sends the firing alerts to a receiver that forgets them. A failure is the channel's, and loses no message. */
  async #keepUp(): Promise<void> {
    const { world, fleet, hasNotified, shown } = this.#parts;
    const { upkeep } = this.#channel;
    if (!upkeep) return;
    const notified = [...fleet.alerts()].filter((alert) => alert.status === 'firing' && hasNotified(alert));
    const firing = notified.map(shown);
    const outcome = await world.clock.busy(() => this.#guarded((signal) => upkeep.send(firing, signal)));
    this.#upkeepAt = world.clock.monotonic() + (outcome ? upkeep.everyMs : nothingToKeepUpMs);
    if (outcome) this.#onOutcome(outcome, world.random());
  }

  #guarded<Outcome>(send: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome | SendOutcome> {
    const { alwaysMs, world, maySend } = this.#parts;
    // An attempt does not wait for a slow receiver at the end, and the next holder of the lease begins when this
    // process may no longer send.
    const mayGoOn = () => !this.#isEnding && maySend?.() !== false;
    return guardedAttempt(this.#channel, send, { mayGoOn, alwaysMs }, world.log);
  }

  #onOutcome(outcome: SendOutcome, random: number): void {
    const { clock } = this.#parts.world;
    if (outcome.kind === 'unanswered') {
      this.#unanswered += 1;
      // A single missing answer may be a hiccup. The message is not retried, so nothing would show that the failure is
      // over.
      if (this.#unanswered > 1) this.#failed(outcome);
      return;
    }
    if (outcome.kind === 'sent' || outcome.kind === 'accepted') {
      this.#unanswered = 0;
      this.#failures = 0;
      this.#restsUntil = Number.NEGATIVE_INFINITY;
      this.#succeeded();
      return;
    }
    this.#failures += 1;
    // A receiver that blames the request may accept the next one, and a final failure is not the channel's fault.
    const rests = outcome.kind === 'failed' && !outcome.final;
    this.#askedUntil = clock.monotonic() + (outcome.retryAfterMs ?? 0);
    this.#restsUntil = clock.monotonic() + (rests ? backOffMs(this.#failures, random) : 0);
    this.#failed(outcome);
  }

  #succeeded(): void {
    const { clock, log } = this.#parts.world;
    const { failingSince } = this.#state;
    this.#state = answered(clock.now());
    if (failingSince === null) return;
    const failedForSeconds = Math.round((clock.now() - failingSince) / 1_000);
    log.info({ channel: this.#channel.name, failedForSeconds }, 'The channel accepts messages again.');
  }

  #failed({ detail, ...outcome }: Exclude<SendOutcome, { readonly kind: 'sent' }>): void {
    const { clock, log } = this.#parts.world;
    if (this.#state.failingSince === null)
      log.warn({ channel: this.#channel.name, detail }, 'The channel does not accept messages.');
    const refusesSetup = outcome.kind === 'failed' && outcome.setup === true;
    this.#state = failedAgain(this.#state, { lastFailure: detail, refusesSetup }, clock.now());
  }

  #gaveUp(delivery: Delivery, detail: string | null): void {
    const { log } = this.#parts.world;
    const { id, title, attempts } = delivery;
    const what = { channel: this.#channel.name, delivery: id, title, attempts: attempts + 1, detail };
    log.error({ ...what, resend: `warmwarden channels resend --delivery ${id}` }, 'A message is undelivered.');
  }

  async #show(): Promise<void> {
    const { name, type } = this.#channel;
    const { pending, oldestPendingAt, undelivered } = (await this.#outbox.contents()).counts;
    this.#parts.fleet.putChannel({ name, type, pending, oldestPendingAt, undelivered, ...this.#state });
  }
}

/** Sends, and never rejects: an error of Warmwarden must neither stop the channel for ever nor go unnoticed. */
export async function guardedAttempt<Outcome>(
  channel: Channel,
  send: (signal: AbortSignal) => Promise<Outcome>,
  patience: AttemptPatience,
  log: Log,
): Promise<Outcome | SendOutcome> {
  try {
    return await attempt(channel, send, patience);
  } catch (error) {
    // The error's text may contain the address.
    const name = error instanceof Error ? error.name : typeof error;
    log.error({ channel: channel.name, name }, 'Sending a message failed because of an error in Warmwarden.');
    const detail = 'the message could not be sent because of an error in Warmwarden';
    return channel.once ? lost(detail) : { kind: 'refused', detail, retryAfterMs: null };
  }
}
