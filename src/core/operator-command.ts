// Operator commands and their outcomes.
import type { MailboxName } from './mailbox.ts';
import { errorText } from './nearest.ts';
import type { EpochMs } from './time.ts';

export interface Requester {
  readonly by: string;
  readonly reason: string;
}

export interface Confirmation {
  readonly dry_run?: boolean;
  /** Plan from a dry run that the operator agreed to. If it has changed, nothing is done. */
  readonly plan?: string | null;
}

export interface ReloadRequest extends Confirmation {
  readonly by: string;
  readonly reason?: string;
  /** True to go ahead although the reload drops a large part of the guarded mailboxes. */
  readonly force: boolean;
}

/** planned: a dry run. changed: the agreed plan no longer fits, so nothing was done. failed: not done completely. */
export const commandResults = ['planned', 'done', 'no_change', 'changed', 'invalid', 'failed'] as const;
export type CommandResult = (typeof commandResults)[number];

export interface CommandOutcome {
  readonly result: CommandResult;
  readonly messages: readonly string[];
  readonly plan?: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly worthRetrying?: boolean;
}

export function succeeded({ result }: Pick<CommandOutcome, 'result'>): boolean {
  return result === 'planned' || result === 'done' || result === 'no_change';
}

export function noChange(...messages: readonly string[]): CommandOutcome {
  return { result: 'no_change', messages };
}

export function invalid(...messages: readonly string[]): CommandOutcome {
  return { result: 'invalid', messages };
}

export function failed(...messages: readonly string[]): CommandOutcome {
  return { result: 'failed', messages };
}

/** Outcome for an error: it is not known what was carried out. */
export function failure(error: unknown): CommandOutcome {
  return failed(errorText(error));
}

/** Carries out the operation `name` for the socket, HTTP, the page and recipes. Refuses in a sentence. */
export type Operate = (name: string, body: unknown) => Promise<CommandOutcome>;

export interface CommandName {
  readonly name: string;
  readonly command: string;
  /** Account that the command is about, or null for several or all. */
  readonly account: string | null;
  readonly mailboxes: readonly MailboxName[];
}

/** `interrupted`: Warmwarden ended before the outcome was known. */
export type CommandEnd = 'done' | 'no_change' | 'failed' | 'interrupted' | 'unknown';

export const itself = 'Warmwarden';

export interface CommandEntry extends CommandName, Requester {
  readonly id: number;
  readonly at: EpochMs;
  readonly end: CommandEnd | null;
  readonly endedAt: EpochMs | null;
  /** Sentences, one a line; empty while the command runs. */
  readonly outcome: string;
}
