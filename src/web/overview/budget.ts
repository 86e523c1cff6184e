// The request budget of accounts: their order, and how old each kind of data is.
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { AccountState, MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';

/** What is read of a mailbox, as people name it, and the route that reads it. */
export const dataKinds = [
  { kind: 'stats', word: 'Statistics', route: 'stats' },
  { kind: 'warmup', word: 'Warm-up', route: 'warmup' },
  { kind: 'detail', word: 'Connection', route: 'mailbox' },
  { kind: 'dns', word: 'DNS', route: 'dns' },
  { kind: 'blacklist', word: 'Blacklists', route: 'blacklist' },
] as const;

export type DataKind = (typeof dataKinds)[number];

type Kind = DataKind['kind'];

export interface DataAge {
  oldest: EpochMs | null;
  newest: EpochMs | null;
  unread: number;
}

/** How old each kind of data of some mailboxes is. */
export function dataAges(mailboxes: Iterable<MailboxState>): Readonly<Record<Kind, DataAge>> {
  const age = (): DataAge => ({ oldest: null, newest: null, unread: 0 });
  const ages = { stats: age(), warmup: age(), detail: age(), dns: age(), blacklist: age() };
  for (const mailbox of mailboxes) {
    for (const { kind } of dataKinds) {
      const [known, at] = [ages[kind], mailbox[kind]?.at ?? null];
      if (at === null) known.unread += 1;
      else {
        known.oldest = Math.min(known.oldest ?? at, at);
        known.newest = Math.max(known.newest ?? at, at);
      }
    }
  }
  return ages;
}

/** An account takes 2.7 KB of markup. */
const accountsAPage = 40;

/** What accounts are ordered by: those whose budget is too small first, then by name. */
export function inNeedFirst({ forecast, name }: AccountState): readonly [number, string] {
  return [forecast?.fits === false ? 0 : 1, name];
}

/** The accounts of one page; a page beyond the last is the last. */
export function budgetAccounts(fleet: Fleet, asked: number) {
  const all = [...fleet.accounts()].sort((a, b) => {
    const [[needA, nameA], [needB, nameB]] = [inNeedFirst(a), inNeedFirst(b)];
    return needA - needB || (nameA < nameB ? -1 : 1);
  });
  const pages = Math.max(1, Math.ceil(all.length / accountsAPage));
  const page = Math.min(asked, pages);
  return { accounts: all.slice((page - 1) * accountsAPage, page * accountsAPage), page, pages };
}
