// The commands that change a mailbox: they say what they will do, do it through the account's actor, read it back, and leave
// the person's name in the ledger.

import { alreadySo } from '../act/actor.ts';
import type { Action } from '../model/action.ts';
import { type MailboxState, namedMailbox } from '../model/mailbox.ts';
import type { CommandOutcome, MailboxRequest, OperatorCommands, Requester } from '../model/operator-command.ts';
import type { EpochMs } from '../model/time.ts';
import type { PersonsChange } from '../record/persons.ts';
import type { AccountWatch } from '../watch/account-watch.ts';
import { actionText, campaignsUntouched } from '../wording/explain.ts';
import type { CommandRooms } from './commands.ts';

/** What is wanted of a mailbox, whoever asks. */
export type Change = Omit<PersonsChange, 'by'>;
export type WatchOf = (account: string) => AccountWatch | undefined;

/** Makes a change through to its outcome. */
export type CarryOut = (mailbox: MailboxState, change: Change, asker: Requester) => Promise<CommandOutcome>;

export function carryingOut(watchOf: WatchOf, { world }: CommandRooms): CarryOut {
  return async (mailbox, change, { by, reason }) => {
    const watch = watchOf(mailbox.account);
    if (!watch) return { done: false, said: [`${mailbox.account} is not watched by this daemon.`] };
    const action = await watch.carryOut(mailbox, { ...change, by: { name: by, reason } });
    return typeof action === 'string' ? { done: false, said: [action] } : outcomeOf(action, world.clock.now());
  };
}

/** pause, resume, mode and refresh over the accounts of a daemon. */
export function mailboxCommands(
  watchOf: WatchOf,
  rooms: CommandRooms,
): Pick<OperatorCommands, 'pause' | 'resume' | 'mode' | 'refresh'> {
  const { fleet, store, world } = rooms;
  const carryOut = carryingOut(watchOf, rooms);
  const change = async (request: MailboxRequest, wanted: Change): Promise<CommandOutcome> => {
    const found = namedMailbox(request.mailbox, fleet.mailboxes());
    if ('wrong' in found) return { done: false, said: [found.wrong] };
    const { mailbox } = found;
    if (request.preview) return { done: true, said: [effectOf(mailbox, wanted)] };
    const outcome = await carryOut(mailbox, wanted, request);
    const { by, reason } = request;
    const words = wanted.targetMode === null ? wanted.kind : `mode ${wanted.targetMode}`;
    const about = { at: world.clock.now(), by, reason, command: `${words}: ${mailbox.email}` };
    await store.recordCommand({ ...about, outcome: outcome.said.join(' ') });
    return outcome;
  };
  return {
    pause: (request) => change(request, { kind: 'pause', targetMode: null }),
    resume: (request) => {
      const { undoes } = request;
      return change(request, { kind: 'resume', targetMode: null, ...(undoes !== undefined && { undoes }) });
    },
    mode: (request) => change(request, { kind: 'mode', targetMode: request.mode }),
    async refresh(request) {
      const found = namedMailbox(request.mailbox, fleet.mailboxes());
      if ('wrong' in found) return { done: false, said: [found.wrong] };
      watchOf(found.mailbox.account)?.refresh(found.mailbox.id);
      return { done: true, said: [`${found.mailbox.email}: everything is asked for again as the budget allows.`] };
    },
  };
}

/** What a change would do, in a sentence that begins with how the mailbox is now. */
export function effectOf({ email, account, warmup }: MailboxState, change: Change): string {
  const { mode, status } = warmup?.answer ?? { mode: null, status: null };
  const now = `${email} on account ${account} (mode ${mode ?? 'unknown'}, warm-up ${status ?? 'unknown'})`;
  switch (change.kind) {
    case 'pause':
      return `${now}: its warm-up is paused until a person resumes it. ${campaignsUntouched}`;
    case 'resume':
      return `${now}: its warm-up goes on, and its evidence begins anew.`;
    default:
      return `${now}: its mode becomes ${change.targetMode}, and its evidence begins anew.`;
  }
}

function outcomeOf(action: Action, now: EpochMs): CommandOutcome {
  const { email, state, detail } = action;
  if (state === 'dropped' && detail === alreadySo)
    return { done: true, said: [`${email}: nothing to do, ${alreadySo}.`] };
  return { done: state === 'confirmed', said: [`${email}: ${actionText(action, now)}`] };
}
