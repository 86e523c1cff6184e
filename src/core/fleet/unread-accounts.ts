// The accounts of which what is known may no longer be so: they cannot be read, or are starting.
import { isUnread } from '../mailbox.ts';
import type { Fleet } from './fleet.ts';

export function unreadAccounts(fleet: Pick<Fleet, 'accounts' | 'guarding'>): ReadonlySet<string> {
  const failing = [...fleet.accounts()].filter(isUnread).map(({ name }) => name);
  const starting = fleet.guarding().filter(({ startingSince }) => startingSince !== null);
  return new Set([...failing, ...starting.map(({ account }) => account)]);
}
