// `undo`: a person takes back Warmwarden's recent changes where its claim still holds, and the limits and settings that were set
// through it. Later changes by others stay.

import { changedSince, mayTakeBack, refusalOf } from '../account/record/persons.ts';
import { type Action, leavesGuardAlone } from '../core/action.ts';
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
import { counted, countedOf, firstText, momentText } from '../core/wording/phrases.ts';
import type { CommandRooms } from './audit.ts';
import type { Command } from './command-requests.ts';
import {
  type CarryOut,
  carryingOut,
  effectOf,
  type MailboxChange,
  nothingDone,
  openTroubles,
  readOnlyKeys,
  type WatchOf,
} from './mailbox-commands.ts';

/** Number that people set, perhaps in several steps, and the one before the first step. */
interface SetNumber {
  readonly set: number;
  readonly earlier: number;
  /** Moment at which the last step was read back. */
  readonly at: EpochMs;
}

const settings = ['replyRate', 'sendWindowStart', 'sendWindowEnd'] as const;
/** Number that people set through Warmwarden, as the API's answer names it. */
type SetThing = 'targetDailyLimit' | (typeof settings)[number];
type SetNumbers = Readonly<Record<SetThing, ReadonlyMap<MailboxKey, SetNumber>>>;

/** Numbers that were set, by mailbox. `confirmed`: confirmed actions, the oldest first. */
export function setNumbersIn(confirmed: readonly Action[], thing: SetThing): ReadonlyMap<MailboxKey, SetNumber> {
  const numbers = new Map<MailboxKey, SetNumber>();
  for (const action of confirmed) {
    const { account, mailboxId, settledAt } = action;
    const { set, before, isUndo } = stepOf(action, thing);
    if (set === undefined || settledAt === null) continue;
    const key = mailboxKey(account, mailboxId);
    const last = numbers.get(key);
    // A change by others between two steps means that only the second step can be taken back.
    const earlier = last && last.set === before ? last.earlier : before;
    if (isUndo || typeof earlier !== 'number') numbers.delete(key);
    else numbers.set(key, { set, earlier, at: settledAt });
  }
  return numbers;
}

function stepOf({ targetLimit, targetSettings, before, undoesLimit, undoesSettings }: Action, thing: SetThing) {
  if (thing === 'targetDailyLimit')
    return { set: targetLimit, before: before.targetLimit, isUndo: undoesLimit !== undefined };
  return { set: targetSettings?.[thing], before: before.settings?.[thing], isUndo: undoesSettings !== undefined };
}

/** True if the mailbox has the number, and nobody changed a limit away and back in between. */
export function isInForce(
  { set, earlier, at }: SetNumber,
  { warmup, changes }: Pick<MailboxState, 'warmup' | 'changes'>,
  thing: SetThing,
): boolean {
  const isLimit = thing === 'targetDailyLimit';
  const changed = isLimit && changes.some((change) => change.what === 'target_daily_limit' && change.at > at);
  return !changed && set !== earlier && warmup?.answer.config[thing] === set;
}

/**
 * Mailbox with the changes that take ours back, in their order: the pause first, then the recovery below it, the limit
 * after them, since it belongs to the mode before, and other settings last.
 */
interface Undoing {
  readonly mailbox: MailboxState;
  /** Steps back, each null if there is no way back, because the mode before is not known. */
  readonly steps: readonly (MailboxChange | null)[];
}

export function undoCommand(watchOf: WatchOf, rooms: CommandRooms): Command<'undo'> {
  const { fleet, store, world, rules } = rooms;
  const carryOut = carryingOut(watchOf, rooms);
  return async (request) => {
    const since = world.clock.now() - request.since_seconds * secondMs;
    const when = momentText(since, rules().timeZone);
    const confirmed = await store.confirmedSince(since);
    // The plan is current: nothing is awaited between here and the first change.
    const ofThings = (['targetDailyLimit', ...settings] as const).map((thing) => [
      thing,
      setNumbersIn(confirmed, thing),
    ]);
    const numbers = Object.fromEntries(ofThings) as SetNumbers;
    const ours = [...fleet.mailboxes()].flatMap((mailbox) => {
      const steps = stepsBack(mailbox, since, numbers);
      return steps.length === 0 ? [] : [{ mailbox, steps }];
    });
    const left = othersChanged(confirmed, numbers, ours);
    if (ours.length === 0) {
      const nothing = `Nothing to undo: no change that Warmwarden made by itself since ${when} is still in force.`;
      return noChange(nothing, ...olderText(fleet), ...left);
    }
    const refusals = ours.map(({ mailbox, steps: [first] }) => (first ? refusalOf(rooms, mailbox, first) : null));
    const refused = new Set(refusals.filter((one) => one !== null));
    if (request.dry_run && !refusals.includes(null)) return failed(...refused, ...left);
    const mailboxes = ours.map(({ mailbox }) => mailbox);
    const effect = ours.flatMap(({ mailbox, steps }, index) =>
      refusals[index] === null
        ? steps.flatMap((step) =>
            step ? [effectOf(mailbox, step), ...openTroubles(mailbox, step, fleet)] : noWayBack(mailbox),
          )
        : [],
    );
    return {
      plan: {
        effect: [...effect, ...readOnlyKeys(mailboxes, fleet), ...refused, ...left],
        about: [...ours.map(({ mailbox: { account, id }, steps }) => [account, id, steps]), ...refused],
      },
      command: `undo since ${when}`,
      mailboxes: mailboxes.map(({ account, id, email }) => ({ account, id, email })),
      carryOut: () => undoAll(ours, left, { fleet, carryOut, request }),
    };
  };
}

/** Returns a sentence about the changes in force, all from before the asked time. */
function olderText(fleet: Pick<CommandRooms['fleet'], 'mailboxes'>): readonly string[] {
  const changed = [...fleet.mailboxes()].filter(({ memory }) => memory?.claim);
  const paused = changed.filter(({ memory }) => memory?.claim?.kind === 'pause').length;
  if (changed.length === 0) return [];
  const are = changed.length === 1 ? 'mailbox is' : 'mailboxes are';
  const resumes = paused === 0 ? '' : `, and would resume ${counted(paused, 'paused warm-up')}`;
  return [`${changed.length} ${are} still changed from before: a longer time undoes that${resumes}.`];
}

/** Changes that take back what Warmwarden did to a mailbox since a moment, and the numbers that people set. */
function stepsBack(mailbox: MailboxState, since: EpochMs, numbers: SetNumbers): Undoing['steps'] {
  const claim = mailbox.memory?.claim ?? null;
  const claims = [claim, claim?.under ?? null].filter((one) => one !== null).filter((one) => one.since >= since);
  const inForce = (thing: SetThing) => {
    const number = numbers[thing].get(mailboxKey(mailbox.account, mailbox.id));
    return number && isInForce(number, mailbox, thing) ? [{ thing, ...number }] : [];
  };
  const limits = inForce('targetDailyLimit').map(({ set, earlier }): MailboxChange => {
    return { kind: 'limit', targetMode: null, targetLimit: earlier, undoesLimit: set };
  });
  const changed = settings.flatMap(inForce);
  const settingsBack: MailboxChange = {
    kind: 'set',
    targetMode: null,
    targetSettings: Object.fromEntries(changed.map(({ thing, earlier }) => [thing, earlier])),
    undoesSettings: Object.fromEntries(changed.map(({ thing, set }) => [thing, set])),
  };
  return [...claims.map(changeBack), ...limits, ...(changed.length > 0 ? [settingsBack] : [])];
}

/** Change that takes a claim back, or null if the mode before is not known. */
function changeBack({ kind, actionId: undoes, previousMode }: Claim): MailboxChange | null {
  if (kind === 'pause') return { kind: 'resume', targetMode: null, undoes };
  return isWarmupMode(previousMode) ? { kind: 'mode', targetMode: previousMode, undoes } : null;
}

/** Sentences about our changes that others have changed since. */
function othersChanged(confirmed: readonly Action[], numbers: SetNumbers, ours: readonly Undoing[]): readonly string[] {
  const stand = new Set(ours.map(({ mailbox: { account, id } }) => mailboxKey(account, id)));
  const ended = confirmed.filter(({ kind, by, account, mailboxId }) => {
    const key = mailboxKey(account, mailboxId);
    const isSet = Object.values(numbers).some((one) => one.has(key));
    return !stand.has(key) && (leavesGuardAlone(kind) ? isSet : !by && kind !== 'restore');
  });
  return [...new Set(ended.map(({ email }) => `${email}: ${changedSince}.`))];
}

interface UndoParts extends Pick<CommandRooms, 'fleet'> {
  readonly carryOut: CarryOut;
  readonly request: Requester;
}

const namedAtMost = 20;

/** Accounts run in parallel, since each has a budget of its own; the mailboxes of an account one after the other. */
async function undoAll(ours: readonly Undoing[], left: readonly string[], parts: UndoParts): Promise<CommandOutcome> {
  // A message common to all, such as that of the write stop, appears once.
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
  { fleet, carryOut, request }: UndoParts,
): Promise<CommandOutcome> {
  const messages: string[] = [];
  const results: CommandResult[] = [];
  for (const step of steps) {
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return failed(...messages, `${email} is no longer on the account.`);
    if (!step || !mayTakeBack(step, mailbox)) {
      messages.push(step ? `${email}: ${changedSince}.` : noWayBack(mailbox));
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

function noWayBack(mailbox: MailboxState): string {
  return `${mailbox.email}: the earlier mode is unknown. Set a mode: \`warmwarden mode ${typedName(mailbox)} MODE\`.`;
}
