// The request budget of accounts: their order, and the age of each kind of data.
import type { AccountState, MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';

/** Kinds of data about a mailbox, in people's words, with the route that reads each. */
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

/** Sort key: accounts whose budget is too small come first, then by name. */
export function inNeedFirst({ forecast, name }: AccountState): readonly [number, string] {
  return [forecast?.fits === false ? 0 : 1, name];
}
