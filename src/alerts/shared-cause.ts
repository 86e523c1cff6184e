// What mailboxes that bounce at the same time have in common: the narrowest thing that explains them, or nothing. Pure,
// and the same for the same mailboxes in whatever order. docs/alerts.md, "Incidents", says the rules in words.
import { type IncidentCause, type IncidentMailbox, type SharedAttribute, sharedAttributes } from '../core/incident.ts';
import { domainOf } from '../core/mailbox.ts';

/** A mailbox whose bounces the guard or an alert noticed. */
export interface Affected {
  /** `ACCOUNT/ID`. */
  readonly key: string;
  readonly mailbox: IncidentMailbox;
  /** The kinds of bounce that it has most of, in the API's words; none when no bounce is shown. */
  readonly kinds: readonly string[];
  /** null: not known. */
  readonly traits: Readonly<Record<SharedAttribute, string | null>>;
}

/** Mailboxes with one kind of bounce that have something in common. */
export interface Shared {
  readonly cause: IncidentCause;
  readonly kind: string | null;
  readonly members: readonly Affected[];
}

/** So many mailboxes at least make an incident... */
const leastMembers: Readonly<Record<SharedAttribute, number>> = {
  domain: 3,
  ip: 3,
  provider: 3,
  // ...and what a whole account shares says little: as many as open the circuit breaker.
  account: 5,
  base_url: 5,
};
/** ...and of what many share some bounce at the same time by chance: one more for every so many mailboxes that share it. */
const oneMoreEvery = 200;
/** What is wider than a domain explains nothing that one or two domains explain. */
const leastDomains = 3;
/** Of the mailboxes at hand a cause explains at least four in five, or it is not the one cause of them. */
const explains = (some: number, all: number) => some * 5 >= all * 4;
/** A third of them at least are not of the largest domain. */
const isSpread = (largest: number, all: number) => (all - largest) * 3 >= all;

/** What causes are looked for, and in which fleet. */
interface Search {
  readonly attributes: readonly SharedAttribute[];
  /** How many mailboxes of the fleet share it, whether they bounce or not. */
  readonly sharing: (cause: IncidentCause) => number;
}

/** Of each kind of bounce what its mailboxes have in common; who shares nothing is in none of them. No mailbox is in two. */
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

/** Of the kinds that a mailbox has equally many of, the one that most others have. */
function byMainKind(affected: readonly Affected[]): ReadonlyMap<string | null, readonly Affected[]> {
  const counts = new Map<string, number>();
  for (const { kinds } of affected) for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const byCount = (a: string, b: string) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || compare(a, b);
  return Map.groupBy(affected, ({ kinds }) => kinds.toSorted(byCount)[0] ?? null);
}

type Candidate = Omit<Shared, 'kind'>;

function explained(pool: readonly Affected[], search: Search): readonly Candidate[] {
  const found: Candidate[] = [];
  for (let rest = pool; ; ) {
    const chosen = choose(rest, search);
    if (!chosen) return found;
    found.push(chosen);
    const taken = new Set(chosen.members);
    rest = rest.filter((one) => !taken.has(one));
  }
}

/** The narrowest that explains most of the pool, unless two narrower ones do: two causes at once are possible, three are not. */
function choose(pool: readonly Affected[], { attributes, sharing }: Search): Candidate | null {
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

/** Those of one attribute that are enough, the largest first. */
function candidatesOf(attribute: SharedAttribute, pool: readonly Affected[]): readonly Candidate[] {
  return [...Map.groupBy(pool, ({ traits }) => traits[attribute])]
    .flatMap(([value, members]) => (value === null ? [] : [{ cause: { attribute, value }, members }]))
    .filter((one) => isEnough(one))
    .sort(byCount);
}

function isEnough({ cause: { attribute }, members }: Candidate): boolean {
  if (members.length < leastMembers[attribute]) return false;
  if (attribute === 'domain') return true;
  const domains = domainCounts(members);
  const largest = domains.reduce((most, count) => Math.max(most, count), 0);
  return domains.length >= leastDomains && isSpread(largest, members.length);
}

/** A domain is small, and its mailboxes have a day: it needs no more however many they are. */
function isMoreThanChance({ cause, members }: Candidate, sharing: Search['sharing']): boolean {
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

/** The larger of two that together explain most, and no mailbox twice. */
function pairOf(candidates: readonly Candidate[], all: number): Candidate | null {
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

/** The largest first; of equals the narrowest. */
function byCount(a: Candidate, b: Candidate): number {
  const attribute = sharedAttributes.indexOf(a.cause.attribute) - sharedAttributes.indexOf(b.cause.attribute);
  return b.members.length - a.members.length || attribute || compare(a.cause.value, b.cause.value);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
