// How far the clock of this machine is from that of the database: replicas compare what others stored with their own time.
import type { Log } from '../../world/world.ts';
import { UntakenError } from './untaken.ts';

const largeMs = 2_000;
/** A replica whose clock is further away takes no work. */
const excessiveMs = 30_000;

export type Skew = 'small' | 'large' | 'excessive';

/** `aheadMs`: how far the clock of the database is ahead of this machine's. */
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

/** No replica has some work, and the clock keeps this one from taking it. `replica`: for people, its host and process. */
export function tooFar(replica: string, aheadMs: number): UntakenError {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const direction = aheadMs > 0 ? 'behind' : 'ahead of';
  return new UntakenError({
    title: 'a replica takes no work: its clock is wrong',
    said: `the clock of ${replica} is ${seconds} s ${direction} the clock of the PostgreSQL server, and a replica takes no work while they differ by more than ${excessiveMs / 1_000} s`,
    remedy:
      'Synchronize both clocks, for example with chrony or systemd-timesyncd; Warmwarden then continues by itself.',
  });
}
