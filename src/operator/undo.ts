// `undo`: a person takes back what Warmwarden did by itself lately, where its claim still stands. What others changed since
// is left as it is.

import { type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { CommandOutcome, OperatorCommands, UndoRequest } from '../model/operator-command.ts';
import { isWarmupMode } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import type { Claim } from '../model/verdict.ts';
import { momentText } from '../wording/phrases.ts';
import type { CommandRooms } from './commands.ts';
import { type Change, carryingOut, effectOf, type WatchOf } from './mailbox-commands.ts';

/** So many mailboxes of one account at a time: a change has a minute to be sent, and all of them share one budget. */
const atATime = 3;

export function undoCommand(watchOf: WatchOf, rooms: CommandRooms): OperatorCommands['undo'] {
  const { fleet, store, world } = rooms;
  const carryOut = carryingOut(watchOf, rooms);

  /**
   * The pause first, then the recovery that it stood on: each is ours again until it is taken back. Nothing twice, also
   * when the API could not show yet that it was taken back.
   */
  const undoOne = async (
    { account, id }: MailboxState,
    since: EpochMs,
    request: UndoRequest,
  ): Promise<CommandOutcome> => {
    const said: string[] = [];
    const asked = new Set<string>();
    for (let mailbox = fleet.mailbox(account, id); mailbox; mailbox = fleet.mailbox(account, id)) {
      const [claim] = standing(mailbox, since);
      if (!claim || asked.has(claim.actionId)) break;
      asked.add(claim.actionId);
      const back = changeBack(claim);
      if (!back) return { done: false, said: [...said, noWayBack(mailbox)] };
      const outcome = await carryOut(mailbox, back, request);
      said.push(...outcome.said);
      if (!outcome.done) return { done: false, said };
    }
    return { done: true, said };
  };

  const undoAll = async (ours: readonly MailboxState[], since: EpochMs, request: UndoRequest) => {
    const ofAccounts = Map.groupBy(ours, ({ account }) => account);
    const outcomes = await Promise.all(
      [...ofAccounts.values()].map((theirs) => inTurn(theirs, (one) => undoOne(one, since, request))),
    );
    return outcomes.flat();
  };

  /** Where we did something since then that is not ours any more. */
  const othersChanged = async (since: EpochMs, ours: readonly MailboxState[]): Promise<readonly string[]> => {
    const stand = new Set(ours.map(({ account, id }) => mailboxKey(account, id)));
    const ended = (await store.confirmedSince(since)).filter(
      ({ kind, account, mailboxId }) => kind !== 'restore' && !stand.has(mailboxKey(account, mailboxId)),
    );
    return [...new Set(ended.map(({ email }) => `${email}: left as it is; it was changed or taken back since.`))];
  };

  return async (request) => {
    const { by, reason, preview } = request;
    const now = world.clock.now();
    const since = now - request.sinceMs;
    const ours = [...fleet.mailboxes()].filter((mailbox) => standing(mailbox, since).length > 0);
    const left = await othersChanged(since, ours);
    if (ours.length === 0)
      return {
        done: true,
        needless: true,
        said: [
          `Nothing that Warmwarden did by itself since ${momentText(since)} still stands: there is nothing to take back.`,
          ...left,
        ],
      };
    if (preview) return { done: true, said: [...ours.flatMap((mailbox) => effects(mailbox, since)), ...left] };
    const outcomes = await undoAll(ours, since, request);
    const failed = outcomes.filter(({ done }) => !done).length;
    const outcome = `${ours.length - failed} of ${ours.length} mailboxes taken back`;
    await store.recordCommand({ at: now, by, reason, command: `undo since ${momentText(since)}`, outcome });
    const said = [...outcomes.flatMap((one) => one.said), ...left, `${outcome}.`];
    return { done: failed === 0, said };
  };
}

/** What comes of each, a few at a time. */
async function inTurn<Item, Value>(items: readonly Item[], work: (item: Item) => Promise<Value>): Promise<Value[]> {
  const results: Value[] = [];
  const left = items.entries();
  const workThrough = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atATime }, workThrough));
  return results;
}

/** What is ours on a mailbox since then, in the order of taking it back. */
function standing({ memory }: MailboxState, since: EpochMs): readonly Claim[] {
  const claim = memory?.claim ?? null;
  return [claim, claim?.under ?? null].filter((one) => one !== null).filter((one) => one.since >= since);
}

/** The change that takes a claim back; null when the mode before is not known. */
function changeBack({ kind, actionId: undoes, previousMode }: Claim): Change | null {
  if (kind === 'pause') return { kind: 'resume', targetMode: null, undoes };
  return isWarmupMode(previousMode) ? { kind: 'mode', targetMode: previousMode, undoes } : null;
}

function effects(mailbox: MailboxState, since: EpochMs): readonly string[] {
  return standing(mailbox, since).map((claim) => {
    const back = changeBack(claim);
    return back ? effectOf(mailbox, back) : noWayBack(mailbox);
  });
}

function noWayBack({ email }: MailboxState): string {
  return `${email}: the mode before is not known: set one with \`warmwarden mode ${email} MODE\`.`;
}
