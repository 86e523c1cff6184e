// Compares a mailbox list with the known mailboxes: new, changed, absent, gone. Pure. docs/faults.md H23, S8.
import type { ListShortage } from '../../alerts/rules/account-rules.ts';
import type { Alert } from '../../core/alert.ts';
import type { MailboxEntry, MailboxList, Observed } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { underNewId } from '../../core/guard/memory.ts';
import type { ListedMailbox, MailboxName, MailboxState } from '../../core/mailbox.ts';
import { dayMs, type EpochMs, hourMs } from '../../core/time.ts';
import { newMailbox } from './observe.ts';

// Mailboxes that return: under their old id, or under a new id with the history of their address (S9). Pure.

/**
 * Returns the arrived mailboxes with their history. Answers from before their absence are not kept. `gone`: mailboxes
 * that left before, and known ones that the list lacks. If two of them share an address, the owner of the history is
 * unknown, and none is kept.
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

/** Returns missing mailboxes whose address appeared under another id when they were first missed, or later. */
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

const listsUntilGone = 2;
/**
 * A list that lost a larger share of this account's mailboxes is believed only after the loss lasted for an hour, one
 * that lost all of them after a week. A loss of one mailbox is believed at once, unless it was the only one.
 */
const believableLossShare = 0.2;
const believableLossCount = 1;
const lossHoldMs = hourMs;
/** A list that lacks every mailbox is a fault of the service more often than the end of all of them. */
const lossOfAllHoldMs = 7 * dayMs;

export interface RosterChanges {
  readonly arrived: readonly MailboxState[];
  /** Mailboxes that return, and known ones with a changed entry. */
  readonly changed: readonly MailboxState[];
  readonly repeated: readonly MailboxState[];
  /** Known mailboxes that this list lacks and that still count as ours. */
  readonly absent: readonly MailboxState[];
  /** Mailboxes that the account drops now: gone, or no longer selected. */
  readonly left: readonly MailboxState[];
  /** Mailboxes of `left` that the configuration selects. */
  readonly gone: readonly MailboxState[];
  /** Mailboxes of `gone` that have not come back under another id. */
  readonly missed: readonly MailboxState[];
  /** Configured names without a mailbox, or null if the list cannot tell. */
  readonly unlisted: readonly string[] | null;
  readonly elsewhere: readonly MailboxName[];
  readonly shortage: ListShortage | null;
  /** Mailboxes whose changed entry asks for a poll at once, with the routes. */
  readonly stirred: readonly { readonly id: string; readonly routes: readonly ('stats' | 'mailbox')[] }[];
}

/**
 * Returns the routes that a changed entry asks for: the statistics if the score or the daily limit fell, or the status
 * changed; the detail, with the connection's error, if the status changed. A rising limit is the daily ramp of a whole
 * fleet.
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
  readonly selects: (mailbox: ListedMailbox) => boolean;
  /** Mailboxes of the list that another account of the API guards. This account does not have them. */
  readonly elsewhere: ReadonlyMap<string, MailboxName>;
  readonly expects: readonly string[];
  readonly absentSince: ReadonlyMap<string, EpochMs>;
}

/** A truncated list says nothing about mailboxes that it lacks. A mailbox that is not selected has left. */
export function compareRoster({ account, list, expects, absentSince, ...roster }: Roster): RosterChanges {
  const at = list.at;
  const selects: Roster['selects'] = (mailbox) => roster.selects(mailbox) && !roster.elsewhere.has(mailbox.id);
  const elsewhere = [...roster.elsewhere.values()];
  const ours = roster.known.filter(selects);
  // A mailbox whose action is in progress leaves only for another account: the outcome is recorded and told first.
  const isWaiting = ({ id, action }: MailboxState) => action?.state === 'open' && !roster.elsewhere.has(id);
  const excluded = roster.known.filter((mailbox) => !selects(mailbox) && !isWaiting(mailbox));
  const known = new Map(ours.map((mailbox) => [mailbox.id, mailbox]));
  const unseen = new Set(ours);
  const [arrived, changed, repeated]: [MailboxState[], MailboxState[], MailboxState[]] = [[], [], []];
  const stirred: RosterChanges['stirred'][number][] = [];
  for (const entry of list.answer.mailboxes) {
    const before = known.get(entry.id);
    if (before?.email !== entry.email && !selects(entry)) continue;
    if (!before) {
      arrived.push(newMailbox(account, { at, answer: entry }));
      continue;
    }
    unseen.delete(before);
    const routes = stirredBy(before.entry.answer, entry);
    if (routes.length > 0) stirred.push({ id: entry.id, routes });
    if (before.missingLists > 0 || JSON.stringify(before.entry.answer) !== JSON.stringify(entry)) {
      const seen = { at, answer: entry };
      changed.push({ ...before, email: entry.email, missingLists: 0, entry: seen });
    } else repeated.push(before);
  }
  const listed = list.answer.mailboxes.length;
  if (list.answer.truncated) {
    const shortage = { listed, missing: [], truncated: true };
    const nobody = { absent: [], left: excluded, gone: [], missed: [], unlisted: null };
    return { arrived, changed, repeated, ...nobody, elsewhere, shortage, stirred };
  }
  const missing = [...unseen].map((mailbox) => ({ ...mailbox, missingLists: mailbox.missingLists + 1 }));
  const since = (mailbox: MailboxState) => absentSince.get(mailbox.id) ?? at;
  const listedOnes = missing.length === 0 ? [] : [...arrived, ...ours.filter((mailbox) => !unseen.has(mailbox))];
  const replaced = replacedOf(missing, listedOnes, since);
  const lost = missing.length - replaced.size;
  const all = lost > 0 && lost === ours.length;
  const doubtful = all || lost > Math.max(believableLossCount, ours.length * believableLossShare);
  const isGone = (mailbox: MailboxState) =>
    mailbox.missingLists >= listsUntilGone &&
    !isWaiting(mailbox) &&
    (!doubtful || replaced.has(mailbox.id) || at - since(mailbox) >= (all ? lossOfAllHoldMs : lossHoldMs));
  const [absent, gone] = [missing.filter((mailbox) => !isGone(mailbox)), missing.filter(isGone)];
  const missed = gone.filter(({ id }) => !replaced.has(id));
  const lacking = absent.filter(({ id }) => !replaced.has(id));
  const unlisted = unlistedNames(expects, expects.length === 0 ? [] : [...list.answer.mailboxes, ...absent]);
  // Missing names are reported one by one.
  const isNobody =
    arrived.length + changed.length + repeated.length + absent.length + unlisted.length + elsewhere.length === 0;
  const isLoss = doubtful && lacking.length > 0;
  const shortage = isLoss || isNobody ? { listed, missing: lacking, truncated: false } : null;
  const left = [...excluded, ...gone];
  return { arrived, changed, repeated, absent, left, gone, missed, unlisted, elsewhere, shortage, stirred };
}

export function runningIn(accounts: readonly string[], fleet: Fleet): number {
  let running = 0;
  for (const account of accounts)
    for (const { verdict } of fleet.mailboxesOf(account)) if (verdict?.answer.run === 'running') running += 1;
  return running;
}

// Names of the configuration that no mailbox list holds.

/** Returns the names that are neither an id nor, regardless of case, an address of these mailboxes. */
export function unlistedNames(names: readonly string[], mailboxes: readonly ListedMailbox[]): readonly string[] {
  if (names.length === 0) return [];
  const here = new Set(mailboxes.flatMap(({ id, email }) => [id, email.toLowerCase()]));
  return [...new Set(names)].filter((name) => !here.has(name) && !here.has(name.toLowerCase()));
}

export function reportedMissing(alerts: readonly Alert[]): readonly ListedMailbox[] {
  return alerts.flatMap(({ rule, status, mailboxId: id, email }) =>
    rule === 'mailbox_missing' && status !== 'resolved' && id !== null && email !== null ? [{ id, email }] : [],
  );
}

// Mailboxes and names that were reported as missing: those that are back, and those that are no longer expected.

const missedForMs = 7 * dayMs;

export const noLongerMissed =
  'Warmwarden no longer expects the mailbox: it was missing for a week, or the configuration no longer includes it.';

type GuardedMailbox = Pick<MailboxState, 'account' | 'id' | 'email'>;

interface ReadList {
  readonly arrived: readonly GuardedMailbox[];
  readonly selects: (mailbox: GuardedMailbox) => boolean;
  /** Mailboxes that the configuration names one by one. They stay expected as long as it does. */
  readonly expected: readonly string[];
  readonly now: EpochMs;
}

/** A mailbox is back under its id, or under its address with another id (S9). An alert about a name has no mailbox. */
export function missedMailboxes(
  alerts: readonly Alert[],
  { arrived, selects, expected, now }: ReadList,
): { readonly back: readonly GuardedMailbox[]; readonly forgotten: readonly Alert[] } {
  const reported = alerts.filter(({ rule }) => rule === 'mailbox_missing');
  if (reported.length === 0) return { back: [], forgotten: [] };
  const named = new Set(expected.flatMap((name) => [name, name.toLowerCase()]));
  const here = new Set(arrived.flatMap(({ id, email }) => [id, email.toLowerCase()]));
  const back: GuardedMailbox[] = [];
  const forgotten: Alert[] = [];
  for (const alert of reported) {
    const { account, mailboxId: id, email, object, status } = alert;
    if (id === null || email === null) {
      if (object !== null && !expected.includes(object)) forgotten.push(alert);
      continue;
    }
    if (status !== 'firing') continue;
    if (here.has(id) || here.has(email.toLowerCase())) back.push({ account, id, email });
    else if (!selects({ account, id, email })) forgotten.push(alert);
    else if (now - alert.since > missedForMs && !named.has(id) && !named.has(email.toLowerCase()))
      forgotten.push(alert);
  }
  return { back, forgotten };
}
