// `undo`: a person takes back Warmwarden's recent changes where its claim still holds, and the limits that were set
// through it. Later changes by others stay.

import { changedSince, mayTakeBack, refusalOf } from '../account/record/persons.ts';
import type { Action } from '../core/action.ts';
import { type MailboxKey, type MailboxState, mailboxKey, typedName } from '../core/mailbox.ts';
import {
  type CommandOutcome,
  type CommandResult,
  failed,
  noChange,
  type Requester,
  succeeded,
} from '../core/operator-command.ts';
import { isWarmupMode } from '../core/policy.ts';
import { type EpochMs, secondMs } from '../core/time.ts';
import type { Claim } from '../core/verdict.ts';
import { sentence } from '../core/wording/explain.ts';
import { countedOf, firstText, momentText } from '../core/wording/phrases.ts';
import type { CommandRooms } from './audit.ts';
import type { Command } from './command-requests.ts';
import {
  type CarryOut,
  carryingOut,
  effectOf,
  type MailboxChange,
  nothingDone,
  readOnlyKeys,
  type WatchOf,
} from './mailbox-commands.ts';

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
 * Mailbox with the changes that take ours back, in their order: the pause first, then the recovery below it, the limit
 * last, since it belongs to the mode before.
 */
interface Undoing {
  readonly mailbox: MailboxState;
  /** Steps back, each null if there is no way back, because the mode before is not known. */
  readonly steps: readonly (MailboxChange | null)[];
}

export function undoCommand(watchOf: WatchOf, rooms: CommandRooms): Command<'undo'> {
  const { fleet, store, world, rules } = rooms;
  const { command } = world;
  const carryOut = carryingOut(watchOf, rooms);
  return async (request) => {
    const since = world.clock.now() - request.since_seconds * secondMs;
    const when = momentText(since, rules().timeZone);
    const confirmed = await store.confirmedSince(since);
    // The plan is current: nothing is awaited between here and the first change.
    const limits = setLimitsIn(confirmed);
    const ours = [...fleet.mailboxes()].flatMap((mailbox) => {
      const steps = stepsBack(mailbox, since, limits);
      return steps.length === 0 ? [] : [{ mailbox, steps }];
    });
    const left = othersChanged(confirmed, limits, ours);
    if (ours.length === 0) {
      const nothing = `Nothing to undo: no change that Warmwarden made by itself since ${when} is still in force.`;
      return noChange(nothing, ...left);
    }
    const refusals = ours.map(({ mailbox, steps: [first] }) => (first ? refusalOf(rooms, mailbox, first) : null));
    const refused = new Set(refusals.filter((one) => one !== null));
    if (request.dry_run && !refusals.includes(null)) return failed(...refused, ...left);
    const mailboxes = ours.map(({ mailbox }) => mailbox);
    const effect = ours.flatMap(({ mailbox, steps }, index) =>
      refusals[index] === null
        ? steps.map((step) => (step ? effectOf(mailbox, step) : noWayBack(mailbox, command)))
        : [],
    );
    return {
      plan: {
        effect: [...effect, ...readOnlyKeys(mailboxes, fleet), ...refused, ...left],
        about: [...ours.map(({ mailbox: { account, id }, steps }) => [account, id, steps]), ...refused],
      },
      command: `undo since ${when}`,
      mailboxes: mailboxes.map(({ account, id, email }) => ({ account, id, email })),
      carryOut: () => undoAll(ours, left, { fleet, world, carryOut, request }),
    };
  };
}

/** Changes that take back what Warmwarden did to a mailbox since a moment, and the limit that people set. */
function stepsBack(mailbox: MailboxState, since: EpochMs, limits: ReadonlyMap<MailboxKey, SetLimit>): Undoing['steps'] {
  const claim = mailbox.memory?.claim ?? null;
  const claims = [claim, claim?.under ?? null].filter((one) => one !== null).filter((one) => one.since >= since);
  const limit = limits.get(mailboxKey(mailbox.account, mailbox.id));
  if (!limit || !isInForce(limit, mailbox)) return claims.map(changeBack);
  const { set, earlier } = limit;
  const limitBack = { kind: 'limit', targetMode: null, targetLimit: earlier, undoesLimit: set } as const;
  return [...claims.map(changeBack), limitBack];
}

/** Change that takes a claim back, or null if the mode before is not known. */
function changeBack({ kind, actionId: undoes, previousMode }: Claim): MailboxChange | null {
  if (kind === 'pause') return { kind: 'resume', targetMode: null, undoes };
  return isWarmupMode(previousMode) ? { kind: 'mode', targetMode: previousMode, undoes } : null;
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
  return [...new Set(ended.map(({ email }) => `${email}: ${changedSince}.`))];
}

interface UndoParts extends Pick<CommandRooms, 'fleet' | 'world'> {
  readonly carryOut: CarryOut;
  readonly request: Requester;
}

const namedAtMost = 20;

/** Accounts run in parallel, since each has a budget of its own; the mailboxes of an account one after the other. */
async function undoAll(ours: readonly Undoing[], left: readonly string[], parts: UndoParts): Promise<CommandOutcome> {
  // A message common to all, such as that of the emergency stop, appears once.
  const said = new Set<string>();
  const failures: string[] = [];
  const results: CommandResult[] = [];
  const ofAccounts = [...Map.groupBy(ours, ({ mailbox }) => mailbox.account).values()];
  await Promise.all(
    ofAccounts.map(async (theirs) => {
      for (const one of theirs) {
        const outcome = await undoOne(one, parts);
        for (const message of outcome.messages) said.add(message);
        results.push(outcome.result);
        if (!succeeded(outcome)) failures.push(one.mailbox.email);
      }
    }),
  );
  said.delete(nothingDone);
  const restored = countedOf(results.filter((one) => one === 'done').length, ours.length, 'mailbox', 'mailboxes');
  const sums = [
    `${restored} restored`,
    ...(failures.length > 0 ? [`Not restored: ${firstText(failures, namedAtMost)}`] : []),
  ];
  return { result: sumOf(results), messages: [...said, ...left, sums.map(sentence).join(' ')] };
}

/** Failed if a part failed, done if a part was carried out, otherwise no change. */
function sumOf(results: readonly CommandResult[]): CommandResult {
  return (['failed', 'done'] as const).find((one) => results.includes(one)) ?? 'no_change';
}

/** Takes the steps in turn. What somebody changed in the meantime, or Warmwarden did after this plan, stays. */
async function undoOne(
  { mailbox: { account, id, email }, steps }: Undoing,
  { fleet, world, carryOut, request }: UndoParts,
): Promise<CommandOutcome> {
  const messages: string[] = [];
  const results: CommandResult[] = [];
  for (const step of steps) {
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return failed(...messages, `${email} is no longer on the account.`);
    if (!step || !mayTakeBack(step, mailbox)) {
      messages.push(step ? `${email}: ${changedSince}.` : noWayBack(mailbox, world.command));
      results.push('failed');
      continue;
    }
    const outcome = await carryOut(mailbox, step, request);
    messages.push(...outcome.messages);
    if (!succeeded(outcome)) return failed(...messages);
    results.push(outcome.result);
  }
  return { result: sumOf(results), messages };
}

function noWayBack(mailbox: MailboxState, command: string): string {
  return `${mailbox.email}: the earlier mode is unknown. Set a mode: \`${command} mode ${typedName(mailbox)} MODE\`.`;
}
