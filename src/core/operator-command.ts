// Operator commands: who asks the daemon for one and why, and what came of it. `operations` has what each takes and does.
import type { EpochMs } from './time.ts';

export interface Requester {
  readonly by: string;
  readonly reason: string;
}

export interface Confirmation {
  /** True to only describe the effect. */
  readonly dry_run?: boolean;
  /** The plan that the operator agreed to, as a dry run returned it. When it is another one by now, nothing is done. */
  readonly plan?: string | null;
}

export interface ReloadRequest extends Confirmation {
  readonly by: string;
  readonly reason?: string;
  /** True to go ahead although it drops a large part of the guarded mailboxes. */
  readonly force: boolean;
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

/**
 * The one door for the socket, HTTP, the page and recipes: carries out the operation `name`. Refuses an unknown operation
 * or an unreadable body in a sentence.
 */
export type Operate = (name: string, body: unknown) => Promise<CommandOutcome>;

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
  readonly mailboxes: readonly MailboxName[];
}

/** End of a command in the audit log. `interrupted`: Warmwarden ended before the outcome was known. */
export type CommandEnd = 'done' | 'no_change' | 'failed' | 'interrupted' | 'unknown';

/** The name of Warmwarden in the audit log. */
export const itself = 'Warmwarden';

export interface CommandEntry extends CommandName, Requester {
  readonly id: number;
  readonly at: EpochMs;
  readonly end: CommandEnd | null;
  readonly endedAt: EpochMs | null;
  /** Sentences, each on a line of its own; empty while it is under way. */
  readonly outcome: string;
}
