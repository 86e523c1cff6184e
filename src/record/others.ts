// The mailboxes that share a domain or a provider with one: where they bounce too, the cause is likely shared. Pure.

import type { Fleet } from '../fleet/fleet.ts';
import { domainOf, type MailboxState } from '../model/mailbox.ts';
import { dayMs, type EpochMs } from '../model/time.ts';
import type { Others } from '../wording/causes.ts';

/** A change of ours no older than this still points to bounces. */
const recentMs = 7 * dayMs;

/** The others of its domain, and those at its provider, over all accounts. Walks the whole fleet: ask only for what people are notified of. */
export function othersOf(mailbox: MailboxState, fleet: Iterable<MailboxState>, now: EpochMs): readonly Others[] {
  const domain = domainOf(mailbox.email);
  const { provider } = mailbox.entry.answer;
  const ofDomain = { called: `other mailboxes of ${domain}`, running: 0, over: 0 };
  const atProvider = { called: `mailboxes at ${provider} on other domains`, running: 0, over: 0 };
  for (const other of fleet) {
    if (other.account === mailbox.account && other.id === mailbox.id) continue;
    if (other.verdict?.answer.run !== 'running') continue;
    const own = domainOf(other.email) === domain;
    if (!own && (provider === null || other.entry.answer.provider !== provider)) continue;
    const counts = own ? ofDomain : atProvider;
    counts.running += 1;
    if (isOver(other, now)) counts.over += 1;
  }
  return [ofDomain, atProvider];
}

function isOver({ verdict, memory }: MailboxState, now: EpochMs): boolean {
  const wanted = verdict?.answer.wanted;
  if (wanted === 'recovery' || wanted === 'pause') return true;
  const claim = memory?.claim;
  return Boolean(claim && now - claim.since <= recentMs);
}

/** Running mailboxes of these accounts. */
export function runningIn(accounts: readonly string[], fleet: Fleet): number {
  let running = 0;
  for (const account of accounts)
    for (const { verdict } of fleet.mailboxesOf(account)) if (verdict?.answer.run === 'running') running += 1;
  return running;
}
