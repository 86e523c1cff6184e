// `undo`: a person takes back what Warmwarden did by itself lately, where its claim still stands. What others changed since
// is left as it is.

import { type MailboxState, mailboxKey, typedName } from '../model/mailbox.ts';
import {
  type CommandOutcome,
  type OperatorCommands,
  type Requester,
  succeeded,
  type UndoRequest,
} from '../model/operator-command.ts';
import { isWarmupMode } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import type { Claim } from '../model/verdict.ts';
import { momentText } from '../wording/phrases.ts';
import type { Audited } from './audit.ts';
import type { CommandRooms } from './command-rooms.ts';
import { type Change, carryingOut, effectOf, type WatchOf } from './mailbox-commands.ts';
import { noChange, stopsAt } from './plan.ts';

/** So many mailboxes of one account at a time: a change has a minute to be sent, and all of them share one budget. */
const atATime = 3;

/** A mailbox with the claims that are taken back. */
interface Undoing {
  readonly mailbox: MailboxState;
  readonly claims: readonly Claim[];
}

export function undoCommand(watchOf: WatchOf, rooms: CommandRooms, audited: Audited): OperatorCommands['undo'] {
  const { fleet, store, world } = rooms;
  const carryOut = carryingOut(watchOf, rooms);

  /**
   * The pause first, then the recovery that it stood on: each is ours again until it is taken back. Nothing twice, also
   * when the API could not show yet that it was taken back; and nothing that Warmwarden did since this was planned.
   */
  const undoOne = async ({ mailbox: { account, id }, claims }: Undoing, requester: Requester) => {
    const messages: string[] = [];
    const left = new Set(claims.map(({ actionId }) => actionId));
    for (let mailbox = fleet.mailbox(account, id); mailbox; mailbox = fleet.mailbox(account, id)) {
      const claim = mailbox.memory?.claim;
      if (!claim || left.size === 0) break;
      if (!left.delete(claim.actionId)) {
        if (!claims.some(({ actionId }) => actionId === claim.actionId)) messages.push(actedSince(mailbox, claim));
        break;
      }
      const back = changeBack(claim);
      if (!back) return { result: 'failed' as const, messages: [...messages, noWayBack(mailbox, world.command)] };
      const outcome = await carryOut(mailbox, back, requester);
      messages.push(...outcome.messages);
      if (!succeeded(outcome)) return { result: 'failed' as const, messages };
    }
    return { result: 'done' as const, messages: messages.length > 0 ? messages : [leftAlone(id, account)] };
  };

  const leftAlone = (id: string, account: string) =>
    `${fleet.mailbox(account, id)?.email ?? id}: not changed, because somebody changed it in the meantime.`;

  const undoAll = async (ours: readonly Undoing[], requester: Requester): Promise<readonly CommandOutcome[]> => {
    const ofAccounts = Map.groupBy(ours, ({ mailbox }) => mailbox.account);
    const outcomes = await Promise.all(
      [...ofAccounts.values()].map((theirs) => inTurn(theirs, (one) => undoOne(one, requester))),
    );
    return outcomes.flat();
  };

  /** Where we did something since then that is not ours any more. */
  const othersChanged = async (since: EpochMs, ours: readonly Undoing[]): Promise<readonly string[]> => {
    const stand = new Set(ours.map(({ mailbox: { account, id } }) => mailboxKey(account, id)));
    const ended = (await store.confirmedSince(since)).filter(
      ({ kind, account, mailboxId }) => kind !== 'restore' && !stand.has(mailboxKey(account, mailboxId)),
    );
    return [
      ...new Set(ended.map(({ email }) => `${email}: not changed, because it has been changed or reversed since.`)),
    ];
  };

  return async (request: UndoRequest) => {
    const now = world.clock.now();
    const since = now - request.sinceMs;
    const left = await othersChanged(since, undoingsOf(fleet.mailboxes(), since));
    // What is planned is what is there at this moment: nothing is awaited between here and the first change.
    const ours = undoingsOf(fleet.mailboxes(), since);
    if (ours.length === 0) {
      return noChange(
        `Nothing to undo: no change that Warmwarden made by itself since ${momentText(since)} is still in force.`,
        ...left,
      );
    }
    const about = ours.map(({ mailbox: { account, id }, claims }) => [account, id, claims.map((one) => one.actionId)]);
    const stopped = stopsAt(
      { effect: [...ours.flatMap((one) => effectsOf(one, world.command)), ...left], about },
      request,
    );
    if (stopped) return stopped;
    const mailboxes = ours.map(({ mailbox: { account, id, email } }) => ({ account, id, email }));
    const what = { name: 'undo', command: `undo since ${momentText(since)}`, account: null, mailboxes };
    return audited(request, what, async () => {
      const outcomes = await undoAll(ours, request);
      const failures = outcomes.filter((one) => !succeeded(one)).length;
      const outcome = `${ours.length - failures} of ${ours.length} mailboxes restored.`;
      const messages = [...outcomes.flatMap((one) => one.messages), ...left, outcome];
      return { result: failures === 0 ? 'done' : 'failed', messages };
    });
  };
}

/** The outcome of each, a few at a time. */
async function inTurn<Item, Value>(items: readonly Item[], work: (item: Item) => Promise<Value>): Promise<Value[]> {
  const results: Value[] = [];
  const left = items.entries();
  const workThrough = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atATime }, workThrough));
  return results;
}

/** What is ours since then, mailbox by mailbox, each in the order of taking it back. */
function undoingsOf(mailboxes: Iterable<MailboxState>, since: EpochMs): readonly Undoing[] {
  return [...mailboxes].flatMap((mailbox) => {
    const claim = mailbox.memory?.claim ?? null;
    const claims = [claim, claim?.under ?? null].filter((one) => one !== null).filter((one) => one.since >= since);
    return claims.length === 0 ? [] : [{ mailbox, claims }];
  });
}

/** The change that takes a claim back; null when the mode before is not known. */
function changeBack({ kind, actionId: undoes, previousMode }: Claim): Change | null {
  if (kind === 'pause') return { kind: 'resume', targetMode: null, undoes };
  return isWarmupMode(previousMode) ? { kind: 'mode', targetMode: previousMode, undoes } : null;
}

function effectsOf({ mailbox, claims }: Undoing, command: string): readonly string[] {
  return claims.map((claim) => {
    const back = changeBack(claim);
    return back ? effectOf(mailbox, back) : noWayBack(mailbox, command);
  });
}

function noWayBack(mailbox: MailboxState, command: string): string {
  return `${mailbox.email}: the earlier mode is unknown. Set a mode: \`${command} mode ${typedName(mailbox)} MODE\`.`;
}

function actedSince({ email }: MailboxState, { kind, since }: Claim): string {
  return `${email}: Warmwarden acted on it again on ${momentText(since)} (${kind}). That was not part of this undo, so it stays.`;
}
