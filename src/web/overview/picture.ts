// What every page and /api/fleet begin with: the ranked mailboxes, the counts, the alerts and the headline.
import type { RouteParts } from '../route-parts.ts';
import { headlineOf } from './headline.ts';

export type PictureParts = Pick<RouteParts, 'fleet' | 'world' | 'ready' | 'ranking' | 'explain' | 'timeZone'>;

export async function pictureOf({ fleet, world, ready, ranking, timeZone }: PictureParts) {
  const known = await ranking.read();
  const { counts, heldByBreaker, heldUnenforced, awaitingIn, okIn, firing } = known;
  const now = world.clock.now();
  const accounts = [...fleet.accounts()];
  const recentActions = fleet.recentActions();
  const writesOff = fleet.writesOff(now);
  const guarding = fleet.guarding();
  const { storeFailure } = fleet;
  const sweeps = [...fleet.sweeps()];
  const { command } = world;
  const zone = timeZone();
  const incidents = fleet.incidents().filter(({ endedAt }) => endedAt === null);
  const facts = {
    counts,
    heldByBreaker,
    heldUnenforced,
    awaitingIn,
    okIn,
    accounts,
    firing,
    incidents,
    recentActions,
    ready: ready(),
    guarding,
    storeFailure,
    writesOff,
    sweeps,
    now,
    command,
    zone,
  };
  return { known, counts, now, firing, accounts, sweeps, command, zone, headline: headlineOf(facts) };
}
