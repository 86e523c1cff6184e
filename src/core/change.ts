// Something about a mailbox that was otherwise at the look before, and that Warmwarden did not do.
import type { EpochMs } from './time.ts';

/** What is watched for changes: the warm-up as others set it, and what may explain bounces. */
export type ChangedThing =
  | 'mode'
  | 'warm-up'
  | 'target_daily_limit'
  | 'connection'
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'spf_record'
  | 'dkim_record'
  | 'dmarc_record'
  | 'listing';

/** It happened between `since` (the look before) and `at` (the look that shows it). Nobody says who did it. */
export interface Change {
  readonly since: EpochMs;
  readonly at: EpochMs;
  readonly what: ChangedThing;
  /** As the API wrote it; null for nothing. */
  readonly from: string | null;
  readonly to: string | null;
}

/** So many changes of a mailbox are at hand, the newest; the store keeps all. */
export const changesShown = 20;
