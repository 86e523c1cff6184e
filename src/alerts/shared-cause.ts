// Finds what mailboxes that bounce at the same time have in common: the narrowest cause that explains them, or none.
// Pure; the result does not depend on the order of the mailboxes. docs/alerts.md, "Incidents", has the rules in words.
import { type IncidentCause, type IncidentMailbox, type SharedAttribute, sharedAttributes } from '../core/incident.ts';
import { domainOf } from '../core/mailbox.ts';

/** Mailbox whose bounces the guard or an alert noticed. */
export interface Affected {
  /** Key of the mailbox, `ACCOUNT/ID`. */
  readonly key: string;
  readonly mailbox: IncidentMailbox;
  /** Most frequent kinds of its bounces, in the API's words; empty if no bounce is shown. */
  readonly kinds: readonly string[];
  /** Attributes that it may share; each is null if unknown. */
  readonly traits: Readonly<Record<SharedAttribute, string | null>>;
}

/** Mailboxes with one kind of bounce and a common cause. */
export interface Shared {
  readonly cause: IncidentCause;
  readonly kind: string | null;
  readonly members: readonly Affected[];
}

/** Minimum mailboxes of an incident, by shared attribute. */
const leastMembers: Readonly<Record<SharedAttribute, number>> = {
  domain: 3,
  ip: 3,
  provider: 3,
  // A whole account in common says little, so the minimum is the number that opens the circuit breaker.
  account: 5,
  base_url: 5,
};
/**
 * Number of mailboxes sharing a cause that raises the minimum by one, because some of many bounce at the same time by
 * chance.
 */
const oneMoreEvery = 200;
/** Minimum domains of a cause wider than a domain. It explains nothing that one or two domains explain. */
const leastDomains = 3;
/**
 * Returns true if a cause explains at least four in five of the mailboxes at hand. Otherwise it is not their one cause.
 */
const explains = (some: number, all: number) => some * 5 >= all * 4;
/** Returns true if at least a third of the mailboxes are outside the largest domain. */
const isSpread = (largest: number, all: number) => (all - largest) * 3 >= all;

/** Attributes to search, and the fleet to compare with. */
interface Search {
  readonly attributes: readonly SharedAttribute[];
  /** Returns how many mailboxes of the fleet share a cause, whether they bounce or not. */
  readonly sharing: (cause: IncidentCause) => number;
}

/**
 * Returns the common causes for each kind of bounce. A mailbox that shares nothing is in none of them, and no mailbox
 * is in two.
 */
export function sharedCauses(
  affected: readonly Affected[],
  { attributes = sharedAttributes, sharing }: Pick<Search, 'sharing'> & Partial<Search>,
): readonly Shared[] {
  const kinds = [...byMainKind(affected)].sort(([a], [b]) => compare(a ?? '', b ?? ''));
  return kinds.flatMap(([kind, pool]) =>
    explained(
      pool.toSorted((a, b) => compare(a.key, b.key)),
      { attributes, sharing },
    ).map((one) => ({ ...one, kind })),
  );
}

/**
 * Groups mailboxes by their main kind of bounce. Among equally frequent kinds of a mailbox, the one that most other
 * mailboxes have counts.
 */
function byMainKind(affected: readonly Affected[]): ReadonlyMap<string | null, readonly Affected[]> {
  const counts = new Map<string, number>();
  for (const { kinds } of affected) for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const byCount = (a: string, b: string) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || compare(a, b);
  return Map.groupBy(affected, ({ kinds }) => kinds.toSorted(byCount)[0] ?? null);
}

type SharedValue = Omit<Shared, 'kind'>;

function explained(pool: readonly Affected[], search: Search): readonly SharedValue[] {
  const found: SharedValue[] = [];
  for (let rest = pool; ; ) {
    const chosen = choose(rest, search);
    if (!chosen) return found;
    found.push(chosen);
    const taken = new Set(chosen.members);
    rest = rest.filter((one) => !taken.has(one));
  }
}

/**
 * Returns the narrowest candidate that explains most of the pool, unless two narrower ones do: two causes at once are
 * possible, three are not.
 */
function choose(pool: readonly Affected[], { attributes, sharing }: Search): SharedValue | null {
  const candidates = attributes
    .flatMap((attribute) => candidatesOf(attribute, pool))
    .filter((one) => isMoreThanChance(one, sharing));
  for (const attribute of attributes) {
    const [best] = candidates.filter(({ cause }) => cause.attribute === attribute);
    if (!best || !explains(best.members.length, pool.length)) continue;
    const narrower = candidates.filter((one) => isNarrower(one.cause.attribute, attribute));
    return pairOf(narrower, pool.length) ?? best;
  }
  return [...candidates].sort(byCount)[0] ?? null;
}

/** Returns the candidates of one attribute with enough mailboxes, the largest first. */
function candidatesOf(attribute: SharedAttribute, pool: readonly Affected[]): readonly SharedValue[] {
  return [...Map.groupBy(pool, ({ traits }) => traits[attribute])]
    .flatMap(([value, members]) => (value === null ? [] : [{ cause: { attribute, value }, members }]))
    .filter((one) => isEnough(one))
    .sort(byCount);
}

function isEnough({ cause: { attribute }, members }: SharedValue): boolean {
  if (members.length < leastMembers[attribute]) return false;
  if (attribute === 'domain') return true;
  const domains = domainCounts(members);
  const largest = domains.reduce((most, count) => Math.max(most, count), 0);
  return domains.length >= leastDomains && isSpread(largest, members.length);
}

/**
 * Returns true if chance does not explain the number of mailboxes. A domain never needs more than the minimum, because
 * it is small and its mailboxes have a whole day.
 */
function isMoreThanChance({ cause, members }: SharedValue, sharing: Search['sharing']): boolean {
  if (cause.attribute === 'domain') return true;
  return members.length >= leastMembers[cause.attribute] + Math.floor(sharing(cause) / oneMoreEvery);
}

function domainCounts(members: readonly Affected[]): readonly number[] {
  const counts = new Map<string, number>();
  for (const { mailbox } of members) {
    const domain = domainOf(mailbox.email);
    counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return [...counts.values()];
}

/**
 * Returns the larger of two candidates that together explain most mailboxes and have none in common, or null if there
 * is no such pair.
 */
function pairOf(candidates: readonly SharedValue[], all: number): SharedValue | null {
  const sorted = [...candidates].sort(byCount);
  for (const [index, one] of sorted.entries()) {
    const next = sorted[index + 1];
    if (!next || !explains(one.members.length + next.members.length, all)) return null;
    const own = new Set(one.members);
    const other = sorted.slice(index + 1).find(({ members }) => members.every((member) => !own.has(member)));
    if (other && explains(one.members.length + other.members.length, all)) return one;
  }
  return null;
}

function isNarrower(one: SharedAttribute, other: SharedAttribute): boolean {
  return sharedAttributes.indexOf(one) < sharedAttributes.indexOf(other);
}

/** Compares candidates: the largest first, and among equals the narrowest. */
function byCount(a: SharedValue, b: SharedValue): number {
  const attribute = sharedAttributes.indexOf(a.cause.attribute) - sharedAttributes.indexOf(b.cause.attribute);
  return b.members.length - a.members.length || attribute || compare(a.cause.value, b.cause.value);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
