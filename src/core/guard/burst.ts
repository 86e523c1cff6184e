// A burst: so many bounces in the newest days that the limit allows at least three fewer, whatever the whole window says.
import type { Ppm } from '../policy.ts';
import { addDays, type IsoDate } from '../time.ts';
import type { EvidenceStart, Verdict } from '../verdict.ts';
import { type Days, pool } from './rows.ts';

/** A burst is looked for in the last so many days, and in each shorter stretch up to now. */
const burstDays = 3;
/** Bounces on top of what the limit allows; fewer come by chance. */
const bouncesBeyondLimit = 3;

export type Burst = NonNullable<Verdict['burst']>;

/** The shortest burst up to the newest day, in days that are evidence; null when there is none. */
export function burstIn(days: Days, limitPpm: Ppm, evidence: EvidenceStart | null): Burst | null {
  const to: IsoDate | null = days.anchor;
  if (to === null) return null;
  for (let length = 1; length <= burstDays; length += 1) {
    const from = addDays(to, 1 - length);
    const { sent, bounced } = pool(days, { from, to }, evidence);
    if ((bounced - bouncesBeyondLimit) * 1e6 >= limitPpm * sent) return { sent, bounced, from, days: length };
  }
  return null;
}
