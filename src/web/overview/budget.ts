// The request budget of accounts: their order, and how old each kind of data is.
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { AccountState, MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { inTurns, turnAfter } from '../../world/world.ts';

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

interface Age {
  oldest: EpochMs | null;
  newest: EpochMs | null;
  unread: number;
}

/** How old each kind of data of an account is: mailbox after mailbox, as a large account is not gone through at once. */
export class DataAges {
  readonly #ages = new Map<Kind, Age>(dataKinds.map(({ kind }) => [kind, { oldest: null, newest: null, unread: 0 }]));

  add(mailbox: MailboxState): void {
    for (const [kind, age] of this.#ages) {
      const at = mailbox[kind]?.at ?? null;
      if (at === null) age.unread += 1;
      else {
        age.oldest = Math.min(age.oldest ?? at, at);
        age.newest = Math.max(age.newest ?? at, at);
      }
    }
  }

  of(kind: Kind): Readonly<Age> {
    return this.#ages.get(kind) ?? { oldest: null, newest: null, unread: 0 };
  }
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

/** By the names of the accounts. In slices: a large account is not gone through at once. */
export async function agesOf(fleet: Fleet, accounts: readonly AccountState[]): Promise<ReadonlyMap<string, DataAges>> {
  const ages = new Map<string, DataAges>();
  for (const { name } of accounts) {
    const known = new DataAges();
    const mailboxes = [...fleet.mailboxesOf(name)];
    await turnAfter(mailboxes);
    const add = (piece: readonly MailboxState[]) => {
      for (const mailbox of piece) known.add(mailbox);
    };
    await inTurns(mailboxes, add);
    ages.set(name, known);
  }
  return ages;
}
