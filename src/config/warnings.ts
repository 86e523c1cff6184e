// Warnings about a valid configuration that is probably not intended. Pure.

import { type Severity, severities } from '../core/alert.ts';
import { type AlertRule, alertRules, ruleBook } from '../core/alert-rules.ts';
import { isLoopback } from '../core/egress.ts';
import { fitsGlob } from '../core/mailbox-pattern.ts';
import { didYouMean } from '../core/nearest.ts';
import { bothDaysDoubt } from '../world/schedule.ts';
import type { Finding, Path } from '../world/schema/problem.ts';
import { type Config, keyPrefix, type RouteConfig } from './config.ts';

export function doubts(config: Config): Finding[] {
  return [
    ...doubtsOfKeys(config),
    ...doubtsOfSchedules(config),
    ...doubtsOfChannels(config),
    ...unreachedAlerts(config),
    ...doubtsOfAccess(config.server),
    ...doubtsOfStore(config.store),
  ];
}

function doubt(path: Path, message: string): Finding {
  return { path, at: 'value', message };
}

/**
 * Warnings about keys with another prefix. Another service may have such keys, but most often the variable or file is
 * wrong.
 */
function doubtsOfKeys({ accounts }: Config): Finding[] {
  const message = `does not begin with ${keyPrefix}: make sure that it is the key of this API`;
  return accounts.flatMap(({ apiKey }, index) =>
    apiKey.startsWith(keyPrefix) ? [] : [doubt(['accounts', index, 'api_key'], message)],
  );
}

function doubtsOfSchedules({ poll, alerts }: Config): Finding[] {
  const written: readonly (readonly [Path, unknown])[] = [
    ...Object.entries(poll).map(([key, value]) => [['poll', key], value] as const),
    [['alerts', 'digest', 'at'], alerts.digest?.at],
  ];
  return written.flatMap(([path, value]) => {
    const message = typeof value === 'string' ? bothDaysDoubt(value) : null;
    return message === null ? [] : [doubt(path, message)];
  });
}

function doubtsOfChannels({ accounts, alerts: { channels, routes }, server }: Config): Finding[] {
  if (channels.length === 0) return [doubt(['alerts', 'channels'], 'there is no channel: no alert will be sent')];
  const routed = new Set(routes.flatMap((route) => route.channels));
  const unrouted = channels.flatMap(({ name }, index) =>
    routed.has(name) ? [] : [doubt(['alerts', 'channels', index], `no route leads to ${name}: it gets no alerts`)],
  );
  const names = accounts.map(({ name }) => name);
  const idle = routes.flatMap(({ match }, index) => [
    ...fitsNothing(match.account, names, ['alerts', 'routes', index, 'match', 'account']),
    ...fitsNothing(match.rule, alertRules, ['alerts', 'routes', index, 'match', 'rule']),
  ]);
  return [...unrouted, ...idle, ...linksForThisMachine(server, channels)];
}

function fitsNothing(globs: readonly string[] = [], names: readonly string[], path: Path): Finding[] {
  const idle = globs.filter((glob) => !names.some((name) => fitsGlob(glob, name)));
  return idle.map((glob) => doubt(path, `"${glob}" matches none${didYouMean(glob, names)}`));
}

/**
 * Warning about links in messages, which lead to the page's address: on another machine a loopback address opens
 * nothing.
 */
function linksForThisMachine({ publicUrl, host }: Config['server'], channels: Config['alerts']['channels']): Finding[] {
  const leaves = channels.some((channel) => channel.type !== 'recipe' && !isLoopback(new URL(channel.url).hostname));
  if (publicUrl !== null || !isLoopback(host) || !leaves) return [];
  const message = `is missing: links in messages lead to ${host}, which opens only on this machine`;
  return [doubt(['server', 'public_url'], message)];
}

function doubtsOfAccess({ auth, allowedHosts }: Config['server']): Finding[] {
  if (auth === 'none') return [];
  const found: Finding[] = [];
  if (auth.tokens.every(({ role }) => role === 'scraper'))
    found.push(
      doubt(['server', 'auth', 'tokens'], 'no token can open the page: add one with the role operator or viewer'),
    );
  if (allowedHosts.length > 0)
    found.push(
      doubt(['server', 'allowed_hosts'], 'has no effect beside tokens: a request with a token may name any host'),
    );
  return found;
}

function doubtsOfStore(store: Config['store']): Finding[] {
  if (typeof store === 'string' || store.tls.kind !== 'off' || isLoopback(store.host)) return [];
  return [doubt(['store', 'tls'], 'is off: password and data cross the network unencrypted')];
}

// Alerts that no route takes to a channel for people, by severity and rule.

type RoutedAlerts = Pick<Config, 'accounts' | 'alerts'>;

/** Findings for each severity and kind of gap. Empty without routes, since the default leads to every channel. */
export function unreachedAlerts({ accounts, alerts }: RoutedAlerts): Finding[] {
  const people = new Set(alerts.channels.filter(({ type }) => type !== 'recipe').map(({ name }) => name));
  // The absence of any channel has a finding of its own.
  if (alerts.channels.length === 0) return [];
  if (people.size === 0) {
    const message = 'there are only recipes: no alert is sent to people';
    return [{ path: ['alerts', 'channels'], at: 'value', message }];
  }
  const routes = alerts.routes.filter(({ channels }) => channels.some((name) => people.has(name)));
  const names = accounts.map(({ name }) => name);
  const gaps = severities.map((severity) => {
    const rules = alertRules.filter((rule) => severitiesOf(rule, alerts.rules).includes(severity));
    const reached = (rule: AlertRule) => reachOf({ rule, severity }, routes, names);
    const none = rules.filter((rule) => reached(rule) === 'none');
    return { severity, rules, none, some: rules.filter((rule) => reached(rule) === 'some') };
  });
  // Info alerts need not reach people, so a gap for info is reported only together with others.
  const isMeant = gaps.every(({ severity, none, some }) => severity === 'info' || none.length + some.length === 0);
  return isMeant ? [] : gaps.flatMap(findingsOf);
}

interface Gap {
  readonly severity: Severity;
  /** Rules that can have the severity. */
  readonly rules: readonly AlertRule[];
  readonly none: readonly AlertRule[];
  readonly some: readonly AlertRule[];
}

function findingsOf({ severity, rules, none, some }: Gap): Finding[] {
  const which = (names: readonly AlertRule[]) =>
    names.length === rules.length ? '' : ` of ${names.length === 1 ? 'the rule' : 'the rules'} ${names.join(', ')}`;
  const then = (others: string) =>
    severity === 'critical'
      ? `Warmwarden sends ${others} to every channel except recipes`
      : `no channel gets ${others}`;
  const found: string[] = [];
  if (none.length > 0) found.push(`no route takes ${severity} alerts${which(none)}: ${then('them')}`);
  if (some.length > 0)
    found.push(
      `the routes take ${severity} alerts${which(some)} of some accounts or mailboxes only: ${then('the others')}`,
    );
  return found.map((message) => ({ path: ['alerts', 'routes'], at: 'value', message }));
}

function severitiesOf(rule: AlertRule, { of, acted, blacklisted }: Config['alerts']['rules']): readonly Severity[] {
  if (!of[rule].enabled) return [];
  const others = ruleBook[rule].otherSeverities ?? [];
  if (rule === 'guard_acted') return [acted.pause, acted.recovery, ...others];
  const isMajor = rule === 'blacklisted' && blacklisted.major.length > 0;
  return [of[rule].severity, ...others, ...(isMajor ? (['critical'] as const) : [])];
}

/** Reach of the routes for a rule and a severity: every alert, none, or those of some accounts or mailboxes. */
function reachOf(
  { rule, severity }: { readonly rule: AlertRule; readonly severity: Severity },
  routes: readonly RouteConfig[],
  accounts: readonly string[],
): 'all' | 'some' | 'none' {
  const fits = (globs: readonly string[] | undefined, name: string) =>
    globs === undefined || globs.some((glob) => fitsGlob(glob, name));
  const matching = routes.filter(({ match }) => (match.severity?.includes(severity) ?? true) && fits(match.rule, rule));
  const whole = matching.filter(({ match }) => match.mailbox === undefined);
  if (accounts.every((account) => whole.some(({ match }) => fits(match.account, account)))) return 'all';
  return matching.length > 0 ? 'some' : 'none';
}
