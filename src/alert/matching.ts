// Whether an alert is one of those that a route or a silence is about.
import { type Alert, type AlertMatch, accountsOf, type Silence } from '../model/alert.ts';
import { fitsGlob } from '../model/glob.ts';
import { domainOf } from '../model/mailbox.ts';
import { isDisarming } from './rules/disarmed-rule.ts';

/** Whether a silence keeps the messages of an alert back. Protection that a person took away is always announced. */
export function mutes(match: AlertMatch, alert: Alert): boolean {
  return !isDisarming(alert) && matches(alert, match);
}

/** Of the silences that mute it, the one that ends last; null: its messages are sent. */
export function silenceOf(alert: Alert, silences: readonly Silence[]): Silence | null {
  const over = silences.filter(({ match }) => mutes(match, alert));
  return over.reduce<Silence | null>((last, one) => (last && last.until >= one.until ? last : one), null);
}

/**
 * All that is given must fit; of one list, one entry is enough. An empty match fits everything. Of an alert that
 * concerns several accounts `every` one must fit (a silence must not mute another account's part), or just `one`.
 */
export function matches(alert: Alert, match: AlertMatch, accounts: 'every' | 'one' = 'every'): boolean {
  return (
    (match.severity === undefined || match.severity.includes(alert.severity)) &&
    (match.account === undefined || fitsAccounts(match.account, alert, accounts)) &&
    (match.rule === undefined || anyGlob(match.rule, alert.rule)) &&
    (match.domain === undefined || isOfDomain(match.domain, alert)) &&
    (match.mailbox === undefined || namesMailbox(match.mailbox, alert)) &&
    (match.object === undefined || (alert.object !== null && anyGlob(match.object, alert.object)))
  );
}

function fitsAccounts(globs: readonly string[], alert: Alert, accounts: 'every' | 'one'): boolean {
  const concerned = accountsOf(alert);
  const names = concerned.length > 0 ? concerned : [alert.account];
  return accounts === 'every'
    ? names.every((name) => anyGlob(globs, name))
    : names.some((name) => anyGlob(globs, name));
}

function anyGlob(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => fitsGlob(glob, name));
}

function namesMailbox(patterns: readonly string[], { email, mailboxId }: Alert): boolean {
  return (mailboxId !== null && patterns.includes(mailboxId)) || (email !== null && anyGlob(patterns, email));
}

/** The domain of the alert's mailbox, or the domain that it is about itself. */
function isOfDomain(globs: readonly string[], { email, object, facts }: Alert): boolean {
  const seenWith = facts.numbers['seen_with'];
  const address = email ?? (typeof seenWith === 'string' ? seenWith : null);
  return (object !== null && anyGlob(globs, object)) || (address !== null && anyGlob(globs, domainOf(address)));
}
