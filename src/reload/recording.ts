// Records what a reload did. A store that can't be written must not undo a reload, so what it can't take at once is recorded when it can.
import { secondMs } from '../model/time.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';

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
