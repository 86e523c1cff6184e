// When an account counts as guarded: the loops that poll it turn.
import { type EpochMs, minuteMs, secondMs } from './time.ts';

/** A loop of an account that waits, for whatever reason, turns at least this often. */
export const turnEveryMs = 15 * secondMs;
/** An account whose loops have not all turned for so long is not guarded, and people are notified. One whose start failed is not guarded at once. */
export const unguardedAfterMs = minuteMs;

/** What is wrong with an account that is not guarded. */
export interface Unguarded {
  /** When its loops turned last; while it starts, since when they should. */
  readonly since: EpochMs;
  /** A part of a sentence: `its request loop is stuck`. */
  readonly why: string;
  /** It was never guarded since this process is to guard it, or began to look: so far that is normal. */
  readonly isStarting: boolean;
}

/** A configured account. */
export interface Guarding {
  readonly account: string;
  /** null while it is guarded. */
  readonly unguarded: Unguarded | null;
  /** The name of the other replica that guards it; null: this process is to, or none does. */
  readonly elsewhere: string | null;
}
