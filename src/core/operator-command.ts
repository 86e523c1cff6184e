// Operator commands: what a person asks of the daemon, who asks and why, and what came of it.
import type { AlertMatch } from './alert.ts';
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';

/** Person who asks, and the reason. */
export interface Requester {
  readonly by: string;
  readonly reason: string;
}

/** Extent of a request. */
export interface Confirmation {
  /** True to only describe the effect. */
  readonly dryRun?: boolean;
  /** The plan that the operator agreed to, as a dry run returned it. When it is another one by now, nothing is done. */
  readonly plan?: string | null;
}

/** Common fields of every request that changes something. */
export interface OperatorRequest extends Requester, Confirmation {}

/** Ending the hold of one mailbox whose changes others took back. */
export interface ContestReleaseRequest extends OperatorRequest {
  /** Name of the mailbox: its address, its id, or ACCOUNT/ADDRESS. */
  readonly mailbox: string;
}

/** A change of one mailbox by a person. */
export interface MailboxRequest extends OperatorRequest {
  /** Name of the mailbox: its address, its id, or ACCOUNT/ADDRESS. */
  readonly mailbox: string;
}

/** Resume by a recipe: only of a pause of ours, and only while our claim on it stands. */
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
  /** Length of the period, milliseconds. */
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
  /** True to go ahead although it drops a large part of the guarded mailboxes. */
  readonly force: boolean;
}

/** Silence for a while: people are not notified of matching alerts. At least one field must be given to match. */
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
  /** Plan to agree to: of a dry run, and where the situation changed. */
  readonly plan?: string;
  /** Counts by kind, where the plan's sentences name only some. */
  readonly counts?: Readonly<Record<string, number>>;
  /** True if a failed request was right, and may be repeated later. */
  readonly worthRetrying?: boolean;
}

/** True if the wanted state is in force now. */
export function succeeded({ result }: Pick<CommandOutcome, 'result'>): boolean {
  return result === 'planned' || result === 'done' || result === 'no_change';
}

/** A mailbox as the audit log names it. */
export interface MailboxName {
  readonly account: string;
  readonly id: string;
  readonly email: string;
}

/** Request as the audit log names it. */
export interface CommandName {
  /** The operation: pause, writes, breaker-release, ... */
  readonly name: string;
  /** Command as it would be typed, in a few words. */
  readonly command: string;
  /** The account that it is about; null: several, or all. */
  readonly account: string | null;
  /** The mailboxes that it names. */
  readonly mailboxes: readonly MailboxName[];
}

/** End of a command in the audit log. `interrupted`: Warmwarden ended before the outcome was known. */
export type CommandEnd = 'done' | 'no_change' | 'failed' | 'interrupted' | 'unknown';

/** The name of Warmwarden in the audit log. */
export const itself = 'Warmwarden';

/** A line of the audit log. */
export interface CommandEntry extends CommandName, Requester {
  /** Grows with time. */
  readonly id: number;
  readonly at: EpochMs;
  /** End of the command, or null while it is in progress. */
  readonly end: CommandEnd | null;
  readonly endedAt: EpochMs | null;
  /** Sentences, each on a line of its own; empty while it is under way. */
  readonly outcome: string;
}

/** Commands that the daemon offers to the socket, HTTP and recipes. */
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

/** Commands including those about the daemon as a whole. */
export interface DaemonCommands extends OperatorCommands {
  reload(request: ReloadRequest): Promise<CommandOutcome>;
  /** Sends undelivered messages once more. */
  channelsResend(request: ResendRequest): Promise<CommandOutcome>;
}
