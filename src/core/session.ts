// A browser that signed in with a token. Of the cookie and of the token only digests are kept.
import type { EpochMs } from './time.ts';

export interface Session {
  /** SHA-256 of the cookie's value, 64 hex digits. */
  readonly id: string;
  /** SHA-256 of the token's name, digest and role, 64 hex digits: another one when any of them changed. */
  readonly token: string;
  readonly startedAt: EpochMs;
  /** Within a few minutes. */
  readonly usedAt: EpochMs;
}

/** Sessions that ended at these moments or earlier, and those beyond `perToken` of one token, are forgotten. */
export interface SessionLimits {
  readonly startedAfter: EpochMs;
  readonly usedAfter: EpochMs;
  readonly perToken: number;
}
