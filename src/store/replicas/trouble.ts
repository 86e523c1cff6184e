// What keeps a replica from its work: heartbeats that fail, work that it can't take, a clock that is wrong, work that does not end.
import type { Log } from '../../world/world.ts';
import type { Taking } from './membership.ts';
import { type Skew, tooFar, warnOfSkew } from './skew.ts';
import { UntakenError } from './untaken.ts';

/** Free work is taken within seconds, once lost work has ended: a request and its read-back take up to 25 s. */
const lateMs = 30_000;

export class Trouble {
  /** For people: host and process. */
  readonly #replica: string;
  readonly #log: Log;
  /** Why the last beat or look failed, or the entry after them; null: it did not. */
  #beatFailure: Error | null = null;
  /** In a row. */
  #beatFailures = 0;
  /** Why work could not be taken the last time; null: the database answered. */
  #takeFailure: Error | null = null;
  /** On the monotonic clock. */
  #tookAt = Number.NEGATIVE_INFINITY;
  /** How far the clock of the database is ahead of this machine's, milliseconds. */
  #aheadMs = 0;
  #skew: Skew = 'small';

  constructor(replica: string, log: Log) {
    this.#replica = replica;
    this.#log = log;
  }

  beatWell(): void {
    this.#beatFailure = null;
    this.#beatFailures = 0;
  }

  beatFailed(error: unknown): void {
    this.#beatFailure = asError(error);
    this.#beatFailures += 1;
  }

  get beatFailure(): Error | null {
    return this.#beatFailure;
  }

  /** null: another replica has it, or the database does not say. */
  async ofTaking(taking: Promise<Taking | null>, now: () => number): Promise<Taking | null> {
    try {
      const how = await taking;
      if (how !== null) this.#tookAt = now();
      this.#takeFailure = null;
      return how;
    } catch (error) {
      if (!this.#takeFailure)
        this.#log.error({ err: error }, 'this replica could not take work that no other replica has');
      this.#takeFailure = asError(error);
      return null;
    }
  }

  measured(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    this.#skew = warnOfSkew(aheadMs, this.#skew, this.#log);
  }

  get isClockOff(): boolean {
    return this.#skew === 'excessive';
  }

  /** See Membership. `freeSince`: of work that no replica has, as `now` on the monotonic clock. */
  overdue(isHeld: boolean, freeSince: Iterable<number>, now: number): Error | null {
    // One failure proves nothing: after a sleep of the machine, the connection is lost.
    if (!isHeld && this.#beatFailures > 1) return this.#beatFailure;
    if (now - Math.max(this.#tookAt, Math.min(...freeSince)) < lateMs) return null;
    return this.isClockOff ? tooFar(this.#replica, this.#aheadMs) : (this.#takeFailure ?? notEnded(this.#replica));
  }
}

/** The end of work waits for requests under way, and each of those has a deadline. */
function notEnded(replica: string): UntakenError {
  return new UntakenError({
    title: 'a replica takes no work: its earlier work has not ended',
    said: `the replica ${replica} lost its work, but has not ended it yet, and takes no new work before that`,
    remedy: 'Restart this replica, and report the problem with its log.',
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
