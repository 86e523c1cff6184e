// A person ends a hold: of the circuit breakers, so that what they hold is acted on, or of one contested mailbox.

import type { AccountWatch } from '../account/account-watch.ts';
import { contestOver, releaseBreaker } from '../account/record/breakers.ts';
import { heldEntries } from '../core/breaker.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { type MailboxState, mailboxKey, namedMailbox } from '../core/mailbox.ts';
import type { CommandOutcome, MailboxName, OperatorCommands, OperatorRequest } from '../core/operator-command.ts';
import { writesAreOff } from '../core/write-scope.ts';
import type { Audited } from './audit.ts';
import type { CommandRooms } from './command-rooms.ts';
import { failed, invalid, noChange, stopsAt } from './plan.ts';
import { releasedTexts, releasePlan } from './release-plan.ts';

/** What the releases need of the accounts. */
export interface ReleaseRooms extends CommandRooms {
  readonly watches: readonly AccountWatch[];
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
}

const nothingHeld = 'Nothing to release: the circuit breaker is not holding any action.';

export function releaseCommands(
  rooms: ReleaseRooms,
  audited: Audited,
): Pick<OperatorCommands, 'breakerRelease' | 'contestRelease'> {
  const { fleet, watches, world, judgeAgain } = rooms;
  return {
    async breakerRelease(request: OperatorRequest): Promise<CommandOutcome> {
      const held = heldByApi(fleet);
      if (held.size === 0) return noChange(nothingHeld);
      const stopped = stopsAt(releasePlan(rooms, held), request);
      if (stopped) return stopped;
      const mailboxes = namesOf(fleet, held);
      const what = { name: 'breaker-release', command: 'breaker release', account: null, mailboxes };
      return audited(request, what, () => releaseAll(rooms, held, request));
    },

    async contestRelease(request) {
      const found = namedMailbox(request.mailbox, fleet.mailboxes());
      if ('wrong' in found) return invalid(found.wrong);
      const { mailbox } = found;
      const { account, id, email } = mailbox;
      const now = world.clock.now();
      const { reversals, isHeld } = contestOver(mailbox, now);
      if (reversals.length === 0) return noChange(notContested(email));
      const off = fleet.writesOffOver(account, id, now);
      const stop = off ? [writesAreOff(off, world.command)] : [];
      const effect = [
        isHeld
          ? `Warmwarden may act on ${email} (account ${account}) again, although others reversed its changes.`
          : `${email} (account ${account}) is not contested: one change was reversed, and two within a day make it so. Warmwarden will no longer count that one.`,
        ...stop,
      ];
      const stopped = stopsAt({ effect, about: [account, id, reversals] }, request);
      if (stopped) return stopped;
      const watch = watches.find((one) => one.account === account);
      if (!watch) return failed(`This daemon does not guard the account ${account}.`);
      const mailboxes = [{ account, id, email }];
      const what = { name: 'contest-release', command: `contest release ${email}`, account, mailboxes };
      return audited(request, what, async () => {
        if (!(await watch.releaseContest(mailbox))) return noChange(notContested(email));
        await judgeAgain([mailbox]);
        const released = isHeld
          ? `Released: Warmwarden may act on ${email} again.`
          : `${email} was not contested. Warmwarden no longer counts the change that was reversed.`;
        return { result: 'done', messages: [released, ...stop] };
      });
    },
  };
}

/** Releases what the open breakers hold, API by API. */
async function releaseAll(
  rooms: ReleaseRooms,
  held: ReadonlyMap<string, readonly string[]>,
  { plan }: OperatorRequest,
): Promise<CommandOutcome> {
  const { fleet, rules, pageUrl, judgeAgain } = rooms;
  const released = new Set<string>();
  const changed: string[] = [];
  for (const [api, holds] of held) {
    // Nothing is held after it, so no window is named.
    const settings = { api, pageUrl, rules: rules(), windowMs: 0 };
    // What was agreed to is released, and nothing that came to it since.
    const keys = await releaseBreaker(rooms, settings, plan ? holds : null);
    if (keys) for (const key of keys) released.add(key);
    else changed.push(`Not released: the circuit breaker of ${api} now holds other actions. Run the command again.`);
  }
  await judgeAgain([...fleet.mailboxes()].filter(({ account, id }) => released.has(mailboxKey(account, id))));
  const done = released.size > 0 || changed.length === 0 ? releasedTexts(rooms, [...released]) : [];
  return { result: changed.length > 0 ? 'failed' : 'done', messages: [...done, ...changed] };
}

function notContested(email: string): string {
  return `Nothing to release: Warmwarden's changes on ${email} have not been reversed lately.`;
}

/** By API: the keys of the mailboxes that its open breaker holds. */
function heldByApi(fleet: Fleet): ReadonlyMap<string, readonly string[]> {
  const open = [...fleet.breakers()].filter(([, state]) => state.openSince !== null);
  return new Map(open.map(([api, state]) => [api, heldEntries(state).map(({ key }) => key)]));
}

/** Those of them that are still there. */
function namesOf(fleet: Fleet, held: ReadonlyMap<string, readonly string[]>): readonly MailboxName[] {
  const keys = new Set([...held.values()].flat());
  const mailboxes = [...fleet.mailboxes()].filter(({ account, id }) => keys.has(mailboxKey(account, id)));
  return mailboxes.map(({ account, id, email }) => ({ account, id, email }));
}
