// Operator commands: what a person asks of the daemon, who asks, why, and what came of it.
import type { AlertMatch } from './alert.ts';
import type { ResendRequest } from './delivery.ts';
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';

/** Who asks, and why. */
export interface Requester {
  readonly by: string;
  readonly reason: string;
}

/** What can be asked for its effect first: with `preview` true nothing is done, and what it would do is said. */
export interface Previewed {
  readonly preview?: boolean;
}

export interface ReleaseRequest extends Requester, Previewed {
  /** A mailbox as people name it (address, id, or ACCOUNT/ADDRESS); null: the breaker, of all accounts. */
  readonly mailbox: string | null;
}

/** A change of one mailbox by a person. */
export interface MailboxRequest extends Requester {
  /** As people name it: its address, its id, or ACCOUNT/ADDRESS. */
  readonly mailbox: string;
  /** Only say what it would do. */
  readonly preview: boolean;
}

/** Of a recipe: only what an action of ours paused, and only while our claim on that action stands. */
export interface ResumeRequest extends MailboxRequest {
  readonly undoes?: string;
}

export interface ModeRequest extends MailboxRequest {
  readonly mode: WarmupMode;
}

/** Taking back what Warmwarden did by itself lately, where its claim still stands. */
export interface UndoRequest extends Requester {
  /** How far back, milliseconds. */
  readonly sinceMs: number;
  /** Only say what it would do. */
  readonly preview: boolean;
}

/** Asking the API for everything about a mailbox now. */
export interface RefreshRequest extends Requester {
  readonly mailbox: string;
}

/** The emergency stop: writing to the API is switched off, or on again, for everything, an account or a mailbox. */
export interface WritesRequest extends Requester, Previewed {
  readonly off: boolean;
  readonly account: string | null;
  readonly mailbox: string | null;
  /** Switched on again by itself after this; null: by a person only. */
  readonly forMs: number | null;
}

/** Loading the configuration file again. */
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
export interface SilenceRequest extends Requester, Previewed {
  readonly match: AlertMatch;
  readonly forMs: number;
}

export interface SilenceEndRequest extends Requester {
  /** The silence's id. */
  readonly id: string;
}

/** `said` are sentences for the person; with `done` false they say what is wrong. */
export interface CommandOutcome {
  readonly done: boolean;
  readonly said: readonly string[];
  /** There is nothing to do, so nobody need be asked. */
  readonly needless?: boolean;
  /** With `done` false: nothing was wrong with what was asked, so the same may be done later. */
  readonly worthRetrying?: boolean;
}

/** What the daemon offers to whoever takes requests: the socket, HTTP, recipes. */
export interface OperatorCommands {
  release(request: ReleaseRequest): Promise<CommandOutcome>;
  writes(request: WritesRequest): Promise<CommandOutcome>;
  /** Stops the warm-up of a mailbox, and says so only when it was read back. */
  pause(request: MailboxRequest): Promise<CommandOutcome>;
  resume(request: ResumeRequest): Promise<CommandOutcome>;
  mode(request: ModeRequest): Promise<CommandOutcome>;
  /** Takes back what Warmwarden did by itself and still claims. */
  undo(request: UndoRequest): Promise<CommandOutcome>;
  refresh(request: RefreshRequest): Promise<CommandOutcome>;
  silence(request: SilenceRequest): Promise<CommandOutcome>;
  endSilence(request: SilenceEndRequest): Promise<CommandOutcome>;
}

/** With what is about the daemon as a whole. */
export interface DaemonCommands extends OperatorCommands {
  reload(request: ReloadRequest): Promise<CommandOutcome>;
  /** Sends messages that were given up once more. */
  resend(request: ResendRequest): Promise<CommandOutcome>;
}
