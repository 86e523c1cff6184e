// Globs and ids by which the configuration selects mailboxes, and those of them that match none.
import { didYouMean, mostMistyped } from './nearest.ts';

// Globs as the configuration writes them: * for any run of characters, ? for one, letters without case.

/** True if the whole `text` fits `glob`. Takes at most glob x text steps, whatever the stars. */
export function fitsGlob(glob: string, text: string): boolean {
  if (glob === '*') return true;
  const pattern = glob.toLowerCase();
  const subject = text.toLowerCase();
  let p = 0;
  let s = 0;
  // The last star takes one more character after a mismatch; earlier stars stay as they are.
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

/** True if `pattern` names the mailbox: a glob on its address, or its exact id. */
export function namesMailbox(pattern: string, mailbox: { readonly email: string; readonly id: string }): boolean {
  return pattern === mailbox.id || fitsGlob(pattern, mailbox.email);
}

export interface MailboxPattern {
  /** Place in the file: `accounts[0].mailboxes.exclude[1]`. */
  readonly place: string;
  /** A glob on the address, or an id. */
  readonly pattern: string;
}

/** A pattern that matches no mailbox. */
export interface IdlePattern extends MailboxPattern {
  /** ` (did you mean X?)` for the nearest that would match, or an empty string. */
  readonly hint: string;
}

interface PatternSubject {
  readonly id: string;
  readonly email: string;
}

/** Largest number of names that suggestions are picked from. */
const mostCompared = 2_000;

/** The patterns that match none of the mailboxes. */
export function idlePatterns(
  patterns: readonly MailboxPattern[],
  mailboxes: readonly PatternSubject[],
): readonly IdlePattern[] {
  if (patterns.length === 0) return [];
  const names = patterns.every(isGlob) ? new Set<string>() : namesOf(mailboxes);
  const isIdle = (one: MailboxPattern) => {
    const { pattern } = one;
    if (isGlob(one)) return !mailboxes.some((mailbox) => namesMailbox(pattern, mailbox));
    return !names.has(pattern) && !names.has(pattern.toLowerCase());
  };
  return patterns.filter(isIdle).map((one) => ({ ...one, hint: hintFor(one.pattern, mailboxes) }));
}

/** Ids as they are, addresses in lower case. */
function namesOf(mailboxes: readonly PatternSubject[]): ReadonlySet<string> {
  return new Set(mailboxes.flatMap(({ id, email }) => [id, email.toLowerCase()]));
}

function isGlob({ pattern }: Pick<MailboxPattern, 'pattern'>): boolean {
  return /[*?]/.test(pattern);
}

/** The mistyped part is most often the domain of a glob, or one address. */
function hintFor(pattern: string, mailboxes: readonly PatternSubject[]): string {
  return didYouMean(pattern, likeliest(pattern, mailboxes.slice(0, mostCompared)), mostMistyped);
}

function likeliest(pattern: string, mailboxes: readonly PatternSubject[]): readonly string[] {
  const at = pattern.lastIndexOf('@');
  if (!isGlob({ pattern })) return mailboxes.map(({ id, email }) => (at < 0 ? id : email));
  if (at < 0) return [];
  const local = pattern.slice(0, at);
  const fitting = mailboxes.map(({ email }) => email).filter((email) => fitsGlob(`${local}@*`, email));
  const domains = new Set(fitting.map((email) => email.slice(email.lastIndexOf('@') + 1)));
  return [...domains].map((domain) => `${local}@${domain}`);
}

/** `accounts[0].mailboxes.exclude[1] "*@acme.exmaple" matches no mailbox (did you mean *@acme.example?)` */
export function idleText({ place, pattern, hint }: IdlePattern): string {
  return `${place} "${pattern}" matches no mailbox${hint}`;
}
