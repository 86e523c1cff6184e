// The heartbeat: a GET to a dead man's switch while the guard works. Its silence is what alerts people.

import { unheardSince } from '../alerts/rules/daemon-rules.ts';
import { type PingTarget, pingOf } from '../channels/post.ts';
import { noAccount } from '../core/alert.ts';
import { notGuardedBy, ownTroubles } from '../core/not-guarded.ts';
import { storeTitle } from '../core/store-failure.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../core/time.ts';
import { answered, failedAgain, type ReceiverState, untried } from './channel-outbox.ts';
import type { NotifyParts } from './outbox-store.ts';

export interface HeartbeatSettings extends PingTarget {
  readonly intervalMs: number;
}

export interface HeartbeatParts extends NotifyParts {
  readonly settings: () => HeartbeatSettings | null;
  /** See AttemptPatience. */
  readonly alwaysMs?: number;
}

/** Time after which a waiting message is stuck, unless its channel accepted another one meanwhile. */
const stuckAfterMs = 15 * minuteMs;
/** Time without an answer after which an account counts as not polled. */
const polledWithinMs = 15 * minuteMs;

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #wrong = '';
  /** True after the first step: a daemon that has just begun has polled no account yet. */
  #begun = false;
  #pings = untried;
  #isEnding = false;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** Shortens pings from now on, including the one in progress. */
  end(): void {
    this.#isEnding = true;
  }

  get pings(): ReceiverState | null {
    return this.#parts.settings() && this.#pings;
  }

  /** Rejects if the store can't be written. */
  async step(): Promise<number> {
    const { world, settings } = this.#parts;
    const wanted = settings();
    if (!wanted) return minuteMs;
    if (!this.#begun) {
      this.#begun = true;
      return wanted.intervalMs;
    }
    const wrong = await this.#whatIsWrong(world.clock.now());
    const failed = wrong.length === 0 ? await this.#ping(wanted) : null;
    this.#say(failed === null ? wrong.join('; ') : `the ping failed: ${failed}`);
    return wanted.intervalMs;
  }

  async #whatIsWrong(now: EpochMs): Promise<readonly string[]> {
    const { store, fleet } = this.#parts;
    await store.proveWritable(now);
    const outbox = await store.outbox.outboxState(now);
    const channels = new Map([...fleet.channels()].map((channel) => [channel.name, channel]));
    const stuck = outbox.filter(({ channel, oldestPendingAt }) => {
      const state = channels.get(channel);
      if (oldestPendingAt === null || !state || state.type === 'removed') return false;
      return now - Math.max(oldestPendingAt, state.lastSuccessAt ?? 0) > stuckAfterMs;
    });
    const polled = [...fleet.accounts()].some(
      ({ lastSuccessAt }) => lastSuccessAt !== null && elapsedMs(lastSuccessAt, now) <= polledWithinMs,
    );
    return [
      ...(fleet.storeFailure ? [storeTitle] : []),
      ...(unheardSince(fleet.channels(), fleet.alertsOf(noAccount)) === null ? [] : ['no channel accepts messages']),
      ...stuck.map(({ channel }) => `messages for ${channel} are stuck`),
      ...(polled ? [] : ['no account has been polled lately']),
      ...ownTroubles(notGuardedBy(fleet, now)).map(({ sentence }) => sentence),
    ];
  }

  /** Reason without the address, or null. */
  async #ping(to: PingTarget): Promise<string | null> {
    const { world, alwaysMs } = this.#parts;
    const { clock } = world;
    const patience = { mayGoOn: () => !this.#isEnding, alwaysMs };
    const result = await clock.busy(() => pingOf(to, clock, patience));
    const { kind, detail = '' } = result;
    if (kind === 'sent') {
      this.#pings = answered(clock.now());
      return null;
    }
    const refusesSetup = kind === 'refused' || (kind === 'failed' && result.setup === true);
    this.#pings = failedAgain(this.#pings, { lastFailure: detail, refusesSetup }, clock.now());
    return detail;
  }

  #say(wrong: string): void {
    const { log } = this.#parts.world;
    if (wrong === this.#wrong) return;
    if (wrong === '') log.info('The heartbeat resumes.');
    else log.warn({ reason: wrong }, 'The heartbeat stops.');
    this.#wrong = wrong;
  }
}
