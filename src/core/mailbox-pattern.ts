// Globs and ids by which the configuration selects mailboxes.
import type { ListedMailbox } from './mailbox.ts';
import { didYouMean } from './nearest.ts';

// Globs of the configuration: * for any run of characters, ? for one, letters without case.

/** Takes at most glob x text steps. */
export function fitsGlob(glob: string, text: string): boolean {
  if (glob === '*') return true;
  const pattern = glob.toLowerCase();
  const subject = text.toLowerCase();
  let p = 0;
  let s = 0;
  // The last star takes one more character after a mismatch.
  let star = -1;
  let starTook = 0;
  while (s < subject.length) {
    if (pattern[p] === '*') {
      star = p++;
      starTook = s;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === subject[s])) {
      p++;
      s++;
    } else if (star >= 0) {
      p = star + 1;
      s = ++starTook;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

export function namesMailbox(pattern: string, mailbox: ListedMailbox): boolean {
  return pattern === mailbox.id || fitsGlob(pattern, mailbox.email);
}

export interface MailboxPattern {
  /** Place in the file: `accounts[0].mailboxes.exclude[1]`. */
  readonly place: string;
  readonly pattern: string;
}

export interface IdlePattern extends MailboxPattern {
  readonly hint: string;
}

export function idlePatterns(
  patterns: readonly MailboxPattern[],
  mailboxes: readonly ListedMailbox[],
): readonly IdlePattern[] {
  return patterns
    .filter(({ pattern }) => !mailboxes.some((mailbox) => namesMailbox(pattern, mailbox)))
    .map((one) => ({ ...one, hint: didYouMean(one.pattern, likeliest(one.pattern, mailboxes)) }));
}

/** Likely intended addresses or ids, or the same glob on another domain. */
function likeliest(pattern: string, mailboxes: readonly ListedMailbox[]): readonly string[] {
  const at = pattern.lastIndexOf('@');
  if (!/[*?]/.test(pattern)) return mailboxes.map(({ id, email }) => (at < 0 ? id : email));
  if (at < 0) return [];
  const local = pattern.slice(0, at);
  const fitting = mailboxes.filter(({ email }) => fitsGlob(`${local}@*`, email));
  return [...new Set(fitting.map(({ email }) => `${local}@${email.slice(email.lastIndexOf('@') + 1)}`))];
}

/** `accounts[0].mailboxes.exclude[1] "*@acme.exmaple" matches no mailbox (did you mean *@acme.example?)` */
export function idleText({ place, pattern, hint }: IdlePattern): string {
  return `${place} "${pattern}" matches no mailbox${hint}`;
}
