// The look before a POST: its answers are judged like any other, so a mailbox that changed since the verdict is judged again.
import type { Action } from '../../core/action.ts';
import { elapsedMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import type { Observation } from '../record/observe.ts';
import type { Conditions } from './conditions.ts';
import type { ActorOptions, ActorRooms } from './rooms.ts';

/** Waits between looks that fail, the last one repeated. */
const lookWaitsMs: readonly number[] = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * secondMs);
/** Nothing is written on statistics that are older than this: they are read again first. */
const statsMaxAgeMs = hourMs;

export class Look {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;
  readonly #conditions: Conditions;

  constructor(rooms: ActorRooms, options: ActorOptions, conditions: Conditions) {
    this.#rooms = rooms;
    this.#options = options;
    this.#conditions = conditions;
  }

  /** Looks until an answer comes. True when the action is still wanted on what was just seen. */
  async isStillWanted(action: Action, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#rooms.world;
    const conditions = this.#conditions;
    for (let tries = 0; !signal.aborted && conditions.isCurrent(action) && !conditions.isLate(action); tries += 1) {
      if (await this.#read(action, 'warmup', signal)) {
        if (!conditions.isCurrent(action)) return false;
        if (action.by) return true;
        if (this.#knowsStats(action) || (await this.#read(action, 'stats', signal))) return conditions.isWanted(action);
      }
      if (signal.aborted) return false;
      await clock.sleep(lookWaitsMs[Math.min(tries, lookWaitsMs.length - 1)] ?? minuteMs, signal);
    }
    return false;
  }

  /** One request; true when its answer, or a newer one, was taken in. */
  async #read({ account, mailboxId }: Action, route: 'warmup' | 'stats', signal: AbortSignal): Promise<boolean> {
    const { api, fleet, lane, recorder } = this.#rooms;
    await lane.actionSlot(signal);
    if (signal.aborted) return false;
    const askedAt = recorder.asking();
    const mailbox = fleet.mailbox(account, mailboxId);
    const days = mailbox && this.#options.daysFor(mailbox);
    const look = route === 'warmup' ? await api.warmup(mailboxId) : await api.stats(mailboxId, days);
    if (!look.ok) {
      this.#options.onFailure(look.failure, { route, mailboxId });
      return false;
    }
    const observation = { route, observed: look.value } as Observation;
    const taken = await recorder.observed(mailboxId, observation, askedAt);
    return taken !== 'outdated' && taken !== 'ended';
  }

  /** Statistics that this process read, not too long ago. */
  #knowsStats({ account, mailboxId }: Action): boolean {
    const { fleet, recorder, world } = this.#rooms;
    const at = fleet.mailbox(account, mailboxId)?.stats?.at;
    if (at === undefined || !recorder.hasRead(mailboxId, 'stats')) return false;
    return elapsedMs(at, world.clock.now()) <= statsMaxAgeMs;
  }
}
