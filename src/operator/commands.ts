// The operator commands, carried out on the accounts that they are about.

import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { OperatorCommands } from '../model/operator-command.ts';
import type { Store } from '../store/store.ts';
import type { AccountWatch } from '../watch/account-watch.ts';
import type { World } from '../world.ts';
import { mailboxCommands } from './mailbox-commands.ts';
import { releaseCommands } from './releases.ts';
import { silenceCommands } from './silences.ts';
import { undoCommand } from './undo.ts';
import { writesCommand } from './writes.ts';

export interface CommandRooms {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly world: World;
}

/** The operator commands over all accounts of a daemon. */
export function createOperatorCommands(watches: readonly AccountWatch[], rooms: CommandRooms): OperatorCommands {
  const watchOf = (account: string) => watches.find((watch) => watch.account === account);
  const knows = (account: string) => watchOf(account) !== undefined;
  const judgeAgain = async (mailboxes: Iterable<MailboxState>) => {
    for (const { account, id } of mailboxes) await watchOf(account)?.judgeAgain(id);
  };
  return {
    ...mailboxCommands(watchOf, rooms),
    undo: undoCommand(watchOf, rooms),
    ...silenceCommands(rooms),
    writes: writesCommand({ ...rooms, knows, judgeAgain }),
    ...releaseCommands({ ...rooms, watches, judgeAgain }),
  };
}
