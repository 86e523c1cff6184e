// Decides which names a channel may show: those in its routes. A channel shows all names if one of its routes names no
// account, mailbox or domain, or if its routes name the whole fleet. Any other channel is a client's. Pure.

import { type Alert, type AlertMatch, accountsOf } from '../core/alert.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { domainOf, type MailboxName } from '../core/mailbox.ts';
import { fitsGlob, namesMailbox } from '../core/mailbox-pattern.ts';
import { protectionOf } from './rules/protection-rule.ts';

export interface AlertRoute {
  readonly match: AlertMatch;
  readonly channels: readonly string[];
}

/** Relation of an alert to what a channel is told of: it is all within it, in part, or not at all. */
type Concern = 'all' | 'part' | 'none';

export interface Audience {
  /** Returns true if the channel is told of a part of the fleet only. */
  isClient(): boolean;
  sees(mailbox: Pick<MailboxName, 'account' | 'id' | 'email'>): boolean;
  concernOf(alert: Alert): Concern;
}

export type KnownFleet = Pick<Fleet, 'accounts' | 'mailboxesOf'>;

const everybody: Audience = { isClient: () => false, sees: () => true, concernOf: () => 'all' };

export function audienceOf(channel: string, routes: readonly AlertRoute[], fleet: KnownFleet): Audience {
  const matches = routes.filter(({ channels }) => channels.includes(channel)).map(({ match }) => match);
  const isWide = ({ account, mailbox, domain }: AlertMatch) => [account, mailbox, domain].every(isUnlimited);
  return matches.length === 0 || matches.some(isWide) ? everybody : clientAudience(matches, fleet);
}

function clientAudience(matches: readonly AlertMatch[], fleet: KnownFleet): Audience {
  const sees: Audience['sees'] = ({ account, id, email }) =>
    matches.some(
      (match) =>
        fits(match.account, account) &&
        fits(match.domain, domainOf(email)) &&
        (match.mailbox?.some((pattern) => namesMailbox(pattern, { id, email })) ?? true),
    );
  const seesAll = (account: string) =>
    matches.some((match) => isUnlimited(match.mailbox) && isUnlimited(match.domain) && fits(match.account, account)) ||
    seesEvery([...fleet.mailboxesOf(account)]);
  const seesEvery = (mailboxes: readonly MailboxName[]) => mailboxes.length > 0 && mailboxes.every(sees);
  const seesSome = (account: string) => seesAll(account) || [...fleet.mailboxesOf(account)].some(sees);
  const seesFleet = () => {
    const accounts = [...fleet.accounts()];
    return accounts.length > 0 && accounts.every(({ name }) => seesAll(name));
  };
  const seesDomain = ({ account, object }: Alert) =>
    matches.some(
      ({ domain, ...match }) =>
        domain !== undefined &&
        isUnlimited(match.mailbox) &&
        fits(match.account, account) &&
        fits(domain, object ?? ''),
    );
  const concernOf = (alert: Alert): Concern => {
    const { account, mailboxId, email } = alert;
    const accounts = accountsOf(alert);
    if (accounts.length === 0) return seesFleet() ? 'all' : concernsEverybody(alert) ? 'part' : 'none';
    if (accounts.every(seesAll)) return 'all';
    if (mailboxId !== null || email !== null)
      return sees({ account, id: mailboxId ?? '', email: email ?? '' }) ? 'all' : 'none';
    if (seesDomain(alert)) return 'all';
    return accounts.some(seesSome) ? 'part' : 'none';
  };
  return { isClient: () => !seesFleet(), sees, concernOf };
}

/** Returns true for missing protection, a crash and a failing store: then no mailbox is guarded as its owner expects. */
function concernsEverybody(alert: Alert): boolean {
  const protection = protectionOf(alert);
  return (
    alert.rule === 'crashed' || alert.rule === 'store_failing' || (protection !== null && protection !== 'account')
  );
}

function isUnlimited(globs: readonly string[] | undefined): boolean {
  return globs?.includes('*') ?? true;
}

function fits(globs: readonly string[] | undefined, name: string): boolean {
  return globs?.some((glob) => fitsGlob(glob, name)) ?? true;
}
