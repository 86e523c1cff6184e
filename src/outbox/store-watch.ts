// Notifies people of the store itself. While the store fails it can't be relied on to record a message, so this one
// alert is sent without it, repeatedly to each channel until the channel accepts it. Its end is announced like that of
// any alert, by the next process too: a note beside the store says that people were notified.

import { messageFor, withStanding } from '../alerts/client-part.ts';
import { tune } from '../alerts/condition.ts';
import { step } from '../alerts/engine.ts';
import { messageOf } from '../alerts/grouping.ts';
import { type AlertRoute, channelsFor } from '../alerts/routing.ts';
import { storeFailing, storeFingerprint, withBeginning } from '../alerts/rules/daemon-rules.ts';
import type { Channel } from '../channels/channel.ts';
import type { Alert, Transition } from '../core/alert.ts';
import type { RuleSettings } from '../core/alert-rules.ts';
import { pendingDelivery } from '../core/delivery.ts';
import type { Loss, StoreFailure } from '../core/store-failure.ts';
import { hourMs, minuteMs, secondMs } from '../core/time.ts';
import type { Loops } from '../world/loop.ts';
import { endsWithin, systemClock } from '../world/world.ts';
import { deliveryOf } from './delivery-of.ts';
import type { NotifyParts, RecordingParts } from './outbox-store.ts';
import { guardedAttempt } from './sender.ts';

// Health of the store in this process's view, from the results of its reads and writes: shown and logged, whichever
// process notifies people.

/**
 * Time without a failure until people are told of the end. Grows with each relapse: repeated failures are one alert.
 */
const soundAfterMs = 30 * secondMs;
const longestSoundAfterMs = hourMs;
const relapsedSoundAfterMs = 2 * minuteMs;
/** Time for which the failure of a statement is shown. A store that was not reached is shown until it is. */
const shownForMs = 30 * secondMs;

/** A failure from before this process took over the messages is not reported as new. */
export class StoreHealth {
  readonly #parts: NotifyParts;
  #failedAt = Number.NEGATIVE_INFINITY;
  #soundAfterMs = soundAfterMs;
  readonly #heartbeat: () => void;
  #listener: () => void = () => {};

  /** `heartbeat` tells the store whether the heartbeat fails, which is neither a read nor a write. */
  constructor(parts: NotifyParts, heartbeat: () => void = () => {}) {
    this.#parts = parts;
    this.#heartbeat = heartbeat;
    if (parts.store.trouble.newest) this.#failed();
    parts.store.onTrouble(() => {
      this.#failed();
      this.#listener();
    });
  }

  onFailure(listener: () => void): void {
    this.#listener = listener;
  }

  /** Returns the failure for the message; an outage with pauses is one alert. */
  look(): StoreFailure | null {
    this.#heartbeat();
    const { fleet, world, store } = this.#parts;
    const { newest, isOver } = store.trouble;
    const sinceMs = world.clock.monotonic() - this.#failedAt;
    const isPresent = newest?.untilWritten ? !isOver : sinceMs < shownForMs;
    const shown = newest && (newest.lasting || isPresent) ? newest : null;
    if (shown && !fleet.storeFailure) {
      world.log.error({ failure: shown.said, remedy: shown.remedy }, 'The store is failing.');
    }
    if (!shown && fleet.storeFailure) world.log.info('The store works again.');
    fleet.putStoreFailure(shown, fleet.storeFailingSince ?? world.clock.now());
    if (shown) return shown;
    if (newest && sinceMs < this.#soundAfterMs) return { ...newest, isOver: true };
    store.forgetTrouble();
    return null;
  }

  get unsoundMs(): number {
    return Math.max(0, this.#failedAt + this.#soundAfterMs - this.#parts.world.clock.monotonic());
  }

  #failed(): void {
    const now = this.#parts.world.clock.monotonic();
    const sinceMs = now - this.#failedAt;
    const relapsed = sinceMs >= this.#soundAfterMs && sinceMs < longestSoundAfterMs;
    if (relapsed)
      this.#soundAfterMs = Math.min(Math.max(2 * this.#soundAfterMs, relapsedSoundAfterMs), longestSoundAfterMs);
    if (sinceMs >= longestSoundAfterMs) this.#soundAfterMs = soundAfterMs;
    this.#failedAt = now;
  }
}

export interface StoreWatchParts extends RecordingParts {
  readonly health: StoreHealth;
  readonly loops: Pick<Loops, 'awakeSince'>;
  readonly settings: () => { readonly routes: readonly AlertRoute[]; readonly rules: RuleSettings };
}

const everyMs = 20_000;
const whileFailingMs = 5_000;
/** Time for which an announced outage goes on in the next process, which has tried little yet. */
const unprovenMs = minuteMs;
/** Time after a suspension: a query may have timed out while its answer waited. */
const justAwakeMs = 15_000;
/** Longest wait of a look for receivers, in real time: an attempt by email may take half an hour. */
const lookWaitsMs = 10_000;
/** Wait after a refusal, which blames the message. */
const refusedWaitMs = 15 * minuteMs;

export class StoreWatch {
  readonly #parts: StoreWatchParts;
  readonly #health: StoreHealth;
  /** Content of the note beside the store, or null if there is none or it can't be written. */
  #kept: string | null = null;
  /** Loss of the store that replaces the one that an earlier process called failing. */
  #loss: Loss | null = null;
  #tookOver = false;
  #unprovenUntil = Number.NEGATIVE_INFINITY;
  #telling: Transition | null = null;
  #failures: number;
  readonly #notified = new Set<string>();
  /** Names of channels that do not want the message, or must not be tried twice. */
  readonly #settled = new Set<string>();
  readonly #restsUntil = new Map<string, number>();
  readonly #underWay = new Set<string>();
  #isEnding = false;

  constructor(parts: StoreWatchParts) {
    this.#parts = parts;
    this.#health = parts.health;
    this.#failures = parts.store.trouble.failures;
  }

  hasNotified(channel: string, { rule }: Alert): boolean {
    return rule === 'store_failing' && this.#notified.has(channel);
  }

  end(): void {
    this.#isEnding = true;
  }

  async step(): Promise<number> {
    const { world, store, fleet, settings, recorded } = this.#parts;
    const now = world.clock.now();
    await store.proveWritable(now).catch(() => {});
    await this.#takeOver();
    const failure = this.#failure(this.#isFiring());
    store.keepStops(fleet.writesOff(now));
    const waitMs = this.#unprovenUntil - world.clock.monotonic();
    if (!failure && waitMs > 0) return Math.min(everyMs, waitMs);
    const conditions = tune([storeFailing(failure, this.#loss)], settings().rules);
    const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
    const [begun] = changes.transitions.filter(({ kind }) => kind === 'firing');
    const [ended] = changes.transitions.filter(({ kind }) => kind === 'resolved');
    if (ended) {
      const begunAt = ended.alert.firingAt ?? ended.alert.since;
      await store.endOutage(withBeginning(changes, begunAt), begunAt);
      this.#loss = null;
    }
    fleet.putAlerts(changes);
    if (begun || ended) this.#begin(begun ?? null);
    if (ended) recorded();
    if (this.#telling) {
      await this.#keep(this.#telling.alert);
      await this.#tell(this.#telling);
      await this.#keep(this.#telling.alert);
    }
    if (failure) return Math.min(whileFailingMs, this.#health.unsoundMs || whileFailingMs);
    return fleet.storeFailure ? whileFailingMs : everyMs;
  }

  #isFiring(): boolean {
    return this.#parts.fleet.alert(storeFingerprint)?.status === 'firing';
  }

  /** Present failure. A failure that is over does not begin an outage. */
  #failure(isFiring: boolean): StoreFailure | null {
    const { store, world, loops } = this.#parts;
    const found = this.#health.look();
    const isJustAwake = world.clock.monotonic() - loops.awakeSince < justAwakeMs;
    const seen = !isFiring && isJustAwake && found?.mayPass ? null : found;
    const { failures } = store.trouble;
    const hasFailed = failures > this.#failures;
    this.#failures = failures;
    return seen && (isFiring || !seen.isOver || (hasFailed && !seen.untilWritten)) ? seen : null;
  }

  /** Takes over an outage that an earlier process announced, and announces its end. */
  async #takeOver(): Promise<void> {
    if (this.#tookOver) return;
    const { store, fleet, world } = this.#parts;
    const outage = await store.outage().catch(() => 'unknown' as const);
    if (outage === 'unknown') return;
    this.#tookOver = true;
    if (outage) {
      const { alert, notified, loss = null } = outage;
      this.#loss = loss;
      fleet.putAlert(alert);
      this.#begin({ kind: 'firing', at: alert.firingAt ?? alert.since, alert });
      for (const channel of notified) this.#notified.add(channel);
    }
    if (this.#isFiring()) this.#unprovenUntil = world.clock.monotonic() + unprovenMs;
  }

  #begin(telling: Transition | null): void {
    this.#telling = telling;
    this.#kept = null;
    this.#notified.clear();
    this.#settled.clear();
    this.#restsUntil.clear();
  }

  /** Writes the note before and after people are notified, for a successor of this process. */
  async #keep(alert: Alert): Promise<void> {
    const notified = [...this.#notified].sort();
    const { store, world } = this.#parts;
    if (this.#kept === notified.join()) return;
    const kept = await store.keepOutage({ alert, notified, ...(this.#loss && { loss: this.#loss }) });
    if (!kept && this.#kept === null) {
      world.log.warn(
        'The note beside the store could not be written. If Warmwarden restarts before the store works again, it may send no resolved message and lose the write stops: after a restart, set them again.',
      );
    }
    this.#kept = notified.join();
  }

  async #tell(transition: Transition): Promise<void> {
    const { channels, settings, world, fleet } = this.#parts;
    const now = world.clock.monotonic();
    const all = channels();
    const { routes } = settings();
    const wanted = channelsFor(transition.alert, { routes, channels: all, fleet, now: world.clock.now() });
    const open = all.filter(
      ({ name }) =>
        wanted.includes(name) &&
        now >= (this.#restsUntil.get(name) ?? now) &&
        ![this.#notified, this.#settled, this.#underWay].some((of) => of.has(name)),
    );
    const attempts = open.map(async (channel) => {
      this.#underWay.add(channel.name);
      await this.#attempt(channel, transition).finally(() => this.#underWay.delete(channel.name));
    });
    await endsWithin(Promise.all(attempts), lookWaitsMs, systemClock());
  }

  async #attempt(channel: Channel, transition: Transition): Promise<void> {
    const { name } = channel;
    const { world, fleet, settings } = this.#parts;
    const { log, clock } = world;
    const { routes, rules } = settings();
    const message = messageOf('store', [transition], transition.at);
    const context = { fleet, routes, zone: rules.timeZone, now: clock.now() };
    if (!message) return void this.#settled.add(name);
    const part = messageFor(name, message, context);
    const transitions = part.transitions.map((one) => ({ ...one, alert: withStanding(name, one, context) }));
    const delivery = deliveryOf(channel, message, { ...part, transitions }, log);
    if (!delivery) return void this.#settled.add(name);
    const pending = pendingDelivery(delivery, transition.at);
    const patience = { mayGoOn: () => !this.#isEnding, alwaysMs: 0 };
    const result = await guardedAttempt(channel, (signal) => channel.send(pending, signal), patience, log);
    // The failure may have ended meanwhile.
    if (transition !== this.#telling) return;
    const { kind } = result;
    if (kind === 'sent' || kind === 'accepted' || kind === 'unanswered') return void this.#notified.add(name);
    log.error(
      { channel: name, detail: result.detail },
      'The channel did not accept the alert that the store is failing.',
    );
    if (channel.once || (kind === 'failed' && result.final)) return void this.#settled.add(name);
    const leastMs = kind === 'refused' ? refusedWaitMs : everyMs;
    this.#restsUntil.set(name, clock.monotonic() + Math.max(leastMs, result.retryAfterMs ?? 0));
  }
}
