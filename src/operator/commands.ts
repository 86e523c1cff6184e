// The operator commands, carried out on the accounts that they are about.

import type { Fleet } from '../fleet/fleet.ts';
import { heldEntries } from '../model/breaker.ts';
import { type MailboxState, mailboxKey, namedMailbox } from '../model/mailbox.ts';
import {
  type CommandOutcome,
  type OperatorCommands,
  type ReleaseRequest,
  scopeOf,
  type WritesRequest,
} from '../model/operator-command.ts';
import type { Store } from '../store/store.ts';
import type { AccountWatch } from '../watch/account-watch.ts';
import { counted, momentText } from '../wording/phrases.ts';
import type { World } from '../world.ts';
import { mailboxCommands } from './mailbox-commands.ts';
import { createSilences } from './silences.ts';
import { undoCommand } from './undo.ts';

export interface CommandRooms {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly world: World;
}

/** The operator commands over all accounts of a daemon. */
export function createOperatorCommands(watches: readonly AccountWatch[], rooms: CommandRooms): OperatorCommands {
  const { fleet, store, world } = rooms;
  const watchOf = (account: string) => watches.find((watch) => watch.account === account);
  const judgeAgain = async (mailboxes: Iterable<MailboxState>) => {
    for (const { account, id } of mailboxes) await watchOf(account)?.judgeAgain(id);
  };

  const releaseBreakers = async (request: ReleaseRequest): Promise<CommandOutcome> => {
    if (request.preview) return releasePreview(fleet);
    const released: string[] = [];
    // One watch for each API: the breaker is shared by all of its accounts.
    for (const watch of new Map(watches.map((one) => [one.api, one])).values()) {
      released.push(...(await watch.releaseBreaker(request)));
    }
    if (released.length === 0) return nothingHeld;
    await judgeAgain([...fleet.mailboxes()].filter(({ account, id }) => released.includes(mailboxKey(account, id))));
    return {
      done: true,
      said: [`Released: ${released.length} mailboxes are acted on now. \`/\` of the page shows them.`],
    };
  };

  const switchWrites = async (request: WritesRequest): Promise<CommandOutcome> => {
    const found = request.mailbox === null ? null : namedMailbox(request.mailbox, fleet.mailboxes());
    if (found && 'wrong' in found) return { done: false, said: [found.wrong] };
    const account = found?.mailbox.account ?? request.account;
    if (account !== null && !watchOf(account)) return { done: false, said: [`No account is called ${account}.`] };
    const { by, reason } = request;
    const scope = scopeOf(account, found?.mailbox.id ?? null);
    const at = world.clock.now();
    const off = request.off
      ? { scope, since: at, until: request.forMs === null ? null : at + request.forMs, by, reason }
      : null;
    const about = found?.mailbox.email ?? scope;
    const until = off?.until ? ` until ${momentText(off.until)}, then it is on again` : '';
    if (request.preview) return { done: true, said: [`Writing will be ${off ? 'off' : 'on'} for ${about}${until}.`] };
    await store.recordWrites({ off, scope, at, by, reason });
    if (off) fleet.putWritesOff(off);
    else fleet.removeWritesOff(scope);
    // What waits for its POST is judged again at once: it is dropped, or planned.
    await judgeAgain([...fleet.mailboxes()].filter(({ verdict }) => verdict?.answer.wanted !== 'none'));
    const others = fleet
      .writesOff(at)
      .filter((one) => one.scope !== scope)
      .map((one) => one.scope);
    const rest = !off && others.length > 0 ? [`Still off: ${others.join(', ')}.`] : [];
    return {
      done: true,
      said: [`Writing is ${off ? 'off' : 'on'} for ${about}${until}.`, ...rest],
    };
  };

  return {
    ...mailboxCommands(watchOf, rooms),
    undo: undoCommand(watchOf, rooms),
    ...createSilences(rooms),
    writes: switchWrites,
    async release(request) {
      if (request.mailbox === null) return releaseBreakers(request);
      const found = namedMailbox(request.mailbox, fleet.mailboxes());
      if ('wrong' in found) return { done: false, said: [found.wrong] };
      const { mailbox } = found;
      const contested = (mailbox.memory?.reversals.length ?? 0) > 0;
      if (contested && request.preview) return { done: true, said: [`The guard may act on ${mailbox.email} again.`] };
      const released = contested && (await watchOf(mailbox.account)?.releaseContest(mailbox, request));
      if (!released)
        return { done: false, said: [`Nobody took back what the guard changed on ${mailbox.email} lately.`] };
      await judgeAgain([mailbox]);
      return { done: true, said: [`Released: the guard may act on ${mailbox.email} again.`] };
    },
  };
}

const nothingHeld: CommandOutcome = { done: false, said: ['The breaker holds nothing: there is nothing to release.'] };
/** So many of those that a release would let go are named. */
const heldNamed = 5;

function releasePreview(fleet: Fleet): CommandOutcome {
  const open = [...fleet.breakers()].filter(([, state]) => state.openSince !== null);
  const emails = open.flatMap(([, state]) => heldEntries(state).map(({ email }) => email));
  if (emails.length === 0) return nothingHeld;
  const more = emails.length > heldNamed ? ` and ${emails.length - heldNamed} more` : '';
  const named = emails.slice(0, heldNamed).join(', ');
  return { done: true, said: [`${counted(emails.length, 'mailbox', 'mailboxes')} acted on at once: ${named}${more}.`] };
}
