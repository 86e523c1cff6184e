// What every page and /api/fleet begin with: the mailboxes as they rank, the counts, the alerts and the headline of this moment.
import type { Fleet } from '../core/fleet/fleet.ts';
import { eachAlert } from './each-alert.ts';
import { isChosen } from './json/past-alerts.ts';
import { FiringAlerts } from './overview/firing-alerts.ts';
import { FirstOf } from './overview/first-of.ts';
import { gravestFirst, isFiring } from './overview/fleet-view.ts';
import { headlineOf } from './overview/headline.ts';
import type { AlertSelection, AlertsOnPage } from './page/alerts-page.ts';
import type { RouteParts } from './route-parts.ts';

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

// What the page of alerts shows of those that fire: all of them counted, and one page of those that are asked for.

const entriesAPage = 50;

/** `wanted`: from 1; a page that is not there is the last one. */
export async function alertsOnPage(fleet: Fleet, selection: AlertSelection, wanted: number): Promise<AlertsOnPage> {
  const [firing, chosen] = [new FiringAlerts(), new FiringAlerts()];
  const apart = selection.rule === null ? null : new FirstOf(gravestFirst, wanted * entriesAPage);
  let pending = 0;
  await eachAlert(fleet.alerts(), (alert) => {
    if (!isFiring(alert)) {
      pending += 1;
      return;
    }
    firing.put(alert);
    if (!isChosen(alert, selection)) return;
    chosen.put(alert);
    apart?.put(alert);
  });
  const pages = Math.max(1, Math.ceil((apart?.total ?? chosen.groups.length) / entriesAPage));
  const page = Math.min(wanted, pages);
  const from = (page - 1) * entriesAPage;
  const groups =
    apart?.take(from).map((first) => ({ first, others: [], count: 1 })) ??
    chosen.groups.slice(from, from + entriesAPage);
  return { firing, chosen: chosen.count(), pending, groups, page, pages };
}
