// Records what a reload did. A store that can't be written must not undo a reload, so what it can't take at once is recorded when it can.

import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { tune } from '../../alerts/condition.ts';
import { elapse, step } from '../../alerts/engine.ts';
import { isEnforcementAlert, isOfChannels, isRemoval, removalsOver } from '../../alerts/rules/disarmed-rule.ts';
import { configReloadFailed } from '../../alerts/rules/reload-rule.ts';
import { type Alert, type AlertChanges, bothChanges, noAccount } from '../../core/alert.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import { secondMs } from '../../core/time.ts';
import { recordAlerts } from '../../outbox/outbox-store.ts';

const retryMs = 30 * secondMs;

type Work = () => Promise<void>;

export class Recording {
  readonly #rooms: Pick<RecorderRooms, 'world' | 'turns'>;
  readonly #stop = new AbortController();
  /** In order: what was done first is recorded first. */
  #waiting: readonly Work[] = [];
  #retrying: Promise<void> | null = null;

  constructor(rooms: Pick<RecorderRooms, 'world' | 'turns'>) {
    this.#rooms = rooms;
  }

  /** Runs the work in a turn of its own, again and again until it does not reject. Never rejects itself. */
  async record(work: Work): Promise<void> {
    this.#waiting = [...this.#waiting, work];
    if (this.#retrying || (await this.#attempt())) return;
    this.#retrying = this.#retry().finally(() => {
      this.#retrying = null;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#retrying;
  }

  async #retry(): Promise<void> {
    const { clock } = this.#rooms.world;
    do await clock.sleep(retryMs, this.#stop.signal);
    while (!this.#stop.signal.aborted && !(await this.#attempt()));
  }

  /** False when the store could not take it all. */
  async #attempt(): Promise<boolean> {
    const { turns, world } = this.#rooms;
    try {
      for (const work of this.#waiting) {
        await turns.take(async () => {
          if (!this.#waiting.includes(work)) return;
          await work();
          this.#waiting = this.#waiting.filter((one) => one !== work);
        });
      }
      return true;
    } catch (error) {
      world.log.error({ err: error }, 'the outcome of a reload could not be recorded');
      return false;
    }
  }
}

// The alert config_reload_failed: fired by a refused reload, ended by one that succeeds and by a start.

/** Fires it, or ends it when there are no problems. Rejects when the store can't be written. */
export async function recordReloadAlert(
  { fleet, store, world, onTransitions: recorded }: RecorderRooms,
  problems: readonly string[],
  rules: RuleSettings,
): Promise<void> {
  const conditions = tune([configReloadFailed(problems, world.command)], rules);
  const alerts = step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
  await recordAlerts({ fleet, store, recorded }, alerts);
}

// What time does to alerts that only a reload speaks about: `for` passes, and reminders of an account that was removed end.

/** In a turn, like the reloads. An account's own alerts are those of its recorder. Rejects when the store can't be written. */
export async function settleReloadAlerts(rooms: RecorderRooms): Promise<void> {
  const { fleet, store, turns, onTransitions } = rooms;
  if (moved(rooms).changed.length === 0) return;
  await turns.take(() => recordAlerts({ fleet, store, recorded: onTransitions }, moved(rooms)));
}

function moved({ fleet, world }: RecorderRooms): AlertChanges {
  const now = world.clock.now();
  const own = [...fleet.alertsOf(noAccount)].filter(isOfReload);
  const over = removalsOver(own, [], now);
  const isOver = new Set(over.map(({ subject }) => subject.object));
  const ended = step(over, (fingerprint) => fleet.alert(fingerprint), now);
  return bothChanges(
    ended,
    elapse(
      own.filter(({ object }) => !isOver.has(object)),
      now,
    ),
  );
}

function isOfReload(alert: Alert): boolean {
  return alert.rule === 'config_reload_failed' || [isEnforcementAlert, isRemoval, isOfChannels].some((is) => is(alert));
}

// Work that is done one after the other: a request that still waits stands for every equal one that comes meanwhile.

export class OneWaiting<Request extends object, Outcome> {
  readonly #work: (request: Request) => Promise<Outcome>;
  /** By the request as JSON. */
  readonly #waiting = new Map<string, Promise<Outcome>>();
  #last: Promise<unknown> = Promise.resolve();

  /** `work` never rejects. */
  constructor(work: (request: Request) => Promise<Outcome>) {
    this.#work = work;
  }

  /** Resolves when it was done, not before all that was asked for earlier. */
  ask(request: Request): Promise<Outcome> {
    const key = JSON.stringify(request);
    const same = this.#waiting.get(key);
    if (same) return same;
    const outcome = this.#last.then(() => {
      this.#waiting.delete(key);
      return this.#work(request);
    });
    this.#waiting.set(key, outcome);
    this.#last = outcome;
    return outcome;
  }

  /** Resolves when all that was asked for is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
