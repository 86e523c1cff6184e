// When a replica may take another for dead: it saw one beat of it unchanged in its own successful reads for the whole deadline.
import { deadlineMs } from './deadline.ts';

/** What was seen of another replica's beats. */
export interface Seen {
  readonly beat: number;
  /** When this beat was read first, on the monotonic clock. */
  readonly since: number;
}

/** After a successful read at `now`. A time in the database is no part of it: an outage or a clock step there would kill the living. */
export function afterRead(seen: Seen | null, beat: number, now: number): Seen {
  return seen?.beat === beat ? seen : { beat, since: now };
}

/** After a read that failed the count starts over: the other one could not beat either. */
export const afterFailedRead = null;

/** Whether it is dead for us. It is marked so only where its beat is still the one that was seen, and a dead one never beats again. */
export function isSilent(seen: Seen, now: number): boolean {
  return now - seen.since >= deadlineMs;
}
