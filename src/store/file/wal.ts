// The WAL of the store: what is committed reaches the disk without blocking the event loop. SQLite writes it without a sync
// (synchronous = NORMAL); a thread of libuv's pool syncs it, and a thread of its own copies it into the file. Decision 0012.
import { closeSync, fdatasync, openSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { errorText } from '../../core/nearest.ts';
import type { Clock } from '../../world/world.ts';
import { LostWritesError } from '../failure.ts';
import type { FileConnection } from './connection.ts';

/**
 * Size from which the WAL is copied into the file. Its file stays as large, and is written again from its start. A page that changed
 * many times is copied once: a smaller WAL would write more.
 */
const largeWalBytes = 16 * 1024 * 1024;

export interface DiskOptions {
  /** Syncs the data of an open file. Rejects if the disk did not take all of it. */
  readonly sync?: (fd: number) => Promise<void>;
  readonly clock?: Pick<Clock, 'busy'>;
}

const threadFile = new URL(`./checkpoint-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

function syncInPool(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (error) => (error ? reject(error) : resolve()));
  });
}

export class Wal {
  readonly #connection: FileConnection;
  readonly #sync: () => Promise<void>;
  readonly #busy: Clock['busy'];
  readonly #fd: number;
  /** Settles with the newest sync. A failed one is never followed by another: the kernel forgets what it could not write. */
  #synced: Promise<void> = Promise.resolve();
  /** True if a sync is queued that has not begun: it serves each transaction that ends before. */
  #isQueued = false;
  #lost: LostWritesError | null = null;
  #copying: Promise<void> | null = null;
  #thread: Worker | null = null;
  #copyFromBytes = largeWalBytes;

  constructor(connection: FileConnection, { sync = syncInPool, clock }: DiskOptions) {
    this.#connection = connection;
    this.#busy = clock?.busy ?? ((work) => work());
    this.#fd = openSync(`${connection.file}-wal`, 'r');
    this.#sync = () =>
      sync(this.#fd).catch((error: unknown) => {
        this.#lost = new LostWritesError(errorText(error));
        throw this.#lost;
      });
    connection.noSync(() => this.#committed());
  }

  /** Resolves once everything that was committed before the call is on the disk. Throws LostWritesError. */
  synced(): Promise<void> {
    return this.#synced;
  }

  /** Throws LostWritesError after a failed sync: what is written after it may not be readable after a power cut. */
  refuseLost(): void {
    if (this.#lost) throw this.#lost;
  }

  /** Copies a large WAL into the file, unless a reader needs it. Never rejects: the next write reports a failure. */
  copy(): Promise<void> {
    if (this.#connection.walBytes() >= largeWalBytes) this.#copying ??= this.#busy(() => this.#copyInThread());
    return this.#copying ?? Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#synced.catch(() => {});
    await this.#thread?.terminate();
    await this.#copying;
    closeSync(this.#fd);
  }

  #committed(): void {
    if (!this.#isQueued) {
      this.#isQueued = true;
      this.#synced = this.#synced.then(() => {
        this.#isQueued = false;
        return this.#busy(this.#sync);
      });
      // Whoever waits for it gets the failure.
      this.#synced.catch(() => {});
    }
    if (this.#connection.walBytes() >= this.#copyFromBytes) void this.copy();
  }

  /** The store waits only while the thread copies what was written since it began, and starts the WAL again. */
  async #copyInThread(): Promise<void> {
    const thread = new Worker(threadFile, {
      workerData: { file: this.#connection.file, keptBytes: largeWalBytes },
      env: {},
    });
    this.#thread = thread;
    thread.unref();
    const ended = new Promise<void>((resolve) => {
      thread.once('exit', () => resolve());
      thread.once('error', () => resolve());
    });
    const copied = new Promise<void>((resolve) => thread.once('message', () => resolve()));
    await Promise.race([copied, ended]);
    await this.#connection.db.connection().execute(() => {
      thread.postMessage('restart');
      return ended;
    });
    this.#thread = null;
    this.#copying = null;
    this.#copyFromBytes = this.#connection.walBytes() + largeWalBytes;
  }
}
