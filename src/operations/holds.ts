// Ends of holds by a person: the circuit breakers carry out or drop what they hold, and Warmwarden acts again on a
// contested mailbox.

import { contestOver, endContest, endHolds, type HoldsEnd } from '../account/record/breakers.ts';
import { apiHost, type BreakerEntry, heldEntries } from '../core/guard/breaker.ts';
import { accountOfKey, idOfKey, type MailboxState, mailboxKey, namedMailbox } from '../core/mailbox.ts';
import { type CommandOutcome, failed, invalid, noChange } from '../core/operator-command.ts';
import { counted, firstText, listText } from '../core/wording/phrases.ts';
import { type WritesOff, writesAreOff } from '../core/write-scope.ts';
import type { CommandRooms } from './audit.ts';
import type { Command, Commands, Plan } from './command-requests.ts';

interface HoldRooms extends CommandRooms {
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
}

/** An open breaker, and the keys of the mailboxes that it holds. */
interface Held {
  readonly api: string;
  readonly keys: readonly string[];
}

export function holdCommands(rooms: HoldRooms): Pick<Commands, `breaker-${HoldsEnd}` | 'contest-end'> {
  return {
    'breaker-apply': breakerCommand('apply', rooms),
    'breaker-discard': breakerCommand('discard', rooms),
    'contest-end': contestCommand(rooms),
  };
}

function breakerCommand(end: HoldsEnd, rooms: HoldRooms): Command<`breaker-${HoldsEnd}`> {
  const { fleet } = rooms;
  return (request) => {
    const open = [...fleet.breakers()].filter(([, state]) => state.openSince !== null).map(([api]) => api);
    if (open.length === 0) return noChange(`Nothing to ${end}: the circuit breaker is not holding any action.`);
    const asked = open.filter((api) => request.api === null || request.api === api || request.api === apiHost(api));
    const [api, ...others] = asked;
    // An operator who was shown the mailboxes of one API must not act on those of another.
    if (api === undefined || others.length > 0) return invalid(whichApi(end, open, rooms));
    const held = { api, keys: keysOf(heldEntries(fleet.breaker(api))) };
    const mailboxes = mailboxesOf(fleet, new Set(held.keys));
    return {
      plan: end === 'apply' ? applyPlan(rooms, held) : discardPlan(rooms, held),
      command: `breaker ${end} ${apiHost(api)}`,
      mailboxes: mailboxes.map(({ account, id, email }) => ({ account, id, email })),
      carryOut: () => endAll(rooms, { end, held, isAgreed: request.plan !== null }),
    };
  };
}

function contestCommand(rooms: HoldRooms): Command<'contest-end'> {
  const { fleet, world, judgeAgain } = rooms;
  return (request) => {
    const found = namedMailbox(request.mailbox, fleet.mailboxes());
    if ('wrong' in found) return invalid(found.wrong);
    const { mailbox } = found;
    const { account, id, email } = mailbox;
    const now = world.clock.now();
    const { reversals, isHeld } = contestOver(mailbox, now);
    const nothing = `Nothing to end: Warmwarden's changes on ${email} have not been reversed lately.`;
    if (reversals.length === 0) return noChange(nothing);
    const off = fleet.writesOffOver(account, id, now);
    const stop = off ? [writesAreOff(off)] : [];
    const effect = isHeld
      ? `Warmwarden may act on ${email} (account ${account}) again, although others reversed its changes.`
      : `${email} (account ${account}) is not contested: one change was reversed, and two within a day make it so. Warmwarden will no longer count that one.`;
    return {
      plan: { effect: [effect, ...stop], about: [account, id, reversals] },
      command: `contest end ${email}`,
      account,
      mailboxes: [{ account, id, email }],
      carryOut: async () => {
        if (!(await endContest(rooms, mailbox))) return noChange(nothing);
        await judgeAgain([mailbox]);
        const ended = isHeld
          ? `Warmwarden may act on ${email} again.`
          : `${email} was not contested. Warmwarden no longer counts the change that was reversed.`;
        return { result: 'done', messages: [ended, ...stop] };
      },
    };
  };
}

/** `open`: every API whose breaker holds actions. */
function whichApi(end: HoldsEnd, open: readonly string[], { fleet }: HoldView): string {
  const isUnique = (api: string) => open.every((other) => other === api || apiHost(other) !== apiHost(api));
  const commands = open.map((api) => {
    const held = counted(heldEntries(fleet.breaker(api)).length, 'mailbox', 'mailboxes');
    return `\`warmwarden breaker ${end} ${isUnique(api) ? apiHost(api) : api}\` (${held})`;
  });
  return `Nothing was done: name the API that holds the actions. ${listText(commands)}.`;
}

/** Ends the holds of an open breaker. */
async function endAll(
  rooms: HoldRooms,
  { end, held, isAgreed }: { readonly end: HoldsEnd; readonly held: Held; readonly isAgreed: boolean },
): Promise<CommandOutcome> {
  const { fleet, rules, judgeAgain } = rooms;
  const { api } = held;
  // The breaker holds nothing afterwards, so the window does not matter.
  const settings = { api, rules: rules(), windowMs: 0 };
  // This is about the agreed mailboxes only, and none that the breaker has held since.
  const ended = await endHolds(rooms, settings, { end, agreed: isAgreed ? held.keys : null });
  if (!ended)
    return failed(`Nothing was done: the circuit breaker of ${api} now holds other actions. Run the command again.`);
  await judgeAgain(mailboxesOf(fleet, new Set(ended)));
  const messages = end === 'apply' ? appliedTexts(rooms, ended) : discardedTexts(ended.length);
  return { result: 'done', messages };
}

/** Mailboxes with these keys that still exist. */
function mailboxesOf(fleet: CommandRooms['fleet'], keys: ReadonlySet<string>): readonly MailboxState[] {
  return [...fleet.mailboxes()].filter(({ account, id }) => keys.has(mailboxKey(account, id)));
}

// Sentences about the end of the holds, before and after it.

type HoldView = Pick<CommandRooms, 'fleet' | 'world'>;

/** Number of mailboxes that a plan names for each action, and of write stops that a sentence names. */
const [heldNamed, stopsNamed] = [10, 3];

export function applyPlan({ fleet, world }: HoldView, { api, keys }: Held): Plan {
  const entries = heldEntries(fleet.breaker(api));
  const stops = stopsOver({ fleet, world }, keysOf(entries));
  const acting = entries.filter((_, index) => stops[index] === null);
  const count = counted(entries.length, 'mailbox', 'mailboxes');
  const stopped = entries.length - acting.length;
  const what =
    stopped === 0
      ? `Warmwarden will immediately act on ${count} that the circuit breaker of ${apiHost(api)} is holding.`
      : `The circuit breaker of ${apiHost(api)} will stop holding the actions on ${count}: ${emailsOf(entries)}.`;
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
      ...stopTexts(stops),
    ],
    about: [
      [api, keys.toSorted()],
      stopped,
      [...wanted].map(([action, those]) => [action, keysOf(those).toSorted()]).sort(),
    ],
    counts: { mailboxes: entries.length },
  };
}

function discardPlan({ fleet }: HoldView, { api, keys }: Held): Plan {
  const entries = heldEntries(fleet.breaker(api));
  return {
    effect: [
      `Warmwarden will not carry out the actions that the circuit breaker of ${apiHost(api)} holds on ${counted(entries.length, 'mailbox', 'mailboxes')}: ${emailsOf(entries)}.`,
      'The bounces that it has read there no longer count: it acts there again only on bounces from now on.',
    ],
    about: ['discard', api, keys.toSorted()],
    counts: { mailboxes: entries.length },
  };
}

function discardedTexts(mailboxes: number): readonly string[] {
  if (mailboxes === 0) return [heldNothing];
  const dropped = `Dropped: the actions on ${counted(mailboxes, 'mailbox', 'mailboxes')}. Only bounces from now on count there.`;
  return [`${dropped} See \`warmwarden status\`.`];
}

const heldNothing = 'The circuit breaker holds no action.';

function keysOf(entries: readonly BreakerEntry[]): readonly string[] {
  return entries.map(({ key }) => key);
}

function emailsOf(entries: readonly BreakerEntry[]): string {
  return firstText(
    entries.map(({ email }) => email),
    heldNamed,
  );
}

/** `keys`: of the mailboxes that were held. */
export function appliedTexts({ fleet, world }: HoldView, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [heldNothing];
  const stops = stopsOver({ fleet, world }, keys);
  const status = 'See `warmwarden status`.';
  if (stops.every((off) => off === null))
    return [`Warmwarden now acts on ${counted(stops.length, 'mailbox', 'mailboxes')}. ${status}`];
  return [`The held actions are approved. ${status}`, ...stopTexts(stops)];
}

/** Write stops over these mailboxes. */
function stopsOver({ fleet, world }: HoldView, keys: readonly string[]): readonly (WritesOff | null)[] {
  const now = world.clock.now();
  return keys.map((key) => fleet.writesOffOver(accountOfKey(key), idOfKey(key), now));
}

function stopTexts(stops: readonly (WritesOff | null)[]): readonly string[] {
  const inForce = stops.filter((off) => off !== null);
  if (inForce.length === 0) return [];
  const on = counted(inForce.length, 'mailbox', 'mailboxes');
  const acting = stops.length - inForce.length;
  const others = acting === 0 ? '' : ` It immediately acts on ${counted(acting, 'other')}.`;
  const reasons = [...new Set(inForce)].slice(0, stopsNamed).map(writesAreOff);
  return [`Warmwarden does NOT act on ${on} while writes are off.${others}`, ...reasons];
}
