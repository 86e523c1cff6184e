// How far the clock of this machine is from that of the database: replicas compare what others stored with their own time.
import type { Log } from '../world.ts';

const largeMs = 2_000;
/** A replica whose clock is further away takes no work. */
const excessiveMs = 30_000;

export type Skew = 'small' | 'large' | 'excessive';

/** `aheadMs`: of the database before this machine. Warns when it became worse. */
export function warnOfSkew(aheadMs: number, before: Skew, log: Log): Skew {
  const ms = Math.abs(aheadMs);
  const skew = ms > excessiveMs ? 'excessive' : ms > largeMs ? 'large' : 'small';
  const about = { difference: `${(ms / 1_000).toFixed(1)} s` };
  if (skew === 'large' && before === 'small')
    log.warn(about, 'the clock of this machine and that of the PostgreSQL server differ: synchronize them');
  if (skew === 'excessive' && before !== 'excessive')
    log.warn(about, 'this replica takes no more accounts: its clock and that of the PostgreSQL server differ too much');
  return skew;
}
