// Releases by a person: of the circuit breakers, so that the mailboxes that they hold are acted on, or of one contested
// mailbox.

import { contestOver, releaseBreaker, releaseContest } from '../account/record/breakers.ts';
import { type BreakerEntry, heldEntries } from '../core/guard/breaker.ts';
import { accountOfKey, idOfKey, type MailboxState, mailboxKey, namedMailbox } from '../core/mailbox.ts';
import type { CommandOutcome } from '../core/operator-command.ts';
import { counted, firstText } from '../core/wording/phrases.ts';
import { type WritesOff, writesAreOff } from '../core/write-scope.ts';
import type { World } from '../world/world.ts';
import type { CommandRooms } from './audit.ts';
import type { Commands } from './command-requests.ts';
import { invalid, noChange, type Plan } from './plan.ts';

interface ReleaseRooms extends CommandRooms {
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
}

/** By API, the keys of the mailboxes that its open breaker holds. */
type Held = ReadonlyMap<string, readonly string[]>;

export function releaseCommands(rooms: ReleaseRooms): Pick<Commands, 'breaker-release' | 'contest-release'> {
  const { fleet, world, judgeAgain } = rooms;
  return {
    'breaker-release': (request) => {
      const open = [...fleet.breakers()].filter(([, state]) => state.openSince !== null);
      const held: Held = new Map(open.map(([api, state]) => [api, keysOf(heldEntries(state))]));
      if (held.size === 0) return noChange('Nothing to release: the circuit breaker is not holding any action.');
      const mailboxes = mailboxesOf(fleet, new Set([...held.values()].flat()));
      return {
        plan: releasePlan(rooms, held),
        command: 'breaker release',
        mailboxes: mailboxes.map(({ account, id, email }) => ({ account, id, email })),
        carryOut: () => releaseAll(rooms, held, request.plan !== null),
      };
    },

    'contest-release': (request) => {
      const found = namedMailbox(request.mailbox, fleet.mailboxes());
      if ('wrong' in found) return invalid(found.wrong);
      const { mailbox } = found;
      const { account, id, email } = mailbox;
      const now = world.clock.now();
      const { reversals, isHeld } = contestOver(mailbox, now);
      const nothing = `Nothing to release: Warmwarden's changes on ${email} have not been reversed lately.`;
      if (reversals.length === 0) return noChange(nothing);
      const off = fleet.writesOffOver(account, id, now);
      const stop = off ? [writesAreOff(off, world.command)] : [];
      const effect = isHeld
        ? `Warmwarden may act on ${email} (account ${account}) again, although others reversed its changes.`
        : `${email} (account ${account}) is not contested: one change was reversed, and two within a day make it so. Warmwarden will no longer count that one.`;
      return {
        plan: { effect: [effect, ...stop], about: [account, id, reversals] },
        command: `contest release ${email}`,
        account,
        mailboxes: [{ account, id, email }],
        carryOut: async () => {
          if (!(await releaseContest(rooms, mailbox))) return noChange(nothing);
          await judgeAgain([mailbox]);
          const released = isHeld
            ? `Released: Warmwarden may act on ${email} again.`
            : `${email} was not contested. Warmwarden no longer counts the change that was reversed.`;
          return { result: 'done', messages: [released, ...stop] };
        },
      };
    },
  };
}

/** Releases the mailboxes that open breakers hold, API by API. */
async function releaseAll(rooms: ReleaseRooms, held: Held, isAgreed: boolean): Promise<CommandOutcome> {
  const { fleet, rules, judgeAgain } = rooms;
  const released = new Set<string>();
  const changed: string[] = [];
  for (const [api, holds] of held) {
    // The breaker holds nothing after a release, so the window does not matter.
    const settings = { api, rules: rules(), windowMs: 0 };
    // A release covers the agreed mailboxes only, and none that the breaker has held since.
    const keys = await releaseBreaker(rooms, settings, isAgreed ? holds : null);
    if (keys) for (const key of keys) released.add(key);
    else changed.push(`Not released: the circuit breaker of ${api} now holds other actions. Run the command again.`);
  }
  await judgeAgain(mailboxesOf(fleet, released));
  const done = released.size > 0 || changed.length === 0 ? releasedTexts(rooms, [...released]) : [];
  return { result: changed.length > 0 ? 'failed' : 'done', messages: [...done, ...changed] };
}

/** Mailboxes with these keys that still exist. */
function mailboxesOf(fleet: CommandRooms['fleet'], keys: ReadonlySet<string>): readonly MailboxState[] {
  return [...fleet.mailboxes()].filter(({ account, id }) => keys.has(mailboxKey(account, id)));
}

// Sentences about a release of the circuit breaker, before and after it.

type ReleaseView = Pick<CommandRooms, 'fleet' | 'world'>;

/** Number of mailboxes that a plan names for each action, and of emergency stops that a sentence names. */
const [heldNamed, stopsNamed] = [10, 3];

export function releasePlan({ fleet, world }: ReleaseView, held: Held): Plan {
  const entries = [...held.keys()].flatMap((api) => heldEntries(fleet.breaker(api)));
  const stops = stopsOver({ fleet, world }, keysOf(entries));
  const acting = entries.filter((_, index) => stops[index] === null);
  const count = counted(entries.length, 'mailbox', 'mailboxes');
  const stopped = entries.length - acting.length;
  const what =
    stopped === 0
      ? `Warmwarden will immediately act on ${count} that the circuit breaker is holding.`
      : `The circuit breaker will stop holding the actions on ${count}: ${emailsOf(entries)}.`;
  const wanted = Map.groupBy(acting, ({ key, account }) => {
    const action = fleet.mailbox(account, idOfKey(key))?.verdict?.answer.wanted;
    return action === 'pause' || action === 'recovery' ? action : 'judged';
  });
  const textOf = (action: 'pause' | 'recovery' | 'judged', text: (mailboxes: string) => string) => {
    const those = wanted.get(action) ?? [];
    if (those.length === 0) return [];
    return [`Warmwarden will ${text(counted(those.length, 'mailbox', 'mailboxes'))}: ${emailsOf(those)}.`];
  };
  return {
    effect: [
      entries.length === 0 ? 'The circuit breaker will close. It is holding no action.' : what,
      // Pauses come first: only a person ends them.
      ...textOf('pause', (mailboxes) => `pause the warm-up of ${mailboxes}, until a person resumes it`),
      ...textOf('recovery', (mailboxes) => `switch ${mailboxes} to recovery mode`),
      ...textOf('judged', (mailboxes) => `first judge ${mailboxes} on fresh data`),
      ...stopTexts(stops, world),
    ],
    about: [
      [...held].map(([api, theirs]) => [api, theirs.toSorted()]),
      stopped,
      [...wanted].map(([action, those]) => [action, keysOf(those).toSorted()]).sort(),
    ],
    counts: { mailboxes: entries.length },
  };
}

function keysOf(entries: readonly BreakerEntry[]): readonly string[] {
  return entries.map(({ key }) => key);
}

function emailsOf(entries: readonly BreakerEntry[]): string {
  return firstText(
    entries.map(({ email }) => email),
    heldNamed,
  );
}

/** Sentences after a release. `released`: the keys of the mailboxes that were held. */
export function releasedTexts({ fleet, world }: ReleaseView, released: readonly string[]): readonly string[] {
  if (released.length === 0) return ['The circuit breaker is closed. It was holding no action.'];
  const stops = stopsOver({ fleet, world }, released);
  const status = `See \`${world.command} status\`.`;
  if (stops.every((off) => off === null))
    return [`Released: Warmwarden now acts on ${counted(stops.length, 'mailbox', 'mailboxes')}. ${status}`];
  return [`Released. ${status}`, ...stopTexts(stops, world)];
}

/** Emergency stops over these mailboxes. */
function stopsOver({ fleet, world }: ReleaseView, keys: readonly string[]): readonly (WritesOff | null)[] {
  const now = world.clock.now();
  return keys.map((key) => fleet.writesOffOver(accountOfKey(key), idOfKey(key), now));
}

function stopTexts(stops: readonly (WritesOff | null)[], { command }: World): readonly string[] {
  const inForce = stops.filter((off) => off !== null);
  if (inForce.length === 0) return [];
  const on = counted(inForce.length, 'mailbox', 'mailboxes');
  const acting = stops.length - inForce.length;
  const others = acting === 0 ? '' : ` It immediately acts on ${counted(acting, 'other')}.`;
  const reasons = [...new Set(inForce)].slice(0, stopsNamed).map((off) => writesAreOff(off, command));
  return [`Warmwarden does NOT act on ${on} while writes are off.${others}`, ...reasons];
}
