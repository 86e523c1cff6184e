// Operator commands: what a person asks of the daemon, who asks and why, and what came of it.
import type { AlertMatch } from './alert.ts';
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';

/** Who asks, and why. */
export interface Requester {
  readonly by: string;
  readonly reason: string;
}

/** How far a request goes. */
export interface Confirmation {
  /** Only say what it would do. */
  readonly dryRun?: boolean;
  /** The plan that the operator agreed to, as a dry run returned it. When it is another one by now, nothing is done. */
  readonly plan?: string | null;
}

/** What everything that changes something is asked with. */
export interface OperatorRequest extends Requester, Confirmation {}

/** Ending the hold of one mailbox whose changes others took back. */
export interface ContestReleaseRequest extends OperatorRequest {
  /** As people name it: its address, its id, or ACCOUNT/ADDRESS. */
  readonly mailbox: string;
}

/** A change of one mailbox by a person. */
export interface MailboxRequest extends OperatorRequest {
  /** As people name it: its address, its id, or ACCOUNT/ADDRESS. */
  readonly mailbox: string;
}

/** Of a recipe: only what an action of ours paused, and only while our claim on that action stands. */
export interface ResumeRequest extends MailboxRequest {
  readonly undoes?: string;
}

export interface ModeRequest extends MailboxRequest {
  readonly mode: WarmupMode;
}

export interface LimitRequest extends MailboxRequest {
  /** The target daily limit, emails a day. */
  readonly limit: number;
}

/** Taking back what Warmwarden did by itself lately, and the limits that people set through it, where that still stands. */
export interface UndoRequest extends OperatorRequest {
  /** How far back, milliseconds. */
  readonly sinceMs: number;
}

/** Asking the API for everything about a mailbox now. */
export interface RefreshRequest extends Requester {
  readonly mailbox: string;
}

/** The emergency stop: writing to the API is switched off, or on again, for everything, an account or a mailbox. */
export interface WritesRequest extends OperatorRequest {
  readonly off: boolean;
  readonly account: string | null;
  readonly mailbox: string | null;
  /** Switched on again by itself after this; null: by a person only. */
  readonly forMs: number | null;
}

/** Loading the configuration file again. */
export interface ReloadRequest extends Confirmation {
  readonly by: string;
  readonly reason?: string;
  /** Also when it drops a large part of the guarded mailboxes. */
  readonly force: boolean;
}

/** Nobody is notified of the alerts that fit, for a while. Something must be given to fit. */
export interface SilenceAddRequest extends OperatorRequest {
  readonly match: AlertMatch;
  readonly forMs: number;
}

export interface SilenceExpireRequest extends OperatorRequest {
  /** The silence's id. */
  readonly id: string;
}

/** Which undelivered messages to send once more; null: any. */
export interface ResendRequest extends OperatorRequest {
  readonly channel: string | null;
  readonly delivery: string | null;
}

/**
 * planned: a dry run, nothing was done. done. no_change: there was nothing to do. changed: the situation is no longer the
 * one that was agreed to, and nothing was done. invalid: the request names something that does not exist, or makes no
 * sense. failed: it was not done, or not all of it.
 */
export const commandResults = ['planned', 'done', 'no_change', 'changed', 'invalid', 'failed'] as const;
export type CommandResult = (typeof commandResults)[number];

export interface CommandOutcome {
  readonly result: CommandResult;
  /** Sentences for the person. */
  readonly messages: readonly string[];
  /** Of a dry run, and when the situation changed: what to agree to. */
  readonly plan?: string;
  /** Of a plan, where its sentences name some and count the rest: how many of what. */
  readonly counts?: Readonly<Record<string, number>>;
  /** With `failed`: nothing was wrong with what was asked, so the same may be done later. */
  readonly worthRetrying?: boolean;
}

/** Whether what was asked for is so now. */
export function succeeded({ result }: Pick<CommandOutcome, 'result'>): boolean {
  return result === 'planned' || result === 'done' || result === 'no_change';
}

/** A mailbox as the audit log names it. */
export interface MailboxName {
  readonly account: string;
  readonly id: string;
  readonly email: string;
}

/** What was asked, as the audit log names it. */
export interface CommandName {
  /** The operation: pause, writes, breaker-release, ... */
  readonly name: string;
  /** As it would be typed, in a few words. */
  readonly command: string;
  /** The account that it is about; null: several, or all. */
  readonly account: string | null;
  /** The mailboxes that it names. */
  readonly mailboxes: readonly MailboxName[];
}

/**
 * How a command of the audit log ended. interrupted: Warmwarden ended before the outcome was known. unknown: an earlier
 * version did not write it down.
 */
export type CommandEnd = 'done' | 'no_change' | 'failed' | 'interrupted' | 'unknown';

/** The name of Warmwarden in the audit log. */
export const itself = 'Warmwarden';

/** A line of the audit log. */
export interface CommandEntry extends CommandName, Requester {
  /** Grows with time. */
  readonly id: number;
  readonly at: EpochMs;
  /** null: it is under way. */
  readonly end: CommandEnd | null;
  readonly endedAt: EpochMs | null;
  /** Sentences, each on a line of its own; empty while it is under way. */
  readonly outcome: string;
}

/** What the daemon offers to whoever takes requests: the socket, HTTP, recipes. */
export interface OperatorCommands {
  /** Lets the actions go that the circuit breakers hold, of all accounts. */
  breakerRelease(request: OperatorRequest): Promise<CommandOutcome>;
  contestRelease(request: ContestReleaseRequest): Promise<CommandOutcome>;
  writes(request: WritesRequest): Promise<CommandOutcome>;
  /** Stops the warm-up of a mailbox, and says so only when it was read back. */
  pause(request: MailboxRequest): Promise<CommandOutcome>;
  resume(request: ResumeRequest): Promise<CommandOutcome>;
  mode(request: ModeRequest): Promise<CommandOutcome>;
  limit(request: LimitRequest): Promise<CommandOutcome>;
  /** Takes back what Warmwarden did by itself and still claims, and the limits that were set through it. */
  undo(request: UndoRequest): Promise<CommandOutcome>;
  refresh(request: RefreshRequest): Promise<CommandOutcome>;
  silenceAdd(request: SilenceAddRequest): Promise<CommandOutcome>;
  silenceExpire(request: SilenceExpireRequest): Promise<CommandOutcome>;
}

/** With what is about the daemon as a whole. */
export interface DaemonCommands extends OperatorCommands {
  reload(request: ReloadRequest): Promise<CommandOutcome>;
  /** Sends undelivered messages once more. */
  channelsResend(request: ResendRequest): Promise<CommandOutcome>;
}
