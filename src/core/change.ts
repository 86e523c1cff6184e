// Something about a mailbox that was otherwise at the look before, and that Warmwarden did not do.
import type { EpochMs } from './time.ts';

/** Things that are watched for changes: the warm-up as others set it, and possible causes of bounces. */
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

/** Change between `since` (the look before) and `at` (the look that shows it). Its author is unknown. */
export interface Change {
  readonly since: EpochMs;
  readonly at: EpochMs;
  readonly what: ChangedThing;
  /** Value before, as the API wrote it, or null if there was none. */
  readonly from: string | null;
  readonly to: string | null;
}

/** Number of newest changes that a mailbox keeps in memory; the store keeps all. */
export const changesShown = 20;
