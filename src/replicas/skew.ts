// How far the clock of this machine is from that of the database: replicas compare what others stored with their own time.
import type { Log } from '../world.ts';
import { UntakenError } from './untaken.ts';

const largeMs = 2_000;
/** A replica whose clock is further away takes no work. */
const excessiveMs = 30_000;

export type Skew = 'small' | 'large' | 'excessive';

/** `aheadMs`: of the database before this machine. */
export function skewOf(aheadMs: number): Skew {
  const ms = Math.abs(aheadMs);
  return ms > excessiveMs ? 'excessive' : ms > largeMs ? 'large' : 'small';
}

/** Warns when it became worse. */
export function warnOfSkew(aheadMs: number, before: Skew, log: Log): Skew {
  const skew = skewOf(aheadMs);
  const about = { difference: `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s` };
  if (skew === 'large' && before === 'small')
    log.warn(about, 'the clock of this machine and that of the PostgreSQL server differ: synchronize them');
  if (skew === 'excessive' && before !== 'excessive')
    log.warn(about, 'this replica takes no more accounts: its clock and that of the PostgreSQL server differ too much');
  return skew;
}

/** There is work that nobody has, and the clock keeps this replica from taking it. `replica`: for people, its host and process. */
export function tooFar(replica: string, aheadMs: number): UntakenError {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const direction = aheadMs > 0 ? 'behind' : 'ahead of';
  return new UntakenError(
    `the clock of ${replica} is ${seconds} s ${direction} the clock of the PostgreSQL server, and beyond ${excessiveMs / 1_000} s Warmwarden takes no work`,
    'Synchronize both clocks, for example with chrony or systemd-timesyncd; Warmwarden then continues by itself.',
  );
}
