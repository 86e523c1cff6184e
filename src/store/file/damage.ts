// Looks for damage to pages of the store's file. SQLite serves pages from its cache, so reads alone do not show it.
import { Worker } from 'node:worker_threads';
import { DamagedFileError, isDamage } from '../failure.ts';
import { sizeOf } from './place.ts';

/** SQLite's report on all pages, and its result code if the check failed. */
export interface PagesFound {
  readonly said: string;
  readonly errcode: number | null;
}

/** Least time between two checks, in real time: a check of 300 MB takes a third of a second of CPU. */
const restMs = (bytes: number) => Math.max(1_000, bytes / 10_000);

const threadFile = new URL(`./damage-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** Checks all pages in a thread, one check at a time, with a pause after each. */
export class DamageWatch {
  readonly #file: string;
  #worker: Worker | null = null;
  #isResting = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns null if SQLite finds no damage, or if it is too soon to check. Never rejects. */
  async look(): Promise<DamagedFileError | null> {
    if (this.#worker || this.#isResting) return null;
    const found = await this.#lookInThread();
    this.#rest();
    if (found === null || found.said === 'ok' || !isDamage(found.errcode)) return null;
    return new DamagedFileError(found.said);
  }

  /** Ends the running check, which closes its connection. */
  async close(): Promise<void> {
    this.#isResting = true;
    await this.#worker?.terminate();
  }

  /** Resolves to null if the thread can't be started or was ended. */
  #lookInThread(): Promise<PagesFound | null> {
    return new Promise((resolve) => {
      const worker = new Worker(threadFile, { workerData: this.#file, env: {} });
      this.#worker = worker;
      worker.unref();
      worker.once('message', resolve);
      worker.once('error', () => resolve(null));
      worker.once('exit', () => {
        this.#worker = null;
        resolve(null);
      });
    });
  }

  #rest(): void {
    this.#isResting = true;
    const over = AbortSignal.timeout(restMs(sizeOf(this.#file)));
    over.addEventListener('abort', () => {
      this.#isResting = false;
    });
  }
}
