// `undo`: a person takes back Warmwarden's recent changes where its claim still holds, and the limits that were set
// through it. Later changes by others stay.

import { refusalOf } from '../account/record/persons.ts';
import type { Action } from '../core/action.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { type MailboxKey, type MailboxState, mailboxKey, typedName } from '../core/mailbox.ts';
import { type CommandOutcome, type OperatorCommands, succeeded, type UndoRequest } from '../core/operator-command.ts';
import { isWarmupMode } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import type { Claim } from '../core/verdict.ts';
import { sentence } from '../core/wording/explain.ts';
import { countedOf, listText, momentText } from '../core/wording/phrases.ts';
import type { Audited, CommandRooms } from './audit.ts';
import {
  carryingOut,
  effectOf,
  type MailboxChange,
  nothingDone,
  readOnlyKeys,
  type WatchOf,
} from './mailbox-commands.ts';
import { failed, noChange, stopsAt } from './plan.ts';

// Target daily limits that were set through Warmwarden and are still in force, with the limits before them. Pure.

/** Limit that people set, in emails a day, perhaps in several steps, and the one before the first step. */
interface SetLimit {
  readonly set: number;
  readonly earlier: number;
  /** Moment at which the last step was read back. */
  readonly at: EpochMs;
}

/** Limits that were set, by mailbox. `confirmed`: confirmed actions, the oldest first. */
export function setLimitsIn(confirmed: readonly Action[]): ReadonlyMap<MailboxKey, SetLimit> {
  const limits = new Map<MailboxKey, SetLimit>();
  for (const { account, mailboxId, targetLimit: set, undoesLimit, before, settledAt } of confirmed) {
    if (set === undefined || settledAt === null) continue;
    const key = mailboxKey(account, mailboxId);
    const last = limits.get(key);
    // A change by others between two steps means that only the second step can be taken back.
    const earlier = last && last.set === before.targetLimit ? last.earlier : before.targetLimit;
    if (undoesLimit !== undefined || typeof earlier !== 'number') limits.delete(key);
    else limits.set(key, { set, earlier, at: settledAt });
  }
  return limits;
}

/** True if the mailbox has the limit, and nobody changed it away and back in between. */
export function isInForce({ set, earlier, at }: SetLimit, { warmup, changes }: MailboxState): boolean {
  const changed = changes.some((change) => change.what === 'target_daily_limit' && change.at > at);
  return !changed && set !== earlier && warmup?.answer.config.targetDailyLimit === set;
}

/**
 * Maximum number of mailboxes of an account in parallel: a change has a minute to be sent, and all share one budget.
 */
const atATime = 3;

/** Mailbox with the claims and the limit to take back. */
interface Undoing {
  readonly mailbox: MailboxState;
  readonly claims: readonly Claim[];
  readonly limit: SetLimit | null;
}

/** Context of an undo by one person. */
interface TakingBack {
  readonly fleet: Fleet;
  readonly command: string;
  /** Time zone of the sentences. */
  readonly zone: string;
  /** Makes a change in that person's name. */
  readonly carryOut: (mailbox: MailboxState, change: MailboxChange) => Promise<CommandOutcome>;
}

export function undoCommand(watchOf: WatchOf, rooms: CommandRooms, audited: Audited): OperatorCommands['undo'] {
  const { fleet, store, world, rules } = rooms;
  const { command } = world;
  const carryOut = carryingOut(watchOf, rooms);
  return async (request: UndoRequest) => {
    const since = world.clock.now() - request.sinceMs;
    const { timeZone: zone } = rules();
    const confirmed = await store.confirmedSince(since);
    // The plan is current: nothing is awaited between here and the first change.
    const limits = setLimitsIn(confirmed);
    const ours = undoingsOf([...fleet.mailboxes()], since, limits);
    const left = othersChanged(confirmed, limits, ours);
    if (ours.length === 0) {
      return noChange(
        `Nothing to undo: no change that Warmwarden made by itself since ${momentText(since, zone)} is still in force.`,
        ...left,
      );
    }
    const refusals = ours.map((one) => refusalOfFirst(one, rooms));
    const refused = new Set(refusals.filter((one) => one !== null));
    if (request.dryRun && !refusals.includes(null)) return failed(...refused, ...left);
    const mailboxes = ours.map(({ mailbox }) => mailbox);
    const effect = ours.flatMap((one, index) => (refusals[index] === null ? effectsOf(one, command) : []));
    const stopped = stopsAt(
      {
        effect: [...effect, ...readOnlyKeys(mailboxes, fleet), ...refused, ...left],
        about: [...ours.map(namesOf), ...refused],
      },
      request,
    );
    if (stopped) return stopped;
    const named = mailboxes.map(({ account, id, email }) => ({ account, id, email }));
    const what = { name: 'undo', command: `undo since ${momentText(since, zone)}`, account: null, mailboxes: named };
    return audited(request, what, async () => {
      const by = {
        fleet,
        command,
        zone,
        carryOut: (mailbox: MailboxState, to: MailboxChange) => carryOut(mailbox, to, request),
      };
      const outcomes = await undoAll(ours, by);
      const failures = outcomes.filter(({ outcome }) => !succeeded(outcome)).map(({ email }) => email);
      const restored = countedOf(ours.length - failures.length, ours.length, 'mailbox', 'mailboxes');
      // A message common to all, such as that of the emergency stop, appears once.
      const said = new Set(outcomes.flatMap(({ outcome }) => outcome.messages));
      said.delete(nothingDone);
      const sums = [sentence(`${restored} restored`), ...notRestored(failures)];
      return { result: failures.length === 0 ? 'done' : 'failed', messages: [...said, ...left, sums.join(' ')] };
    });
  };
}

/** Identity of a plan: the same as long as its changes are the same. */
function namesOf({ mailbox: { account, id }, claims, limit }: Undoing): readonly unknown[] {
  return [account, id, claims.map((one) => one.actionId), ...(limit ? [limit.set, limit.earlier] : [])];
}

/** Reason why the first change of a mailbox would be refused; null if it would not, or if there is no way back. */
function refusalOfFirst({ mailbox, claims: [claim], limit }: Undoing, rooms: CommandRooms): string | null {
  const first = claim ? changeBack(claim) : limit && limitBack(limit);
  return first && refusalOf(rooms, mailbox, first);
}

/** Sentences about our changes that others have changed since. */
function othersChanged(
  confirmed: readonly Action[],
  limits: ReadonlyMap<MailboxKey, SetLimit>,
  ours: readonly Undoing[],
): readonly string[] {
  const stand = new Set(ours.map(({ mailbox: { account, id } }) => mailboxKey(account, id)));
  const ended = confirmed.filter(({ kind, by, account, mailboxId }) => {
    const key = mailboxKey(account, mailboxId);
    return !stand.has(key) && (kind === 'limit' ? limits.has(key) : !by && kind !== 'restore');
  });
  return [
    ...new Set(ended.map(({ email }) => `${email}: not changed, because it has been changed or reversed since.`)),
  ];
}

/** Number of mailboxes that a sentence names. */
const namedAtMost = 20;

function notRestored(emails: readonly string[]): readonly string[] {
  const more = emails.length - namedAtMost;
  const names = [...emails.slice(0, namedAtMost), ...(more > 0 ? [`${more} more`] : [])];
  return emails.length === 0 ? [] : [sentence(`Not restored: ${listText(names)}`)];
}

interface Undone {
  readonly email: string;
  readonly outcome: CommandOutcome;
}

/** Accounts run in parallel, since each has a budget of its own. */
async function undoAll(ours: readonly Undoing[], by: TakingBack): Promise<readonly Undone[]> {
  const ofAccounts = Map.groupBy(ours, ({ mailbox }) => mailbox.account);
  const outcomes = await Promise.all(
    [...ofAccounts.values()].map((theirs) =>
      inTurn(theirs, async (one) => ({ email: one.mailbox.email, outcome: await undoOne(one, by) })),
    ),
  );
  return outcomes.flat();
}

/**
 * Takes back the pause first, then the recovery below it: each is ours again until it is taken back. The limit is last,
 * since it belongs to the mode before. Takes nothing back twice, even if the API could not yet show the change, and
 * nothing that Warmwarden did after this plan.
 */
async function undoOne(
  { mailbox: { account, id }, claims, limit }: Undoing,
  { fleet, command, zone, carryOut }: TakingBack,
): Promise<CommandOutcome> {
  const messages: string[] = [];
  const left = new Set(claims.map(({ actionId }) => actionId));
  for (let mailbox = fleet.mailbox(account, id); mailbox; mailbox = fleet.mailbox(account, id)) {
    const claim = mailbox.memory?.claim;
    if (!claim || left.size === 0) break;
    if (!left.delete(claim.actionId)) {
      if (!claims.some(({ actionId }) => actionId === claim.actionId)) messages.push(actedSince(mailbox, claim, zone));
      break;
    }
    const back = changeBack(claim);
    if (!back) return failed(...messages, noWayBack(mailbox, command));
    const outcome = await carryOut(mailbox, back);
    messages.push(...outcome.messages);
    if (!succeeded(outcome)) return failed(...messages);
  }
  const mailbox = limit && fleet.mailbox(account, id);
  if (mailbox) {
    const outcome = await carryOut(mailbox, limitBack(limit));
    messages.push(...outcome.messages);
    if (!succeeded(outcome)) return failed(...messages);
  }
  return {
    result: 'done',
    messages: messages.length > 0 ? messages : [leftAlone(fleet.mailbox(account, id)?.email ?? id)],
  };
}

/** Outcomes of the items, a few at a time. */
async function inTurn<Item, Value>(items: readonly Item[], work: (item: Item) => Promise<Value>): Promise<Value[]> {
  const results: Value[] = [];
  const left = items.entries();
  const workThrough = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atATime }, workThrough));
  return results;
}

/** Our changes since a moment, by mailbox, in the order in which they are taken back. */
function undoingsOf(
  mailboxes: Iterable<MailboxState>,
  since: EpochMs,
  limits: ReadonlyMap<MailboxKey, SetLimit>,
): readonly Undoing[] {
  return [...mailboxes].flatMap((mailbox) => {
    const claim = mailbox.memory?.claim ?? null;
    const claims = [claim, claim?.under ?? null].filter((one) => one !== null).filter((one) => one.since >= since);
    const set = limits.get(mailboxKey(mailbox.account, mailbox.id)) ?? null;
    const limit = set && isInForce(set, mailbox) ? set : null;
    return claims.length === 0 && limit === null ? [] : [{ mailbox, claims, limit }];
  });
}

/** Change that takes a claim back, or null if the mode before is not known. */
function changeBack({ kind, actionId: undoes, previousMode }: Claim): MailboxChange | null {
  if (kind === 'pause') return { kind: 'resume', targetMode: null, undoes };
  return isWarmupMode(previousMode) ? { kind: 'mode', targetMode: previousMode, undoes } : null;
}

/** Change that takes a limit back. */
function limitBack({ set, earlier }: SetLimit): MailboxChange {
  return { kind: 'limit', targetMode: null, targetLimit: earlier, undoesLimit: set };
}

function effectsOf({ mailbox, claims, limit }: Undoing, command: string): readonly string[] {
  const backs = claims.map((claim) => {
    const back = changeBack(claim);
    return back ? effectOf(mailbox, back) : noWayBack(mailbox, command);
  });
  return limit ? [...backs, effectOf(mailbox, limitBack(limit))] : backs;
}

function leftAlone(email: string): string {
  return `${email}: not changed, because somebody changed it in the meantime.`;
}

function noWayBack(mailbox: MailboxState, command: string): string {
  return `${mailbox.email}: the earlier mode is unknown. Set a mode: \`${command} mode ${typedName(mailbox)} MODE\`.`;
}

function actedSince({ email }: MailboxState, { kind, since }: Claim, zone: string): string {
  return `${email}: Warmwarden acted on it again on ${momentText(since, zone)} (${kind}). That was not part of this undo, so it stays.`;
}
