// The lock that admits one process to a store: SQLite's own lock on FILE.lock, which is free at once after kill -9.
import { readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { type EpochMs, minuteMs } from '../../core/time.ts';
import { AtRiskError, HeldStoreError } from '../failure.ts';
import { create, identityOf, lockOf, sizeOf } from './place.ts';

export class StoreLock {
  readonly #file: string;
  #held: DatabaseSync;
  #identity: string;

  constructor(file: string) {
    this.#file = file;
    this.#held = lockedOrNull(lockOf(file)) ?? refuse(file);
    this.#identity = identityOf(lockOf(file));
    // The previous holder may still be running although the lock file was deleted.
    if (livingHolder(file) === null) return;
    this.#held.close();
    refuse(file);
  }

  /** Acquires the lock again if its file was deleted. Throws if another process was faster. */
  hold(): void {
    const path = lockOf(this.#file);
    if (identityOf(path) === this.#identity) return;
    create(path);
    const again = lockedOrNull(path);
    if (!again)
      throw new AtRiskError(`another Warmwarden uses ${this.#file}: ${path} was deleted`, 'Stop one of the two.');
    this.#held.close();
    this.#held = again;
    this.#identity = identityOf(path);
  }

  close(): void {
    this.#held.close();
  }
}

export function lockedOrNull(path: string): DatabaseSync | null {
  const lock = new DatabaseSync(path);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && error.message.includes('locked')) return null;
    throw error;
  }
}

function refuse(file: string): never {
  throw new HeldStoreError(file, holderOf(file) ?? 'another process');
}

/** An empty file is not opened, because SQLite would delete the WAL beside it. */
function holderOf(file: string): string | null {
  if (sizeOf(file) === 0) return null;
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const row = database.prepare("SELECT value FROM meta WHERE key = 'holder'").get();
      return typeof row?.['value'] === 'string' ? row['value'] : null;
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

export const nameOfHolder = (now: EpochMs) =>
  `process ${process.pid} on ${hostname()}, since ${new Date(now).toISOString()}`;

const startsWithinMs = 5 * minuteMs;

export function starterOf(file: string, now: EpochMs): string | null {
  const holder = livingHolder(file);
  const [, since = ''] = /, since (\S+)$/.exec(holder ?? '') ?? [];
  return Math.abs(now - Date.parse(since)) < startsWithinMs ? holder : null;
}

/** Holder that the store names, or null unless it is another process of this machine that has the file open now. */
export function livingHolder(file: string): string | null {
  const holder = holderOf(file);
  const [, pid, host] = /^process (\d+) on (.+), since /.exec(holder ?? '') ?? [];
  if (pid === undefined || host !== hostname() || pid === String(process.pid)) return null;
  return hasOpen(pid, file) ? holder : null;
}

/** True if /proc shows that the process has the file open. False without /proc, or for another user's process. */
function hasOpen(pid: string, file: string): boolean {
  const wanted = identityOf(file);
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => identityOf(`/proc/${pid}/fd/${fd}`) === wanted);
  } catch {
    return false;
  }
}
