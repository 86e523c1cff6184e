// Accounts whose mailboxes are pooled, as the tests of the rules beyond one mailbox write them down.
import { type Pools, poolsOf, type Standing } from '../../src/core/guard/pooled-rules.ts';
import { limitedDays } from '../../src/core/guard/window.ts';
import { defaultPolicy, type WarmupMode } from '../../src/core/policy.ts';
import type { IsoDate } from '../../src/core/time.ts';
import type { EarlierMode } from '../../src/core/verdict.ts';
import { daysUpTo, now, today } from './samples.ts';

export interface PooledSample {
  readonly domain: string;
  readonly mode: WarmupMode;
  /** [sent, bounced], the oldest first. */
  readonly days: readonly (readonly [number, number])[];
  /** Its newest day; today where nothing is said. */
  readonly until?: IsoDate;
  readonly earlierModes?: readonly EarlierMode[];
  readonly standing?: Standing;
}

/** An account of such mailboxes. */
export function accountOf(samples: readonly PooledSample[]): Pools {
  return poolsOf(
    samples.map(({ domain, mode, days, until = today, earlierModes = [], standing = 'counted' }) => {
      const rows = daysUpTo(until, ...days);
      const source = { stats: { rows }, now, mode, earlierModes, limitsPpm: defaultPolicy.limitsPpm };
      return { domain, standing, days: standing === 'counted' ? limitedDays(source) : null };
    }),
  );
}

/** The same mailbox again and again. */
export function each(count: number, sample: PooledSample): readonly PooledSample[] {
  return Array.from({ length: count }, () => sample);
}
