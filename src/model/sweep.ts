// The first sweep of an account: how far it is and when it will be done.
import type { EpochMs } from './time.ts';

/**
 * judging: warm-up and statistics are read, by which the guard judges. details: then connection, DNS and blacklists are,
 * in turns with what the cadence has made due.
 */
export type SweepPart = 'judging' | 'details';

/** While mailboxes that no process ever judged are read for the first time. */
export interface SweepProgress {
  readonly account: string;
  readonly since: EpochMs;
  /** How many the account has. */
  readonly mailboxes: number;
  readonly part: SweepPart;
  /** How many of them have nothing of this part left to be read. */
  readonly read: number;
  /** When the part will be done; null while that can't be foreseen. */
  readonly doneAt: EpochMs | null;
  /** What is found after this moment is announced when the part is over. */
  readonly keptFrom: EpochMs;
}
