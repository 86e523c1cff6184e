// The emergency stop: what it is about, and how it is named wherever people read of it.
import { type EpochMs, secondMs } from './time.ts';

export type WriteScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'mailbox'; readonly account: string; readonly mailboxId: string; readonly email: string };

export interface WritesOff {
  readonly scope: WriteScope;
  readonly since: EpochMs;
  /** Moment at which writes are allowed again, or null if only a person allows them. */
  readonly until: EpochMs | null;
  readonly by: string;
  readonly reason: string;
}

/** A stop that was to last for a while ends by itself. */
export function isOff({ until }: Pick<WritesOff, 'until'>, now: EpochMs): boolean {
  return until === null || until > now;
}

export const everything: WriteScope = { kind: 'everything' };

/** The same for the same scope, and another for every other. */
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

/** The scopes that cover an account, or one of its mailboxes: the widest first. */
export function scopesOver(account: string, mailboxId: string | null): readonly WriteScope[] {
  const wide: readonly WriteScope[] = [everything, { kind: 'account', account }];
  return mailboxId === null ? wide : [...wide, { kind: 'mailbox', account, mailboxId, email: '' }];
}

/** `all accounts`, `account acme`, `mailbox bob@acme.example (account acme)`. */
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

/** The command that stops writes. `reason`: without a double quote. */
export function writesOffCommand(scope: WriteScope, command: string, reason: string): string {
  return `${writesCommand('off', scope, command)} --reason "${reason}"`;
}

/** The command that allows writes again, for exactly this scope. `command`: the words that start this program. */
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

/** Why nothing is written, in a sentence, and what ends it. */
export function writesAreOff({ scope, by, reason }: WritesOff, command: string): string {
  return `Writes are off for ${scopeText(scope)} (${by}: ${reason}). To allow them: \`${writesOnCommand(scope, command)}\`.`;
}

/** Quotes a text as one word of a shell: an address is foreign input. */
function shellWord(text: string): string {
  return /^[\w.+@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A loop of an account that waits, for whatever reason, turns at least this often. */
export const turnEveryMs = 15 * secondMs;

export interface Guarding {
  readonly account: string;
  /** Since when its loops should run, or null once all of them do. One that stops later ends the process. */
  readonly startingSince: EpochMs | null;
}
