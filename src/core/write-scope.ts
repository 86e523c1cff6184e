// The emergency stop: its scope and name.
import { type EpochMs, secondMs } from './time.ts';

export type WriteScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'mailbox'; readonly account: string; readonly mailboxId: string; readonly email: string };

export interface WritesOff {
  readonly scope: WriteScope;
  readonly since: EpochMs;
  /** End of the stop, or null if only a person ends it. */
  readonly until: EpochMs | null;
  readonly by: string;
  readonly reason: string;
}

/** A stop with an end expires by itself. */
export function isOff({ until }: Pick<WritesOff, 'until'>, now: EpochMs): boolean {
  return until === null || until > now;
}

export const everything: WriteScope = { kind: 'everything' };

export function scopeKey(scope: WriteScope): string {
  switch (scope.kind) {
    case 'everything':
      return JSON.stringify(['everything']);
    case 'account':
      return JSON.stringify(['account', scope.account]);
    case 'mailbox':
      return JSON.stringify(['mailbox', scope.account, scope.mailboxId]);
  }
}

/** Scopes that cover an account or its mailbox, the widest first. */
export function scopesOver(account: string, mailboxId: string | null): readonly WriteScope[] {
  const wide: readonly WriteScope[] = [everything, { kind: 'account', account }];
  return mailboxId === null ? wide : [...wide, { kind: 'mailbox', account, mailboxId, email: '' }];
}

/** `account acme`, `mailbox bob@acme.example (account acme)` */
export function scopeText(scope: WriteScope): string {
  switch (scope.kind) {
    case 'everything':
      return 'all accounts';
    case 'account':
      return `account ${scope.account}`;
    case 'mailbox':
      return `mailbox ${scope.email} (account ${scope.account})`;
  }
}

/** `reason`: without a double quote. */
export function writesOffCommand(scope: WriteScope, command: string, reason: string): string {
  return `${writesCommand('off', scope, command)} --reason "${reason}"`;
}

/** `command` starts this program. */
export function writesOnCommand(scope: WriteScope, command: string): string {
  return writesCommand('on', scope, command);
}

function writesCommand(position: 'off' | 'on', scope: WriteScope, command: string): string {
  switch (scope.kind) {
    case 'everything':
      return `${command} writes ${position}`;
    case 'account':
      return `${command} writes ${position} --account ${scope.account}`;
    case 'mailbox':
      return `${command} writes ${position} --mailbox ${shellWord(`${scope.account}/${scope.email}`)}`;
  }
}

export function writesAreOff({ scope, by, reason }: WritesOff, command: string): string {
  return `Writes are off for ${scopeText(scope)} (${by}: ${reason}). To allow them: \`${writesOnCommand(scope, command)}\`.`;
}

/** Quotes untrusted text as one word of a shell. */
function shellWord(text: string): string {
  return /^[\w.+@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Longest wait of an account's loops. */
export const turnEveryMs = 15 * secondMs;

export interface Guarding {
  readonly account: string;
  /** Time since which its loops should run, or null once all do. A loop that stops later ends the process. */
  readonly startingSince: EpochMs | null;
}
