// The operator commands, carried out on the accounts that they are about.

import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { OperatorCommands } from '../model/operator-command.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import type { Turns } from '../record/turns.ts';
import type { Store } from '../store/store.ts';
import type { AccountWatch } from '../watch/account-watch.ts';
import type { World } from '../world.ts';
import { auditing } from './audit.ts';
import { mailboxCommands } from './mailbox-commands.ts';
import { releaseCommands } from './releases.ts';
import { silenceCommands } from './silences.ts';
import { undoCommand } from './undo.ts';
import { type WritesRooms, writesCommand } from './writes.ts';

export interface CommandRooms {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly world: World;
  readonly turns: Turns;
  /** Called after a commit that people may be told of. */
  readonly onTransitions: () => void;
  /** The settings of the alert rules in force. */
  readonly rules: () => RuleSettings;
  /** Base of the links in messages; null when there is no page. */
  readonly pageUrl: string | null;
}

/** The operator commands over all accounts of a daemon. */
export function createOperatorCommands(watches: readonly AccountWatch[], rooms: CommandRooms): OperatorCommands {
  const watchOf = (account: string) => watches.find((watch) => watch.account === account);
  const audited = auditing(rooms);
  return {
    ...mailboxCommands(watchOf, rooms, audited),
    undo: undoCommand(watchOf, rooms, audited),
    ...silenceCommands(rooms, audited),
    writes: writesCommand(writesRooms(watches, rooms), audited),
    ...releaseCommands({ ...rooms, watches, judgeAgain: judgingAgain(watches) }, audited),
  };
}

/** What the emergency stop needs of the accounts of a daemon. */
export function writesRooms(watches: readonly AccountWatch[], rooms: CommandRooms): WritesRooms {
  const { fleet } = rooms;
  const knows = (name: string) => fleet.account(name) !== undefined || watches.some(({ account }) => account === name);
  return { ...rooms, knows, judgeAgain: judgingAgain(watches) };
}

function judgingAgain(watches: readonly AccountWatch[]) {
  return async (mailboxes: Iterable<MailboxState>) => {
    for (const { account, id } of mailboxes) await watches.find((watch) => watch.account === account)?.judgeAgain(id);
  };
}
