// What a release of the circuit breaker would do and did, in sentences: Warmwarden acts on what it held, except where writes are off.

import { type BreakerEntry, heldEntries } from '../core/breaker.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { accountOfKey, idOfKey } from '../core/mailbox.ts';
import { counted, firstText } from '../core/wording/phrases.ts';
import { type WritesOff, writesAreOff } from '../core/write-scope.ts';
import type { World } from '../world/world.ts';
import type { Plan } from './plan.ts';

/** A plan names this many of the mailboxes that each action is about. */
const heldNamed = 10;
/** So many emergency stops are named. */
const stopsNamed = 3;

type ReleaseRooms = { readonly fleet: Fleet; readonly world: World };

/** `held`: by API, the keys of the mailboxes that its open breaker holds. */
export function releasePlan({ fleet, world }: ReleaseRooms, held: ReadonlyMap<string, readonly string[]>): Plan {
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
        : `The circuit breaker will stop holding the actions on ${count}: ${namesOf(entries)}.`;
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
  /** As the newest counts have it; null: they show none now. */
  readonly action: 'pause' | 'recovery' | null;
}

function wantedOn(fleet: Fleet, { key, account }: BreakerEntry): Wanted['action'] {
  const wanted = fleet.mailbox(account, idOfKey(key))?.verdict?.answer.wanted;
  return wanted === 'pause' || wanted === 'recovery' ? wanted : null;
}

/** Pauses first: only a person ends them. */
function actionTexts(wanted: readonly Wanted[]): readonly string[] {
  const textOf = (action: Wanted['action'], what: (mailboxes: string) => string) => {
    const entries = wanted.filter((one) => one.action === action).map(({ entry }) => entry);
    if (entries.length === 0) return [];
    return [`Warmwarden will ${what(counted(entries.length, 'mailbox', 'mailboxes'))}: ${namesOf(entries)}.`];
  };
  return [
    ...textOf('pause', (mailboxes) => `pause the warm-up of ${mailboxes}, until a person resumes it`),
    ...textOf('recovery', (mailboxes) => `switch ${mailboxes} to recovery mode`),
    ...textOf(null, (mailboxes) => `first judge ${mailboxes} on fresh data`),
  ];
}

function namesOf(entries: readonly BreakerEntry[]): string {
  const emails = entries.map(({ email }) => email);
  return firstText(emails, heldNamed);
}

/** `released`: the keys of the mailboxes that were held. */
export function releasedTexts({ fleet, world }: ReleaseRooms, released: readonly string[]): readonly string[] {
  if (released.length === 0) return ['The circuit breaker is closed. It was holding no action.'];
  const stops = stopsOver({ fleet, world }, released);
  const acting = stops.filter((off) => off === null).length;
  const status = `See \`${world.command} status\`.`;
  if (acting === released.length)
    return [`Released: Warmwarden now acts on ${counted(acting, 'mailbox', 'mailboxes')}. ${status}`];
  return [`Released. ${status}`, ...stopTexts(stops, world)];
}

/** For each, the emergency stop that keeps Warmwarden from acting on it. */
function stopsOver({ fleet, world }: ReleaseRooms, keys: readonly string[]): readonly (WritesOff | null)[] {
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
