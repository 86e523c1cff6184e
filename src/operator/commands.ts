// The operator commands, carried out on the accounts that they are about.

import type { MailboxState } from '../model/mailbox.ts';
import type { OperatorCommands } from '../model/operator-command.ts';
import type { AccountWatch } from '../watch/account-watch.ts';
import type { Log } from '../world.ts';
import { auditing } from './audit.ts';
import type { CommandRooms, ReplicaRooms } from './command-rooms.ts';
import { mailboxCommands } from './mailbox-commands.ts';
import { releaseCommands } from './releases.ts';
import { silenceCommands } from './silences.ts';
import { undoCommand } from './undo.ts';
import { type WritesRooms, writesCommand } from './writes.ts';

/** The operator commands over all accounts of a daemon. */
export function createOperatorCommands(watches: readonly AccountWatch[], rooms: ReplicaRooms): OperatorCommands {
  const watchOf = (account: string) => watches.find((watch) => watch.account === account);
  const audited = auditing(rooms);
  return {
    ...mailboxCommands(watchOf, rooms, audited),
    undo: undoCommand(watchOf, rooms, audited),
    ...silenceCommands(rooms, audited),
    writes: writesCommand(writesRooms(watches, rooms), audited),
    ...releaseCommands({ ...rooms, watches, judgeAgain: judgingAgain(watches, rooms.world.log) }, audited),
  };
}

/** What the emergency stop needs of the accounts of a daemon. */
export function writesRooms(watches: readonly AccountWatch[], rooms: CommandRooms): WritesRooms {
  const { fleet } = rooms;
  const knows = (name: string) => fleet.account(name) !== undefined || watches.some(({ account }) => account === name);
  return { ...rooms, knows, judgeAgain: judgingAgain(watches, rooms.world.log) };
}

/**
 * Judges those mailboxes again that one of these loops is about. Never rejects: what led to it is done, and the next answer of a
 * mailbox is judged in any case.
 */
export function judgingAgain(watches: readonly Pick<AccountWatch, 'account' | 'judgeAgain'>[], log: Log) {
  return async (mailboxes: Iterable<MailboxState>) => {
    try {
      for (const { account, id } of mailboxes) await watches.find((watch) => watch.account === account)?.judgeAgain(id);
    } catch (error) {
      log.warn({ err: error }, 'mailboxes could not be judged again: each is judged with its next answer');
    }
  };
}
