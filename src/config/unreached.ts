// Finds alerts that no route takes to a channel for people, by severity and rule. Pure.
import { type AlertRule, alertRules, type Severity, severities } from '../core/alert.ts';
import { fitsGlob } from '../core/mailbox-pattern.ts';
import type { Config, RouteConfig } from './config.ts';
import type { Finding } from './problem.ts';

type RoutedAlerts = Pick<Config, 'accounts' | 'alerts'>;

/** Severities that alerts of a rule have in some cases, beside the configured one. */
const otherSeverities: Partial<Record<AlertRule, readonly Severity[]>> = {
  guard_acted: ['critical'],
  bounce_over_limit: ['critical', 'warning', 'info'],
  bounce_burst: ['critical'],
  mailbox_list_short: ['warning'],
  budget_too_small: ['warning'],
  changed_by_others: ['warning'],
};

/** A finding for each severity and kind of gap. Without routes there is none: a default leads to every channel. */
export function unreachedAlerts({ accounts, alerts }: RoutedAlerts): Finding[] {
  const people = new Set(alerts.channels.filter(({ type }) => type !== 'recipe').map(({ name }) => name));
  // That there is no channel at all is a finding of its own.
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
  // Nobody needs to be notified of info: it is named only where more than that is missing.
  const isMeant = gaps.every(({ severity, none, some }) => severity === 'info' || none.length + some.length === 0);
  return isMeant ? [] : gaps.flatMap(findingsOf);
}

interface Gap {
  readonly severity: Severity;
  /** All that can have the severity. */
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
  const others = otherSeverities[rule] ?? [];
  if (rule === 'guard_acted') return [acted.pause, acted.recovery, ...others];
  const isMajor = rule === 'blacklisted' && blacklisted.major.length > 0;
  return [of[rule].severity, ...others, ...(isMajor ? (['critical'] as const) : [])];
}

/** Whether the routes take every alert of a rule and a severity, none, or those of some accounts or mailboxes. */
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
