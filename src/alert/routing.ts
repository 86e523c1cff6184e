// Which channels want to hear of an alert: routes with globs, or the default without any.

import type { Alert, AlertRule, Severity } from '../model/alert.ts';
import { fitsGlob } from '../model/glob.ts';

/** All that is given must match; of one list, one entry is enough. `*` stands for any text, `?` for one character. */
interface RouteMatch {
  readonly severity?: readonly Severity[] | undefined;
  readonly account?: readonly string[] | undefined;
  readonly rule?: readonly (AlertRule | string)[] | undefined;
  /** Globs on the address, or exact ids. An alert without a mailbox does not match. */
  readonly mailbox?: readonly string[] | undefined;
}

export interface AlertRoute {
  readonly match: RouteMatch;
  /** Names of channels. */
  readonly channels: readonly string[];
}

/** Told without any route: what may cost sleep or money. info stays on the page. */
const defaultSeverities: readonly Severity[] = ['critical', 'warning'];

/** The channels for an alert: those of every route that matches; without routes all of them, for warning and critical. */
export function channelsFor(
  alert: Alert,
  routes: readonly AlertRoute[],
  channels: readonly string[],
): readonly string[] {
  if (routes.length === 0) return defaultSeverities.includes(alert.severity) ? channels : [];
  const wanted = new Set(routes.filter((route) => matches(alert, route.match)).flatMap((route) => route.channels));
  return channels.filter((channel) => wanted.has(channel));
}

/** Whether an alert is one of those that a route is for. */
function matches(alert: Alert, match: RouteMatch): boolean {
  return (
    (match.severity === undefined || match.severity.includes(alert.severity)) &&
    (match.account === undefined || anyGlob(match.account, alert.account)) &&
    (match.rule === undefined || anyGlob(match.rule, alert.rule)) &&
    (match.mailbox === undefined || namesMailbox(match.mailbox, alert))
  );
}

function anyGlob(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => fitsGlob(glob, name));
}

function namesMailbox(patterns: readonly string[], { email, mailboxId }: Alert): boolean {
  return (mailboxId !== null && patterns.includes(mailboxId)) || (email !== null && anyGlob(patterns, email));
}
