// Releases by a person: of the circuit breakers, so that the mailboxes that they hold are acted on, or of one contested
// mailbox.

import type { AccountWatch } from '../account/account-watch.ts';
import { contestOver, releaseBreaker } from '../account/record/breakers.ts';
import { type BreakerEntry, heldEntries } from '../core/breaker.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { accountOfKey, idOfKey, type MailboxState, mailboxKey, namedMailbox } from '../core/mailbox.ts';
import type { CommandOutcome, MailboxName, OperatorCommands, OperatorRequest } from '../core/operator-command.ts';
import { counted, firstText } from '../core/wording/phrases.ts';
import { type WritesOff, writesAreOff } from '../core/write-scope.ts';
import type { World } from '../world/world.ts';
import type { Audited, CommandRooms } from './audit.ts';
import { failed, invalid, noChange, type Plan, stopsAt } from './plan.ts';

/** Parts of the accounts that releases need. */
interface ReleaseRooms extends CommandRooms {
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

/** Releases the mailboxes that open breakers hold, API by API. */
async function releaseAll(
  rooms: ReleaseRooms,
  held: ReadonlyMap<string, readonly string[]>,
  { plan }: OperatorRequest,
): Promise<CommandOutcome> {
  const { fleet, rules, pageUrl, judgeAgain } = rooms;
  const released = new Set<string>();
  const changed: string[] = [];
  for (const [api, holds] of held) {
    // The breaker holds nothing after a release, so the window does not matter.
    const settings = { api, pageUrl, rules: rules(), windowMs: 0 };
    // A release covers the agreed mailboxes only, and none that the breaker has held since.
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

/** Keys of the mailboxes that open breakers hold, by API. */
function heldByApi(fleet: Fleet): ReadonlyMap<string, readonly string[]> {
  const open = [...fleet.breakers()].filter(([, state]) => state.openSince !== null);
  return new Map(open.map(([api, state]) => [api, heldEntries(state).map(({ key }) => key)]));
}

/** Names of the held mailboxes that still exist. */
function namesOf(fleet: Fleet, held: ReadonlyMap<string, readonly string[]>): readonly MailboxName[] {
  const keys = new Set([...held.values()].flat());
  const mailboxes = [...fleet.mailboxes()].filter(({ account, id }) => keys.has(mailboxKey(account, id)));
  return mailboxes.map(({ account, id, email }) => ({ account, id, email }));
}

// Sentences about a release of the circuit breaker, before and after it.

type ReleaseView = Pick<CommandRooms, 'fleet' | 'world'>;

/** Number of mailboxes that a plan names for each action. */
const heldNamed = 10;
/** Number of emergency stops that a sentence names. */
const stopsNamed = 3;

/** Plan of a release. `held`: by API, the keys of the mailboxes that its open breaker holds. */
export function releasePlan({ fleet, world }: ReleaseView, held: ReadonlyMap<string, readonly string[]>): Plan {
  const entries = [...held.keys()].flatMap((api) => heldEntries(fleet.breaker(api)));
  const stops = stopsOver(
    { fleet, world },
    entries.map(({ key }) => key),
  );
  const acting = entries.filter((_, index) => stops[index] === null);
  const stopped = entries.length - acting.length;
  const count = counted(entries.length, 'mailbox', 'mailboxes');
  const what =
    entries.length === 0
      ? 'The circuit breaker will close. It is holding no action.'
      : stopped === 0
        ? `Warmwarden will immediately act on ${count} that the circuit breaker is holding.`
        : `The circuit breaker will stop holding the actions on ${count}: ${emailsOf(entries)}.`;
  const wanted = acting.map((entry) => ({ entry, action: wantedOn(fleet, entry) }));
  return {
    effect: [what, ...actionTexts(wanted), ...stopTexts(stops, world)],
    about: [
      [...held].map(([api, keys]) => [api, [...keys].sort()]),
      stopped,
      wanted.map(({ entry, action }) => [entry.key, action]).sort(),
    ],
    counts: { mailboxes: entries.length },
  };
}

interface Wanted {
  readonly entry: BreakerEntry;
  /** Action by the newest counts, or null if they call for none. */
  readonly action: 'pause' | 'recovery' | null;
}

function wantedOn(fleet: Fleet, { key, account }: BreakerEntry): Wanted['action'] {
  const wanted = fleet.mailbox(account, idOfKey(key))?.verdict?.answer.wanted;
  return wanted === 'pause' || wanted === 'recovery' ? wanted : null;
}

/** Sentences about actions, pauses first: only a person ends them. */
function actionTexts(wanted: readonly Wanted[]): readonly string[] {
  const textOf = (action: Wanted['action'], what: (mailboxes: string) => string) => {
    const entries = wanted.filter((one) => one.action === action).map(({ entry }) => entry);
    if (entries.length === 0) return [];
    return [`Warmwarden will ${what(counted(entries.length, 'mailbox', 'mailboxes'))}: ${emailsOf(entries)}.`];
  };
  return [
    ...textOf('pause', (mailboxes) => `pause the warm-up of ${mailboxes}, until a person resumes it`),
    ...textOf('recovery', (mailboxes) => `switch ${mailboxes} to recovery mode`),
    ...textOf(null, (mailboxes) => `first judge ${mailboxes} on fresh data`),
  ];
}

function emailsOf(entries: readonly BreakerEntry[]): string {
  const emails = entries.map(({ email }) => email);
  return firstText(emails, heldNamed);
}

/** Sentences after a release. `released`: the keys of the mailboxes that were held. */
export function releasedTexts({ fleet, world }: ReleaseView, released: readonly string[]): readonly string[] {
  if (released.length === 0) return ['The circuit breaker is closed. It was holding no action.'];
  const stops = stopsOver({ fleet, world }, released);
  const acting = stops.filter((off) => off === null).length;
  const status = `See \`${world.command} status\`.`;
  if (acting === released.length)
    return [`Released: Warmwarden now acts on ${counted(acting, 'mailbox', 'mailboxes')}. ${status}`];
  return [`Released. ${status}`, ...stopTexts(stops, world)];
}

/** Emergency stops over these mailboxes. */
function stopsOver({ fleet, world }: ReleaseView, keys: readonly string[]): readonly (WritesOff | null)[] {
  const now = world.clock.now();
  return keys.map((key) => fleet.writesOffOver(accountOfKey(key), idOfKey(key), now));
}

function stopTexts(stops: readonly (WritesOff | null)[], { command }: World): readonly string[] {
  const acting = stops.filter((off) => off === null).length;
  const stopped = stops.length - acting;
  if (stopped === 0) return [];
  const on = counted(stopped, 'mailbox', 'mailboxes');
  const others = acting === 0 ? '' : ` It immediately acts on ${counted(acting, 'other')}.`;
  const distinct = [...new Set(stops.filter((off) => off !== null))];
  const reasons = distinct.slice(0, stopsNamed).map((off) => writesAreOff(off, command));
  return [`Warmwarden does NOT act on ${on} while writes are off.${others}`, ...reasons];
}
