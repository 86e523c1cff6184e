// Whether an alert is one of those that a route or a silence is about.
import type { Alert, AlertMatch } from '../model/alert.ts';
import { fitsGlob } from '../model/glob.ts';
import { domainOf } from '../model/mailbox.ts';

/** All that is given must fit; of one list, one entry is enough. An empty match fits everything. */
export function matches(alert: Alert, match: AlertMatch): boolean {
  return (
    (match.severity === undefined || match.severity.includes(alert.severity)) &&
    (match.account === undefined || anyGlob(match.account, alert.account)) &&
    (match.rule === undefined || anyGlob(match.rule, alert.rule)) &&
    (match.domain === undefined || isOfDomain(match.domain, alert)) &&
    (match.mailbox === undefined || namesMailbox(match.mailbox, alert))
  );
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
