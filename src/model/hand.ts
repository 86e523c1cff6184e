// A person's hand on the running daemon: what was asked, by whom, why, and what came of it.

import type { EpochMs } from './time.ts';

/** What a person may ask for. More hands come with later versions. */
export interface ReleaseRequest {
  /** A mailbox as people name it (address, id, or ACCOUNT/ADDRESS); null: the breaker, of all accounts. */
  readonly mailbox: string | null;
  readonly by: string;
  readonly reason: string;
}

/** The red button: writing to the API is switched off, or on again, for everything, an account or a mailbox. */
export interface WritesRequest {
  readonly off: boolean;
  readonly account: string | null;
  readonly mailbox: string | null;
  /** Switched on again by itself after this; null: by a person only. */
  readonly forMs: number | null;
  readonly by: string;
  readonly reason: string;
}

/** Since when, by whom and why nothing is written; to what, `scope` says (see scopeOf). */
export interface WritesOff {
  readonly scope: string;
  readonly since: EpochMs;
  readonly until: EpochMs | null;
  readonly by: string;
  readonly reason: string;
}

/** What a switch is about: everything, `ACCOUNT`, or `ACCOUNT/ID`. */
export function scopeOf(account: string | null, mailboxId: string | null): string {
  if (account === null) return 'everything';
  return mailboxId === null ? account : `${account}/${mailboxId}`;
}

/** `said` are sentences for the person; with `done` false they say what is wrong. */
export interface HandOutcome {
  readonly done: boolean;
  readonly said: readonly string[];
}

/** The actions that the daemon hands to whoever takes people's wishes. */
export interface Hands {
  release(request: ReleaseRequest): Promise<HandOutcome>;
  writes(request: WritesRequest): Promise<HandOutcome>;
}
