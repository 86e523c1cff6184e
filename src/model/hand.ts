// A person's hand on the running daemon: what was asked, by whom, why, and what came of it.
import type { AlertMatch } from './alert.ts';
import type { ResendRequest } from './delivery.ts';
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';

/** Who asks, and why. */
export interface Asker {
  readonly by: string;
  readonly reason: string;
}

/** What can be asked for its effect first: with `preview` true nothing is done, and what it would do is said. */
export interface Previewed {
  readonly preview?: boolean;
}

export interface ReleaseRequest extends Asker, Previewed {
  /** A mailbox as people name it (address, id, or ACCOUNT/ADDRESS); null: the breaker, of all accounts. */
  readonly mailbox: string | null;
}

/** A change of one mailbox by a person's hand. */
export interface MailboxRequest extends Asker {
  /** As people name it: its address, its id, or ACCOUNT/ADDRESS. */
  readonly mailbox: string;
  /** Only say what it would do. */
  readonly preview: boolean;
}

export interface ModeRequest extends MailboxRequest {
  readonly mode: WarmupMode;
}

/** Taking back what Warmwarden did by itself lately, where its claim still stands. */
export interface UndoRequest extends Asker {
  /** How far back, milliseconds. */
  readonly sinceMs: number;
  /** Only say what it would do. */
  readonly preview: boolean;
}

/** Asking the API for everything about a mailbox now. */
export interface RefreshRequest extends Asker {
  readonly mailbox: string;
}

/** The red button: writing to the API is switched off, or on again, for everything, an account or a mailbox. */
export interface WritesRequest extends Asker, Previewed {
  readonly off: boolean;
  readonly account: string | null;
  readonly mailbox: string | null;
  /** Switched on again by itself after this; null: by a person only. */
  readonly forMs: number | null;
}

/** Taking the configuration file anew. */
export interface ReloadRequest {
  readonly by: string;
  /** Also when it drops a large part of the guarded mailboxes. */
  readonly force: boolean;
  /** Only say what would change. */
  readonly dryRun: boolean;
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

/** Nobody is told of the alerts that fit, for a while. Something must be given to fit. */
export interface SilenceRequest extends Asker, Previewed {
  readonly match: AlertMatch;
  readonly forMs: number;
}

export interface SilenceEndRequest extends Asker {
  /** The silence's id. */
  readonly id: string;
}

/** `said` are sentences for the person; with `done` false they say what is wrong. */
export interface HandOutcome {
  readonly done: boolean;
  readonly said: readonly string[];
  /** There is nothing to do, so nobody need be asked. */
  readonly needless?: boolean;
}

/** The actions that the daemon hands to whoever takes people's wishes. */
export interface Hands {
  release(request: ReleaseRequest): Promise<HandOutcome>;
  writes(request: WritesRequest): Promise<HandOutcome>;
  /** Stops the warm-up of a mailbox, and says so only when it was read back. */
  pause(request: MailboxRequest): Promise<HandOutcome>;
  resume(request: MailboxRequest): Promise<HandOutcome>;
  mode(request: ModeRequest): Promise<HandOutcome>;
  /** Takes back what Warmwarden did by itself and still claims. */
  undo(request: UndoRequest): Promise<HandOutcome>;
  refresh(request: RefreshRequest): Promise<HandOutcome>;
  silence(request: SilenceRequest): Promise<HandOutcome>;
  endSilence(request: SilenceEndRequest): Promise<HandOutcome>;
}

/** With what is about the daemon as a whole. */
export interface DaemonHands extends Hands {
  reload(request: ReloadRequest): Promise<HandOutcome>;
  /** Sends messages that were given up once more. */
  resend(request: ResendRequest): Promise<HandOutcome>;
}
