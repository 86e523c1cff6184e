// The write stop: its scope and name.
import { shellWord } from './mailbox.ts';
import type { EpochMs } from './time.ts';

export type WriteScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'mailbox'; readonly account: string; readonly mailboxId: string; readonly email: string };

/** Place of `enforce: false` in the configuration. */
export type EnforcementScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'override'; readonly account: string; readonly match: string };

export interface WritesOff {
  readonly scope: WriteScope;
  readonly since: EpochMs;
  /** End of the stop, or null if only a person ends it. */
  readonly until: EpochMs | null;
  readonly by: string;
  readonly reason: string;
}

export function isOff({ until }: Pick<WritesOff, 'until'>, now: EpochMs): boolean {
  return until === null || until > now;
}

export const everything: WriteScope = { kind: 'everything' };

/** Key of a scope, its name, and the arguments of the commands that end or begin its stop. */
function wordsOf(scope: WriteScope): {
  readonly key: readonly string[];
  readonly name: string;
  readonly options: string;
} {
  switch (scope.kind) {
    case 'everything':
      return { key: ['everything'], name: 'all accounts', options: '' };
    case 'account': {
      const { account } = scope;
      return { key: ['account', account], name: `account ${account}`, options: ` --account ${account}` };
    }
    case 'mailbox': {
      const { account, mailboxId, email } = scope;
      const options = ` --mailbox ${shellWord(`${account}/${email}`)}`;
      return { key: ['mailbox', account, mailboxId], name: `mailbox ${email} (account ${account})`, options };
    }
  }
}

export function scopeKey(scope: WriteScope): string {
  return JSON.stringify(wordsOf(scope).key);
}

/** Scopes that cover an account or its mailbox, the widest first. */
export function scopesOver(account: string, mailboxId: string | null): readonly WriteScope[] {
  const wide: readonly WriteScope[] = [everything, { kind: 'account', account }];
  return mailboxId === null ? wide : [...wide, { kind: 'mailbox', account, mailboxId, email: '' }];
}

/** `account acme`, `mailbox bob@acme.example (account acme)` */
export function scopeText(scope: WriteScope): string {
  return wordsOf(scope).name;
}

export function writesOnCommand(scope: WriteScope): string {
  return `warmwarden writes on${wordsOf(scope).options}`;
}

/** `Writes are off for all accounts (ann: migration).` */
export function stopText({ scope, by, reason }: WritesOff): string {
  return `Writes are off for ${scopeText(scope)} (${by}: ${reason}).`;
}

/** Why Warmwarden does not act on a mailbox of which `guard.enforce` is false. */
export const enforcementOff = 'Enforcement is OFF for it: `guard.enforce` is false.';

/** The stop, with the command that ends it. */
export function writesAreOff(stop: WritesOff): string {
  return `${stopText(stop)} To allow them: \`${writesOnCommand(stop.scope)}\`.`;
}
