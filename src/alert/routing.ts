// Which channels want to hear of an alert: those of the routes, or the default without any.
import { type Alert, type AlertMatch, type Announcement, accountsOf, type Severity } from '../model/alert.ts';
import { matches } from './matching.ts';

export interface AlertRoute {
  readonly match: AlertMatch;
  /** Names of channels. */
  readonly channels: readonly string[];
}

/** Whether messages of a channel are for people: a recipe only acts. */
export function isForPeople({ type }: { readonly type: string }): boolean {
  return type !== 'recipe';
}

/** Told without any route: what may cost sleep or money. info stays on the page. */
const defaultSeverities: readonly Severity[] = ['critical', 'warning'];

/** A configured channel, as far as routes know it. */
export interface RoutedChannel {
  readonly name: string;
  readonly type: string;
}

/**
 * The names of the channels for an alert: those of every route that matches; without routes all of them, for warning and
 * critical. A critical alert whose routes lead to nobody goes to every channel that people read.
 */
export function channelsFor(
  alert: Alert,
  routes: readonly AlertRoute[],
  channels: readonly RoutedChannel[],
): readonly string[] {
  // That a channel fails is announced through the others.
  const able = channels.filter(({ name }) => alert.rule !== 'channel_failing' || name !== alert.object);
  if (routes.length === 0) return defaultSeverities.includes(alert.severity) ? namesOf(able) : [];
  const wanted = new Set(routes.filter((route) => wants(route, alert)).flatMap((route) => route.channels));
  const taken = able.filter(({ name }) => wanted.has(name));
  if (alert.severity !== 'critical' || taken.some(isForPeople)) return namesOf(taken);
  return namesOf(able.filter((channel) => wanted.has(channel.name) || isForPeople(channel)));
}

function namesOf(channels: readonly RoutedChannel[]): readonly string[] {
  return channels.map(({ name }) => name);
}

/**
 * What is about Warmwarden itself belongs to no account: a route by account must not keep it from being announced. What
 * concerns several accounts is sent to whoever wants to hear of one of them.
 */
function wants({ match }: AlertRoute, alert: Alert): boolean {
  const { account: _account, ...rest } = match;
  return matches(alert, accountsOf(alert).length === 0 ? rest : match, 'one');
}

/** Of these channels, those that want the alert by now and were not notified of it. Nobody knows of it yet: none. */
export function joinedChannels(
  alert: Alert,
  announcement: Announcement | undefined,
  routes: readonly AlertRoute[],
  channels: readonly RoutedChannel[],
): readonly string[] {
  const known = announcement?.channels;
  return known ? channelsFor(alert, routes, channels).filter((channel) => !known.includes(channel)) : [];
}
