// Ends an emergency stop when its time is over, and keeps its alert in line with what is off: at each expiry and every 30 s.
import { settleWrites, type WritesRooms } from './writes.ts';

const lookEveryMs = 30_000;

/** One look; `isMine`: of several replicas one notifies people. Returns how long to wait for the next one, milliseconds. */
export async function watchWrites(rooms: WritesRooms, isMine: () => boolean): Promise<number> {
  if (isMine()) await settleWrites(rooms);
  const now = rooms.world.clock.now();
  const ends = rooms.fleet.writesOff(now).flatMap(({ until }) => (until === null ? [] : [until - now]));
  // Regularly, too: accounts and mailboxes come and go.
  return Math.max(1, Math.min(lookEveryMs, ...ends));
}
