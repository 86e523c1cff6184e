// Compares a mailbox list with the mailboxes that we know: who is new, changed, absent, gone. Pure. docs/faults.md H23, S8.
import type { ListShortage } from '../../alerts/rules/account-rules.ts';
import { isSameEntry, type MailboxEntry, type MailboxList, type Observed } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { underNewId } from '../../core/guard/memory.ts';
import { domainOf, type GuardedElsewhere, type MailboxState } from '../../core/mailbox.ts';
import { dayMs, type EpochMs, hourMs } from '../../core/time.ts';
import type { Others } from '../../core/wording/causes.ts';
import { newMailbox, withLimits } from './observe.ts';
import { unlistedNames } from './unlisted.ts';

// Mailboxes that are back: under their old id, or under a new id with their address's history (S9). Pure.

/**
 * The arrived ones with what is remembered of them; what was read before they left says nothing of now. `gone`: those that left
 * before, and known ones that the list lacks. Where two of them have one address, it is unknown whose history it is, and none
 * is taken over.
 */
export function withHistory(arrived: readonly MailboxState[], gone: readonly MailboxState[]): readonly MailboxState[] {
  if (gone.length === 0) return arrived;
  const byId = new Map(gone.map((mailbox) => [mailbox.id, mailbox]));
  const byAddress = Map.groupBy(gone, ({ email }) => email.toLowerCase());
  return arrived.map((mailbox) => {
    const same = byId.get(mailbox.id);
    if (same) return { ...mailbox, memory: same.memory, action: same.action, changes: same.changes };
    const [before, ...others] = byAddress.get(mailbox.email.toLowerCase()) ?? [];
    if (!before?.memory || others.length > 0) return mailbox;
    return { ...mailbox, memory: underNewId(before.memory, before.id, mailbox.firstSeenAt) };
  });
}

/**
 * Which of the missing have come back under another id: somebody with their address was first seen when they were
 * first missed, or later.
 */
function replacedOf(
  missing: readonly MailboxState[],
  listed: readonly MailboxState[],
  absentSince: (mailbox: MailboxState) => number,
): ReadonlySet<string> {
  const newest = new Map<string, number>();
  for (const { email, firstSeenAt } of listed) {
    const address = email.toLowerCase();
    newest.set(address, Math.max(firstSeenAt, newest.get(address) ?? firstSeenAt));
  }
  const isReplaced = (one: MailboxState) =>
    (newest.get(one.email.toLowerCase()) ?? Number.NEGATIVE_INFINITY) >= absentSince(one);
  return new Set(missing.filter(isReplaced).map(({ id }) => id));
}

/** A mailbox is gone when this many lists in a row were without it. */
const listsUntilGone = 2;
/**
 * A list that lost a larger share of this account's mailboxes, or all of them, is not believed until the loss lasted
 * for an hour. One that is missing is always believed.
 */
const believableLossShare = 0.2;
const believableLossCount = 1;
const lossHoldMs = hourMs;

export interface RosterChanges {
  readonly arrived: readonly MailboxState[];
  /** Known ones whose entry says something new, or that are back. */
  readonly changed: readonly MailboxState[];
  /** Known ones of which the list says what it said before. */
  readonly repeated: readonly MailboxState[];
  readonly absent: readonly MailboxState[];
  readonly left: readonly MailboxState[];
  /** Those of `left` that the configuration selects. */
  readonly gone: readonly MailboxState[];
  /** Those of `gone` that have not come back under another id. */
  readonly missed: readonly MailboxState[];
  /** Names of the configuration that are no mailbox's; null when the list can't say. */
  readonly unlisted: readonly string[] | null;
  /** Mailboxes that another account of the API guards. */
  readonly elsewhere: readonly GuardedElsewhere[];
  /** Why the list is not believed to be whole; null when it is. */
  readonly shortage: ListShortage | null;
  /** Whose entry gives a reason to ask at once, and for what. */
  readonly stirred: readonly { readonly id: string; readonly routes: readonly ('stats' | 'mailbox')[] }[];
}

/**
 * What a changed entry asks for: the statistics when the score or the daily limit fell, or the status changed; the
 * detail, with the connection's error, when the status changed. A limit that rises is the daily ramp of a whole fleet.
 */
function stirredBy(before: MailboxEntry, after: MailboxEntry): readonly ('stats' | 'mailbox')[] {
  const fell = (was: number | null, is: number | null) => was !== null && is !== null && is < was;
  if (before.status !== after.status) return ['stats', 'mailbox'];
  const drop = fell(before.healthScore, after.healthScore) || fell(before.dailyLimit, after.dailyLimit);
  return drop ? ['stats'] : [];
}

export interface Roster {
  readonly account: string;
  readonly known: readonly MailboxState[];
  readonly list: Observed<MailboxList>;
  readonly selects: (mailbox: { readonly email: string; readonly id: string }) => boolean;
  /** Mailboxes of the list that another account of the API guards: they are not this account's. */
  readonly elsewhere: ReadonlyMap<string, GuardedElsewhere>;
  /** The mailboxes that the configuration names one by one. */
  readonly expects: readonly string[];
  /** Since when a mailbox is absent, by id. */
  readonly absentSince: ReadonlyMap<string, EpochMs>;
}

/** A list that says of each mailbox what was known, and of nobody else. */
interface RepeatedList {
  readonly list: MailboxList;
  /** In the order of the known mailboxes. */
  readonly entries: readonly MailboxEntry[];
}

/** What lists change, one after the other: the same list about the same mailboxes is not compared again. */
export class Rosters {
  #repeated: RepeatedList | null = null;

  /** As `compareRoster`. */
  compare(roster: Roster): RosterChanges {
    const { known, list, expects } = roster;
    const { mailboxes } = list.answer;
    if (this.#repeated?.list === list.answer && isAsKnown(roster, this.#repeated.entries)) {
      return { ...nothing, repeated: known, unlisted: unlistedNames(expects, expects.length === 0 ? [] : mailboxes) };
    }
    const changes = compareRoster(roster);
    const { arrived, changed, absent, left, shortage } = changes;
    const moved = arrived.length + changed.length + absent.length + left.length;
    const isRepeated = moved === 0 && shortage === null && mailboxes.length === known.length;
    this.#repeated = isRepeated ? { list: list.answer, entries: known.map(({ entry }) => entry.answer) } : null;
    return changes;
  }
}

const nothing = {
  elsewhere: [],
  arrived: [],
  changed: [],
  absent: [],
  left: [],
  gone: [],
  missed: [],
  shortage: null,
  stirred: [],
};

/** Whether each mailbox still says what it said then, and is still selected and on the list. */
function isAsKnown({ known, selects }: Roster, entries: readonly MailboxEntry[]): boolean {
  const isSame = (mailbox: MailboxState, index: number) =>
    mailbox.entry.answer === entries[index] && mailbox.missingLists === 0 && selects(mailbox);
  return known.length === entries.length && known.every(isSame);
}

/**
 * What a list changes. A truncated list says nothing about those who are not in it. A mailbox that the configuration
 * no longer selects has left, whatever the list says.
 */
export function compareRoster({ account, known, list, expects, absentSince, ...roster }: Roster): RosterChanges {
  const at = list.at;
  const selects: Roster['selects'] = (mailbox) => roster.selects(mailbox) && !roster.elsewhere.has(mailbox.id);
  const elsewhere = [...roster.elsewhere.values()];
  const ours = known.every(selects) ? known : known.filter(selects);
  const excluded = ours === known ? [] : known.filter((mailbox) => !selects(mailbox));
  const unseen = new Unseen(ours);
  const [arrived, changed, repeated]: [MailboxState[], MailboxState[], MailboxState[]] = [[], [], []];
  const stirred: RosterChanges['stirred'][number][] = [];
  let index = -1;
  for (const entry of list.answer.mailboxes) {
    index += 1;
    const place = unseen.placeOf(entry.id, index);
    const before = ours[place];
    if (before?.email !== entry.email && !selects(entry)) continue;
    unseen.delete(place);
    if (!before) {
      arrived.push(newMailbox(account, { at, answer: entry }));
      continue;
    }
    if (before.entry.answer === entry && before.missingLists === 0) {
      repeated.push(before);
      continue;
    }
    const routes = stirredBy(before.entry.answer, entry);
    if (routes.length > 0) stirred.push({ id: entry.id, routes });
    if (before.missingLists > 0 || !isSameEntry(before.entry.answer, entry)) {
      const seen = { at, answer: entry };
      const memory = before.memory && withLimits(before.memory, { ...before, entry: seen }, at);
      changed.push({ ...before, email: entry.email, missingLists: 0, entry: seen, memory });
    } else repeated.push(before);
  }
  const listed = list.answer.mailboxes.length;
  if (list.answer.truncated) {
    const shortage = { listed, missing: [], truncated: true };
    const nobody = { absent: [], left: excluded, gone: [], missed: [], unlisted: null };
    return { arrived, changed, repeated, ...nobody, elsewhere, shortage, stirred };
  }
  const missing = unseen.all().map((mailbox) => ({ ...mailbox, missingLists: mailbox.missingLists + 1 }));
  const since = (mailbox: MailboxState) => absentSince.get(mailbox.id) ?? at;
  const listedOnes = missing.length === 0 ? [] : [...arrived, ...unseen.others()];
  const replaced = replacedOf(missing, listedOnes, since);
  const lost = missing.length - replaced.size;
  const all = lost > 0 && lost === ours.length;
  const doubtful = all || lost > Math.max(believableLossCount, ours.length * believableLossShare);
  const isGone = (mailbox: MailboxState) =>
    mailbox.missingLists >= listsUntilGone &&
    (!doubtful || replaced.has(mailbox.id) || at - since(mailbox) >= lossHoldMs);
  const [absent, gone] = [missing.filter((mailbox) => !isGone(mailbox)), missing.filter(isGone)];
  const missed = gone.filter(({ id }) => !replaced.has(id));
  const lacking = absent.filter(({ id }) => !replaced.has(id));
  const unlisted = unlistedNames(expects, expects.length === 0 ? [] : [...list.answer.mailboxes, ...absent]);
  // Names that are not there are reported one by one.
  const isNobody =
    arrived.length + changed.length + repeated.length + absent.length + unlisted.length + elsewhere.length === 0;
  const isLoss = doubtful && lacking.length > 0;
  const shortage = isLoss || isNobody ? { listed, missing: lacking, truncated: false } : null;
  const left = [...excluded, ...gone];
  return { arrived, changed, repeated, absent, left, gone, missed, unlisted, elsewhere, shortage, stirred };
}

/** Known mailboxes that a list has not named yet. A map of all of them is made for a list in another order alone. */
class Unseen {
  readonly #known: readonly MailboxState[];
  readonly #seen: Uint8Array;
  #places: ReadonlyMap<string, number> | null = null;

  constructor(known: readonly MailboxState[]) {
    this.#known = known;
    this.#seen = new Uint8Array(known.length);
  }

  /** Where the mailbox stands among the known ones, looked for at `likely` first; -1: it is none of them, or was seen. */
  placeOf(id: string, likely: number): number {
    const place = this.#known[likely]?.id === id ? likely : (this.#all().get(id) ?? -1);
    return this.#seen[place] === 0 ? place : -1;
  }

  delete(place: number): void {
    if (place !== -1) this.#seen[place] = 1;
  }

  all(): readonly MailboxState[] {
    return this.#known.filter((_, place) => this.#seen[place] === 0);
  }

  /** Those that were seen. */
  others(): readonly MailboxState[] {
    return this.#known.filter((_, place) => this.#seen[place] === 1);
  }

  #all(): ReadonlyMap<string, number> {
    if (this.#places) return this.#places;
    const places = new Map<string, number>();
    for (const { id } of this.#known) places.set(id, places.size);
    this.#places = places;
    return places;
  }
}

// The mailboxes that share a domain or a provider with one: where they bounce too, the cause is likely shared. Pure.

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
