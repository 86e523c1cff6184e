// The operator commands of a daemon, carried out on the accounts concerned.

import type { AccountWatch } from '../account/account-watch.ts';
import type { WhichUndelivered } from '../core/delivery.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { namesAre, notCalled } from '../core/nearest.ts';
import { type CommandOutcome, invalid, noChange, type ReloadRequest } from '../core/operator-command.ts';
import { counted, listText } from '../core/wording/phrases.ts';
import type { Log } from '../world/world.ts';
import type { CommandRooms } from './audit.ts';
import type { Command, Commands } from './command-requests.ts';
import { holdCommands } from './holds.ts';
import { mailboxCommands, type WatchOf } from './mailbox-commands.ts';
import { acknowledgeCommand, silenceCommands } from './silences.ts';
import { undoCommand } from './undo.ts';
import { type WritesRooms, writesCommand } from './writes.ts';

interface OtherParts {
  readonly undelivered: UndeliveredMessages;
  readonly reload: (request: ReloadRequest) => Promise<CommandOutcome>;
}

export function createOperatorCommands(
  watchOf: WatchOf,
  rooms: CommandRooms,
  { undelivered, reload }: OtherParts,
): Commands {
  const judging = writesRooms(watchOf, rooms);
  return {
    ...mailboxCommands(watchOf, rooms),
    undo: undoCommand(watchOf, rooms),
    ...silenceCommands(rooms),
    acknowledge: acknowledgeCommand(rooms),
    writes: writesCommand(judging),
    ...holdCommands(judging),
    'channels-resend': resendCommand(undelivered),
    reload: reloadCommand(reload),
  };
}

/** Parts of the accounts that the write stop and the ends of holds need. */
export function writesRooms(watchOf: WatchOf, rooms: CommandRooms): WritesRooms {
  const { fleet } = rooms;
  const knows = (name: string) => fleet.account(name) !== undefined || watchOf(name) !== undefined;
  return { ...rooms, knows, judgeAgain: judgingAgain(watchOf, rooms.world.log) };
}

/**
 * Judges mailboxes again whose account has one of these loops. Never rejects: the cause is already recorded, and a
 * mailbox's next answer is judged in any case.
 */
export function judgingAgain(watchOf: (account: string) => Pick<AccountWatch, 'judgeAgain'> | undefined, log: Log) {
  return async (mailboxes: Iterable<MailboxState>) => {
    try {
      for (const { account, id } of mailboxes) await watchOf(account)?.judgeAgain(id);
    } catch (error) {
      log.warn({ err: error }, 'mailboxes could not be judged again: each is judged with its next answer');
    }
  };
}

interface UndeliveredMessages {
  channels(): readonly string[];
  find(which: WhichUndelivered): Promise<readonly { readonly id: string; readonly channel: string }[]>;
  /** Resends the messages that are still undelivered. Returns their number by channel. */
  resend(ids: readonly string[]): Promise<readonly { readonly channel: string; readonly count: number }[]>;
}

/** `channels resend`: resends undelivered messages unchanged, and only those in the plan. */
export function resendCommand(undelivered: UndeliveredMessages): Command<'channels-resend'> {
  return async ({ channel, delivery }) => {
    const names = undelivered.channels();
    if (channel !== null && !names.includes(channel)) {
      return invalid(notCalled('channel', channel, names, namesAre('channels', names)));
    }
    const found = await undelivered.find({ channel, delivery });
    if (found.length === 0 && delivery !== null)
      return invalid(`No undelivered message that can be sent again has the id ${delivery}.`);
    if (found.length === 0) return noChange('Nothing to send: no message is undelivered.');
    const byChannel = [...Map.groupBy(found, (one) => one.channel)].map(([name, all]) => `${all.length} to ${name}`);
    const effect = `Warmwarden will send ${counted(found.length, 'undelivered message')} again: ${listText(byChannel)}.`;
    const ids = found.map(({ id }) => id);
    const command = ['channels resend', delivery ?? channel ?? ''].join(' ').trim();
    const carryOut = async (): Promise<CommandOutcome> => {
      const counts = await undelivered.resend(ids);
      if (counts.length === 0) return noChange('Nothing to send: no message is undelivered any more.');
      const messages = counts.map((one) => `${one.channel}: sending ${counted(one.count, 'message')} again.`);
      return { result: 'done', messages };
    };
    return { plan: { effect: [effect], about: ids.toSorted() }, command, carryOut };
  };
}

/** `reload` of a person. A reload by a signal or for a rotated secret is by no person, and is not in the audit log. */
function reloadCommand(reload: OtherParts['reload']): Command<'reload'> {
  return (request) => {
    if (request.dry_run) return reload(request);
    const command = request.force ? 'reload --force' : 'reload';
    return { plan: null, command, carryOut: () => reload(request) };
  };
}
