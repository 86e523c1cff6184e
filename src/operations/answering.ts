// Carries out what people asked of another replica, about work that is this one's.

import type { DaemonCommands } from '../core/operator-command.ts';
import type { Scope } from '../store/replicas/membership.ts';
import type { Loop, Loops } from '../world/loop.ts';
import { endsWithin } from '../world/world.ts';
import { carryOutPassed, lookEveryMs, type PassedCommand, type PassingRooms, type Target } from './passed-command.ts';
import { failure } from './plan.ts';

/** More at a time wait for their turn: each may hold a slot of the rate limit. */
const mostAtATime = 50;
/** So long an outcome that can't be stored is tried again. */
const answerWithinMs = 5 * 60_000;
/** Whoever stops waits no longer than this for commands under way. */
const stopWithinMs = 30_000;

export interface AnsweringRooms extends PassingRooms {
  /** All work that is configured. */
  readonly scopes: () => readonly Scope[];
  readonly commands: DaemonCommands;
  readonly loops: Loops;
}

export class Answering {
  readonly #rooms: AnsweringRooms;
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly #loop: Loop;

  constructor(rooms: AnsweringRooms) {
    this.#rooms = rooms;
    const { loops, news, requests } = rooms;
    this.#loop = loops.every(lookEveryMs, 'reading the commands that other replicas passed on', async () => {
      requests.listen(() => {
        news.arrived();
        this.#loop.ring();
      });
      await this.#take();
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Takes nothing any more. Ends when what was taken is answered, or after half a minute. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop.stop();
    await endsWithin(Promise.all(this.#underWay), stopWithinMs, this.#rooms.world.clock);
  }

  async #take(): Promise<void> {
    const { membership, requests, scopes, world } = this.#rooms;
    const { self } = membership;
    if (self === null || this.#underWay.size >= mostAtATime) return;
    const targets: readonly Target[] = [`replica:${self}`, ...scopes().filter((scope) => membership.holds(scope))];
    const taken = await requests.take<PassedCommand>(targets, { by: self, now: world.clock.now() });
    for (const { id, asked } of taken) {
      const done = this.#answer(id, self, asked).finally(() => this.#underWay.delete(done));
      this.#underWay.add(done);
    }
  }

  /** Never rejects. */
  async #answer(id: string, self: string, asked: PassedCommand): Promise<void> {
    const { commands, requests, world } = this.#rooms;
    const { clock, log } = world;
    const outcome = await carryOutPassed(asked, commands).catch(failure);
    const begun = clock.monotonic();
    while (clock.monotonic() - begun < answerWithinMs) {
      try {
        return await requests.finish(id, self, outcome);
      } catch (error) {
        log.error({ err: error, command: asked.name }, 'the outcome of a command could not be passed back');
      }
      if (this.#stop.signal.aborted) return;
      await clock.sleep(lookEveryMs, this.#stop.signal);
    }
  }
}
