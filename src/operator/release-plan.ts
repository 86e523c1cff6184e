// What a release of the circuit breaker would do and did, in sentences: Warmwarden acts on what it held, except where writes are off.
import type { Fleet } from '../fleet/fleet.ts';
import { heldEntries } from '../model/breaker.ts';
import { accountOfKey } from '../model/mailbox.ts';
import { type WritesOff, writesAreOff } from '../model/write-scope.ts';
import { counted } from '../wording/phrases.ts';
import type { World } from '../world.ts';
import type { Plan } from './plan.ts';

/** A plan names this many of the mailboxes that it would release. */
const heldNamed = 5;
/** So many emergency stops are named. */
const stopsNamed = 3;

type ReleaseRooms = { readonly fleet: Fleet; readonly world: World };

/** `held`: by API, the keys of the mailboxes that its open breaker holds. */
export function releasePlan({ fleet, world }: ReleaseRooms, held: ReadonlyMap<string, readonly string[]>): Plan {
  const entries = [...held.keys()].flatMap((api) => heldEntries(fleet.breaker(api)));
  const emails = entries.map(({ email }) => email);
  const more = emails.length > heldNamed ? ` and ${emails.length - heldNamed} more` : '';
  const named = `${emails.slice(0, heldNamed).join(', ')}${more}`;
  const stops = stopsOver(
    { fleet, world },
    entries.map(({ key }) => key),
  );
  const stopped = stops.filter((off) => off !== null).length;
  const count = counted(emails.length, 'mailbox', 'mailboxes');
  const what =
    emails.length === 0
      ? 'The circuit breaker will close. It is holding no action.'
      : stopped === 0
        ? `Warmwarden will immediately act on ${count} that the circuit breaker is holding: ${named}.`
        : `The circuit breaker will stop holding the actions on ${count}: ${named}.`;
  return {
    effect: [what, ...stopTexts(stops, world)],
    about: [[...held].map(([api, keys]) => [api, [...keys].sort()]), stopped],
    counts: { mailboxes: emails.length },
  };
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
  return keys.map((key) => {
    const account = accountOfKey(key);
    return fleet.writesOffOver(account, key.slice(account.length + 1), now);
  });
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
