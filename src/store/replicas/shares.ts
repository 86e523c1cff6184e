// Which work a replica takes, and which it gives away, so that all have about as many accounts. Each decides for itself, by the
// same rules: there is no leader. Pure.
import type { Scope } from './membership.ts';
import type { SeenLease, SeenReplica, Sight } from './roster.ts';

/** What exceeds the replica's share is left to the others for so long. */
const sparedMs = 3_000;
/** What a replica gave away it does not take back for so long, milliseconds: another one is to have it. */
export const declinedMs = 10_000;
/** An account that one replica can't reach is offered to another at most so often. */
const offerEveryMs = 15 * 60_000;

/** A look, and what this replica makes of it. Times are of the monotonic clock. */
export interface Situation {
  readonly self: string;
  readonly sight: Sight;
  readonly wanted: readonly Scope[];
  readonly held: ReadonlySet<Scope>;
  readonly freeSince: ReadonlyMap<Scope, number>;
  readonly declinedUntil: ReadonlyMap<Scope, number>;
  readonly now: number;
}

/** `going`: the follower ends it. `giving`: it has ended, and the lease is being given away. */
export type Holding = 'ours' | 'going' | 'giving';

const isAccount = (scope: Scope) => scope.startsWith('account:');

/** Whose lease nobody has who lives; and ours, where the answer to an earlier try to take it was lost. */
export function freeScopes({ self, sight, wanted, held }: Pick<Situation, 'self' | 'sight' | 'wanted' | 'held'>) {
  const others = new Set(sight.replicas.map(({ id }) => id).filter((id) => id !== self));
  const owners = new Map(sight.leases.map(({ scope, owner }) => [scope, owner]));
  return wanted.filter((scope) => !held.has(scope) && !others.has(owners.get(scope) ?? ''));
}

/**
 * What is held although the lease is another's, or is gone: somebody deleted it, or a failover of the database lost its last
 * change. Who gets what is being given away is no matter. The sight is younger than each take of what is held.
 */
export function toEnd(
  { self, leases }: Pick<Sight, 'leases'> & { readonly self: string },
  held: ReadonlyMap<Scope, Holding>,
): readonly Scope[] {
  const ours = new Set(leases.flatMap(({ scope, owner }) => (owner === self ? [scope] : [])));
  return [...held].flatMap(([scope, holding]) => (holding === 'giving' || ours.has(scope) ? [] : [scope]));
}

/**
 * What to take, in this order, and how many accounts at most: the share of each is the same, and what nobody took for a while
 * exceeds it.
 */
export function toTake(situation: Situation): { readonly scopes: readonly Scope[]; readonly room: number } {
  const { self, sight, wanted, held, freeSince, declinedUntil, now } = situation;
  const free = freeScopes(situation).filter((scope) => now >= (declinedUntil.get(scope) ?? now));
  const spared = free.filter((scope) => now - (freeSince.get(scope) ?? now) >= sparedMs);
  const working = sight.replicas.filter(({ id, wants }) => id === self || wants.length > 0).length;
  const share = Math.ceil(wanted.filter(isAccount).length / Math.max(1, working));
  const room = Math.max(share - [...held].filter(isAccount).length, spared.filter(isAccount).length);
  return { scopes: free, room };
}

/** Whether taking it uses up room. */
export const needsRoom = isAccount;

/** One account that another replica should have; null: all have about as many. */
export function toGive({ self, sight, held }: Pick<Situation, 'self' | 'sight' | 'held'>): Scope | null {
  const counts = new Map<string | null, number>();
  for (const { scope, owner } of sight.leases) if (isAccount(scope)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const countOf = ({ id }: SeenReplica) => counts.get(id) ?? 0;
  const ours = counts.get(self) ?? 0;
  // Of several that have too many, the one with the most begins: otherwise what one gives another would pass on.
  if (sight.replicas.some((one) => countOf(one) > ours)) return null;
  const poorer = sight.replicas.filter((one) => one.id !== self && ours - countOf(one) >= 2);
  const mayGo = ({ scope, offeredMsAgo }: SeenLease) =>
    isAccount(scope) && held.has(scope) && (offeredMsAgo === null || offeredMsAgo >= offerEveryMs);
  const wishes = new Set(poorer.flatMap(({ wants }) => wants));
  return sight.leases.find((lease) => mayGo(lease) && wishes.has(lease.scope))?.scope ?? null;
}

/** Whether an account that this replica can't reach is to be tried by another. */
export function mayOffer({ self, sight }: Pick<Situation, 'self' | 'sight'>, scope: Scope): boolean {
  const offeredMsAgo = sight.leases.find((lease) => lease.scope === scope)?.offeredMsAgo ?? null;
  const others = sight.replicas.some(({ id, wants }) => id !== self && wants.includes(scope));
  return others && (offeredMsAgo === null || offeredMsAgo >= offerEveryMs);
}
