// Sends one channel's deliveries. A channel that fails waits, and so do all of its messages; nothing else does.

import { storeFingerprint } from '../alerts/rules/store-rule.ts';
import type { Channel, SendOutcome } from '../channels/channel.ts';
import { attempt } from '../channels/post.ts';
import type { Alert } from '../core/alert.ts';
import type { Delivery } from '../core/delivery.ts';
import type { ChannelState } from '../core/fleet/fleet.ts';
import type { Tally } from '../core/tally.ts';
import type { EpochMs } from '../core/time.ts';
import { backOffMs, ChannelOutbox, goneAgainMs, newestOf, nextDelivery, settlementOf } from './channel-outbox.ts';
import { idleMs } from './collector.ts';
import type { NotifyParts } from './outbox-store.ts';

export interface SenderParts extends NotifyParts {
  readonly tally: Tally;
  /** Whether an attempt that begins now ends before another process can take the lease; absent: none can. */
  readonly maySend?: () => boolean;
  /** See AttemptPatience. */
  readonly alwaysMs?: number;
  /** Whether people were notified through the channel that the alert fires. */
  readonly hasNotified: (alert: Alert) => boolean;
}

/** A receiver that answers after so many failures was away: whoever waited for it is tried at once. */
const failuresOfAnOutage = 3;
/** How soon outcomes that the store could not take are offered to it again. */
const behindMs = 5_000;
/** So long a channel that is removed may take for what it still has to send. */
const lastMessagesMs = 15_000;
/** How soon it is asked again whether messages are still this process's. */
const notOursMs = 1_000;
/** How soon upkeep is looked at again when there was none: at a start what people know is not loaded yet. */
const nothingToKeepUpMs = 5_000;

const newerWasSent = 'a newer reminder about the same alerts was sent instead';

/** Of a channel that sends once: what is not known to have failed is not repeated. */
function lost(because: string): SendOutcome {
  const detail = `${because}; it may have arrived, so Warmwarden does not send it again`;
  return { kind: 'failed', detail, retryAfterMs: null, final: true };
}

export class Sender {
  readonly #parts: SenderParts;
  readonly #channel: Channel;
  readonly #outbox: ChannelOutbox;
  #lastSendAt = Number.NEGATIVE_INFINITY;
  /** On the monotonic scale: until then nothing is sent, because the receiver asked for it... */
  #askedUntil = Number.NEGATIVE_INFINITY;
  /** ...and until then nothing is tried again, because it failed. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** Failures in a row, of whatever message. */
  #failures = 0;
  /** Refusals in a row of each delivery that was refused. */
  readonly #refusals = new Map<string, number>();
  /** After an outage: what was tried since it ended. null: there was none. */
  #triedSinceOutage: Set<string> | null = null;
  /** Whether the receiver's last answer was 410. */
  #isGone = false;
  /** Number of messages in a row that were sent whole and got no answer. */
  #unanswered = 0;
  /** The process ends, or the channel goes. */
  #isEnding = false;
  #upkeepAt = Number.NEGATIVE_INFINITY;
  #lastSuccessAt: EpochMs | null = null;
  #failing: { readonly since: EpochMs; readonly detail: string; readonly refusesSetup: boolean } | null = null;

  constructor(channel: Channel, parts: SenderParts) {
    this.#channel = channel;
    this.#parts = parts;
    this.#outbox = new ChannelOutbox(channel.name, parts.store.outbox, parts.world.clock);
  }

  /** The outbox has a critical message: a receiver that answered 410 is asked again at once. */
  urge(): void {
    if (this.#isGone) this.#askedUntil = Number.NEGATIVE_INFINITY;
  }

  /** A person wants it to be tried again. */
  revive(): void {
    this.urge();
    this.#restsUntil = Number.NEGATIVE_INFINITY;
  }

  /** Attempts are short from now on, the one under way included. */
  end(): void {
    this.#isEnding = true;
  }

  /** At most one attempt. Returns how long to wait for the next step, milliseconds. */
  async step(): Promise<number> {
    const { clock } = this.#parts.world;
    if (this.#outbox.isBehind) await this.#outbox.catchUp();
    const open = Math.max(this.#lastSendAt + this.#channel.minGapMs, this.#askedUntil) - clock.monotonic();
    const wait = open <= 0 ? await this.#take() : open;
    await this.#show();
    return Math.max(0, Math.min(wait, this.#outbox.isBehind ? behindMs : idleMs));
  }

  /** Its channel is removed: sends what is due, and what is soon. The rest stays in the outbox. Its steps have ended. Never rejects. */
  async finish(): Promise<void> {
    const { clock, log } = this.#parts.world;
    const until = clock.monotonic() + lastMessagesMs;
    try {
      for (let waitMs = 0; clock.monotonic() + waitMs <= until; waitMs = await this.step()) {
        if (waitMs > 0) await clock.sleep(waitMs);
        if ((await this.#outbox.contents()).pending.length === 0) return;
      }
    } catch (error) {
      log.error({ channel: this.#channel.name, err: error }, 'the last messages of a channel could not be sent');
    }
  }

  /** Upkeep, or one delivery. Returns how long until more is due. */
  async #take(): Promise<number> {
    const { world } = this.#parts;
    const now = world.clock.monotonic();
    const toUpkeep = this.#channel.upkeep ? this.#upkeepAt - now : Number.POSITIVE_INFINITY;
    if (toUpkeep <= 0) {
      await this.#keepUp();
      return 0;
    }
    const pending = (await this.#outbox.contents()).pending.filter((delivery) => !this.#isUntimely(delivery));
    const tried = this.#triedSinceOutage;
    const { delivery, waitMs } = nextDelivery(pending, {
      now: world.clock.now(),
      restMs: this.#restsUntil - now,
      revived: (id) => tried !== null && !tried.has(id),
    });
    if (!delivery) return Math.min(waitMs, toUpkeep);
    // Right before the attempt: the outbox may have been read long ago.
    if (this.#parts.maySend?.() === false) return notOursMs;
    await this.#attempt(delivery, newestOf(delivery, pending));
    if (this.#isGone) await this.#giveUpOld(pending.filter(({ id }) => id !== delivery.id));
    return Math.min(waitMs, toUpkeep);
  }

  /** That the store works again, which was true of an earlier outage: while it fails, that waits. A digest is about no alert. */
  #isUntimely({ alerts }: Delivery): boolean {
    const isOfStore = alerts.length > 0 && alerts.every((name) => name === storeFingerprint);
    if (!isOfStore) return false;
    return this.#parts.fleet.alert(storeFingerprint)?.status === 'firing';
  }

  /** A failure is the delivery's, whatever is sent in its place: it waits, and is given up, as if it were sent itself. */
  async #attempt(delivery: Delivery, { sent, replaced }: ReturnType<typeof newestOf>): Promise<void> {
    const { world, tally } = this.#parts;
    const outcome = await this.#outcomeOf(sent);
    const refusals = outcome.kind === 'refused' ? (this.#refusals.get(delivery.id) ?? 0) + 1 : 0;
    const now = world.clock.now();
    const random = world.random();
    const settlement = settlementOf({ delivery, outcome, refusals, random, now });
    if (settlement.kind === 'sent') {
      await this.#outbox.settle(sent.id, settlement);
      for (const { id } of replaced) await this.#outbox.settle(id, { kind: 'replaced', detail: newerWasSent, at: now });
    } else await this.#outbox.settle(delivery.id, settlement);
    const isPending = settlement.kind === 'failed' || settlement.kind === 'accepted';
    if (refusals > 0 && isPending) this.#refusals.set(delivery.id, refusals);
    else this.#refusals.delete(delivery.id);
    if (isPending) this.#triedSinceOutage?.add(delivery.id);
    else this.#triedSinceOutage?.delete(delivery.id);
    this.#onOutcome(outcome, random);
    if (settlement.kind !== 'accepted') tally.notification(this.#channel.name, settlement.kind);
    if (settlement.kind === 'undelivered') this.#gaveUp(delivery, settlement.detail);
    if (outcome.kind === 'unanswered') {
      const { id, title } = sent;
      const what = { channel: this.#channel.name, delivery: id, title, detail: outcome.detail };
      world.log.warn(
        what,
        'A message was sent without an answer: Warmwarden counts it as sent, and does not send it again.',
      );
    }
  }

  /** Gives up the old messages behind one that the receiver refused for good: its refusal is true of them, too. */
  async #giveUpOld(others: readonly Delivery[]): Promise<void> {
    const { world, tally } = this.#parts;
    const outcome: SendOutcome = { kind: 'gone', detail: this.#failing?.detail ?? '' };
    for (const delivery of others) {
      const settlement = settlementOf({ delivery, outcome, refusals: 0, random: 0, now: world.clock.now() });
      if (settlement.kind !== 'undelivered') continue;
      await this.#outbox.settle(delivery.id, settlement);
      tally.notification(this.#channel.name, settlement.kind);
      this.#gaveUp(delivery, settlement.detail);
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

  /** Tells a receiver that forgets what fires. A failure is the channel's, and no message is lost with it. */
  async #keepUp(): Promise<void> {
    const { world, fleet, hasNotified } = this.#parts;
    const { upkeep } = this.#channel;
    if (!upkeep) return;
    const firing = [...fleet.alerts()].filter((alert) => alert.status === 'firing' && hasNotified(alert));
    const outcome = await world.clock.busy(() => this.#guarded((signal) => upkeep.send(firing, signal)));
    this.#upkeepAt = world.clock.monotonic() + (outcome ? upkeep.everyMs : nothingToKeepUpMs);
    if (outcome) this.#onOutcome(outcome, world.random());
  }

  async #guarded<Outcome>(send: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome | SendOutcome> {
    // Nobody waits for a slow receiver at the end, and the process that takes the lease over begins when this one may no longer.
    const mayGoOn = () => !this.#isEnding && this.#parts.maySend?.() !== false;
    try {
      return await attempt(this.#channel, send, { mayGoOn, alwaysMs: this.#parts.alwaysMs });
    } catch (error) {
      // A mistake of ours: it must neither stop the channel for ever nor be forgotten.
      this.#parts.world.log.error(
        { channel: this.#channel.name, name: nameOf(error) },
        'Sending a message failed because of an error in Warmwarden.',
      );
      const detail = 'the message could not be sent because of an error in Warmwarden';
      if (this.#channel.once) return lost(detail);
      return { kind: 'refused', detail, retryAfterMs: null };
    }
  }

  /** What an answer means for the channel as a whole. */
  #onOutcome(outcome: SendOutcome, random: number): void {
    const { clock } = this.#parts.world;
    if (outcome.kind === 'unanswered') {
      this.#unanswered += 1;
      // A single one may be a hiccup. Nothing is tried again, so nothing would show that it is over.
      if (this.#unanswered > 1) this.#failed(clock.now(), outcome);
      return;
    }
    if (outcome.kind === 'sent' || outcome.kind === 'accepted') {
      this.#unanswered = 0;
      if (this.#isGone || this.#failures >= failuresOfAnOutage) this.#triedSinceOutage = new Set();
      this.#failures = 0;
      this.#isGone = false;
      this.#restsUntil = Number.NEGATIVE_INFINITY;
      this.#succeeded(clock.now());
      return;
    }
    this.#failures += 1;
    this.#isGone = outcome.kind === 'gone';
    // Who blames the request may like the next one better, and what was final is not the channel's fault.
    const rests = outcome.kind === 'failed' && !outcome.final;
    const asked = outcome.kind === 'gone' ? goneAgainMs : (outcome.retryAfterMs ?? 0);
    this.#askedUntil = clock.monotonic() + asked;
    this.#restsUntil = clock.monotonic() + (rests ? backOffMs(this.#failures, random) : 0);
    this.#failed(clock.now(), outcome);
  }

  #succeeded(now: EpochMs): void {
    this.#lastSuccessAt = now;
    if (!this.#failing) return;
    const failedForSeconds = Math.round((now - this.#failing.since) / 1_000);
    this.#parts.world.log.info(
      { channel: this.#channel.name, failedForSeconds },
      'The channel accepts messages again.',
    );
    this.#failing = null;
  }

  #failed(now: EpochMs, { detail, ...outcome }: Exclude<SendOutcome, { readonly kind: 'sent' }>): void {
    if (!this.#failing) {
      this.#parts.world.log.warn({ channel: this.#channel.name, detail }, 'The channel does not accept messages.');
    }
    const refusesSetup = outcome.kind === 'gone' || (outcome.kind === 'failed' && outcome.setup === true);
    this.#failing = { since: this.#failing?.since ?? now, detail, refusesSetup };
  }

  #gaveUp(delivery: Delivery, detail: string | null): void {
    const { log, command } = this.#parts.world;
    const { id, title, attempts } = delivery;
    const what = { channel: this.#channel.name, delivery: id, title, attempts: attempts + 1, detail };
    log.error({ ...what, resend: `${command} channels resend --delivery ${id}` }, 'A message is undelivered.');
  }

  /** Puts the channel into the picture that pages and scrapes read. */
  async #show(): Promise<void> {
    const { name, type } = this.#channel;
    const { pending, oldestPendingAt, undelivered } = (await this.#outbox.contents()).counts;
    const state: ChannelState = {
      name,
      type,
      pending,
      oldestPendingAt,
      undelivered,
      lastSuccessAt: this.#lastSuccessAt,
      failingSince: this.#failing?.since ?? null,
      lastFailure: this.#failing?.detail ?? null,
      refusesSetup: this.#failing?.refusesSetup ?? false,
    };
    this.#parts.fleet.putChannel(state);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
