// The emergency stop: writing to the API is switched off, or on again, for everything, an account or a mailbox.

import { type MailboxState, namedMailbox } from '../model/mailbox.ts';
import { type CommandOutcome, type OperatorCommands, scopeOf, type WritesRequest } from '../model/operator-command.ts';
import { momentText } from '../wording/phrases.ts';
import type { CommandRooms } from './commands.ts';
import { invalid, noChange, stopsAt } from './plan.ts';

export interface WritesRooms extends CommandRooms {
  readonly knows: (account: string) => boolean;
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
}

export function writesCommand({ fleet, store, world, knows, judgeAgain }: WritesRooms): OperatorCommands['writes'] {
  return async (request: WritesRequest): Promise<CommandOutcome> => {
    const found = request.mailbox === null ? null : namedMailbox(request.mailbox, fleet.mailboxes());
    if (found && 'wrong' in found) return invalid(found.wrong);
    const account = found?.mailbox.account ?? request.account;
    if (account !== null && !knows(account)) return invalid(`No account is called ${account}.`);
    const { by, reason, forMs } = request;
    const scope = scopeOf(account, found?.mailbox.id ?? null);
    const at = world.clock.now();
    const off = request.off ? { scope, since: at, until: forMs === null ? null : at + forMs, by, reason } : null;
    const about = found?.mailbox.email ?? scope;
    const until = off?.until ? ` until ${momentText(off.until)}, then it is on again` : '';
    const others = fleet.writesOff(at).filter((one) => one.scope !== scope);
    const rest = !off && others.length > 0 ? [`Still off: ${others.map((one) => one.scope).join(', ')}.`] : [];
    const current = fleet.writesOff(at).find((one) => one.scope === scope);
    if (!off && !current) return noChange(`Writing is on already for ${about}.`, ...rest);
    const effect = [`Writing will be ${off ? 'off' : 'on'} for ${about}${until}.`, ...rest];
    const stopped = stopsAt({ effect, about: [scope, request.off, forMs, current?.since ?? null] }, request);
    if (stopped) return stopped;
    await store.recordWrites({ off, scope, at, by, reason });
    if (off) fleet.putWritesOff(off);
    else fleet.removeWritesOff(scope);
    // What waits for its POST is judged again at once: it is dropped, or planned.
    await judgeAgain([...fleet.mailboxes()].filter(({ verdict }) => verdict?.answer.wanted !== 'none'));
    return { result: 'done', messages: [`Writing is ${off ? 'off' : 'on'} for ${about}${until}.`, ...rest] };
  };
}
