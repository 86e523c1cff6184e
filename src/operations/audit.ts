// The audit log: records every command that changes something before it is carried out, and its outcome afterwards;
// people are notified of it.

import type { Turns } from '../account/commit/group-commit.ts';
import { operatorActedEvent } from '../alerts/rules/event-rules.ts';
import type { RuleSettings } from '../core/alert-rules.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { CommandEnd, CommandEntry, CommandName, CommandOutcome, Requester } from '../core/operator-command.ts';
import { storeTitle } from '../core/store-failure.ts';
import { sentence } from '../core/wording/explain.ts';
import type { Store } from '../store/store.ts';
import type { World } from '../world/world.ts';

export interface CommandRooms {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly world: World;
  readonly turns: Turns;
  /** Called after a commit that may notify people. */
  readonly onTransitions: () => void;
  readonly rules: () => RuleSettings;
}

/** Carries out a command between the two lines of the audit log. */
export type Audited = (
  requester: Requester,
  what: CommandName,
  work: () => Promise<CommandOutcome>,
) => Promise<CommandOutcome>;

const endOf: Readonly<Record<CommandOutcome['result'], CommandEnd>> = {
  planned: 'no_change',
  done: 'done',
  no_change: 'no_change',
  changed: 'no_change',
  invalid: 'failed',
  failed: 'failed',
};

const interrupted =
  'Warmwarden ended before the outcome was known. `warmwarden explain MAILBOX` shows what was sent and read back.';

export function auditing(rooms: CommandRooms): Audited {
  const { store, world } = rooms;
  return async ({ by, reason }, what, work) => {
    const at = world.clock.now();
    const id = await store.audit.beginCommand({ ...what, by, reason, at }).catch((error: unknown) => {
      throw explained(error, rooms);
    });
    const begun = { ...what, id, by, reason, at };
    const outcome = await work().catch(async (error: unknown) => {
      const failure = explained(error, rooms);
      await settle(rooms, { ...begun, end: 'failed', outcome: failure.message });
      throw failure;
    });
    const ended = { ...begun, end: endOf[outcome.result], outcome: outcome.messages.join('\n') };
    // A configuration that is refused has an alert of its own.
    await settle(rooms, ended, { isEvent: outcome.result !== 'invalid' });
    return outcome;
  };
}

/** Adds the remedy to a failure of the store: a database's message alone does not say what to do. */
function explained(error: unknown, { store }: CommandRooms): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  const { newest } = store.trouble;
  if (newest?.said !== failure.message) return failure;
  return new Error(`${sentence(`${storeTitle}: ${newest.said}`)} ${sentence(newest.remedy)}`, { cause: error });
}

/**
 * Ends, as interrupted, the commands that another process began and did not end. Never rejects: the next start tries
 * again.
 */
export async function endInterrupted(rooms: CommandRooms): Promise<void> {
  try {
    for (const entry of await rooms.store.audit.unendedCommands())
      await settle(rooms, { ...entry, end: 'interrupted', outcome: interrupted });
  } catch (error) {
    rooms.world.log.error({ err: error }, 'the operator commands of the previous process could not be read');
  }
}

/** Records the end of a command. Never rejects: without a record the next start marks the outcome as unknown. */
async function settle(
  rooms: CommandRooms,
  ended: Omit<CommandEntry, 'endedAt'>,
  { isEvent } = { isEvent: true },
): Promise<void> {
  const { store, world, rules, onTransitions } = rooms;
  const now = world.clock.now();
  const { id, end, outcome, by, command, reason, account } = ended;
  if (end === null) return;
  const fields = { operator: by, command, reason, account, mailbox: onlyAddress(ended), result: end, outcome };
  world.log[end === 'done' || end === 'no_change' ? 'info' : 'warn'](fields, 'an operator command ended');
  const event = isEvent ? operatorActedEvent({ ...ended, endedAt: now }, { rules: rules(), now }) : null;
  const alerts = { changed: [], dropped: [], transitions: event ? [event] : [] };
  try {
    await store.audit.endCommand({ id, end, outcome, at: now, alerts });
    if (event) onTransitions();
  } catch (error) {
    world.log.error({ err: error, command }, 'the outcome of an operator command could not be recorded');
  }
}

function onlyAddress({ mailboxes }: CommandName): string | null {
  const [mailbox, ...others] = mailboxes;
  return mailbox && others.length === 0 ? mailbox.email : null;
}
