// Mistakes between sections, which no schema of one section can see, and settings that are probably not intended. Pure.
import { digestless, takesDigest } from '../channels/channels.ts';
import { alertRules, type Severity } from '../core/alert-rules.ts';
import { isLoopback } from '../core/egress.ts';
import { mergedTags } from '../core/mailbox.ts';
import { fitsGlob } from '../core/mailbox-pattern.ts';
import { didYouMean } from '../core/nearest.ts';
import { bothDaysDoubt } from '../world/schedule.ts';
import { fieldsOf, type JsonFields } from '../world/schema/json.ts';
import { type Finding, formatPath, type Path } from '../world/schema/problem.ts';
import type { TokenConfig } from './access-schema.ts';
import { type CheckedFile, type Config, keyPrefix, type RouteConfig } from './config.ts';

// Mistakes. They read the unchecked tree, so that they are found even if something else is wrong.

export function inconsistencies(tree: unknown): Finding[] {
  const root = fieldsOf(tree);
  const alerts = fieldsOf(root['alerts']);
  const channels = mappings(alerts['channels']);
  return [
    ...sharedKeys(mappings(root['accounts'])),
    ...repeatedNames(mappings(root['accounts']), ['accounts']),
    ...repeatedNames(channels, ['alerts', 'channels']),
    ...repeatedNames(mappings(fieldsOf(root['recipes'])['api_keys']), ['recipes', 'api_keys']),
    ...repeatedNames(mappings(alerts['mute_times']), ['alerts', 'mute_times']),
    ...unknownChannels(alerts, channels),
    ...unknownMuteTimes(alerts),
  ];
}

/** Names of channels that do not exist, or can't send a digest: Alertmanager and recipes have no use for it. */
function unknownChannels(alerts: JsonFields, channels: readonly JsonFields[]): Finding[] {
  const names = namesOf(channels);
  const holders = ['routes', 'digests'].flatMap((key) =>
    mappings(alerts[key]).map((one, index): [Path, JsonFields] => [[key, index], one]),
  );
  return holders.flatMap(([holder, { channels: named }]) =>
    strings(named).flatMap((name, index) => {
      const path = ['alerts', ...holder, 'channels', index];
      const channel = channels.find((one) => one['name'] === name);
      if (!channel) return [finding(path, `there is no channel "${name}"${didYouMean(name, names)}`)];
      if (holder[0] === 'routes' || takesDigest(channel)) return [];
      return [finding(path, `${name} can't receive a digest: ${digestless} have no use for it`)];
    }),
  );
}

function unknownMuteTimes(alerts: JsonFields): Finding[] {
  const names = namesOf(mappings(alerts['mute_times']));
  return mappings(alerts['routes']).flatMap(({ mute }, route) =>
    strings(mute).flatMap((name, index) => {
      const message = `there is no mute time "${name}"${didYouMean(name, names)}`;
      return names.includes(name) ? [] : [finding(['alerts', 'routes', route, 'mute', index], message)];
    }),
  );
}

/** Two ledgers for one key would exceed its rate limit together. */
function sharedKeys(accounts: readonly JsonFields[]): Finding[] {
  return accounts.flatMap((account, index) => {
    const first = accounts.findIndex(
      (other) => other['api_key'] === account['api_key'] && hostOf(other) === hostOf(account),
    );
    if (typeof account['api_key'] !== 'string' || first === index) return [];
    const other = accounts[first]?.['name'];
    const whose = typeof other === 'string' ? `account ${other}` : `accounts[${first}]`;
    return [
      {
        ...finding(
          ['accounts', index, 'api_key'],
          `is also the key of ${whose}: together they would exceed its rate limit`,
        ),
        other: ['accounts', first, 'api_key'],
      },
    ];
  });
}

/** Host of an account's API. Another host is another API, with a rate limit of its own. */
function hostOf({ base_url: url }: JsonFields): unknown {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : url;
}

function repeatedNames(holders: readonly JsonFields[], path: Path): Finding[] {
  return holders.flatMap((holder, index) => {
    const first = holders.findIndex((other) => other['name'] === holder['name']);
    if (typeof holder['name'] !== 'string' || first === index) return [];
    const message = `"${holder['name']}" is also the name of ${formatPath([...path, first])}`;
    return [{ ...finding([...path, index, 'name'], message), other: [...path, first, 'name'] }];
  });
}

function finding(path: Path, message: string): Finding {
  return { path, at: 'value', message };
}

/** Keeps the places of the items; empty if the value is not a list. */
function mappings(value: unknown): readonly JsonFields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : [];
}

function namesOf(holders: readonly JsonFields[]): readonly string[] {
  return holders.map((holder) => (typeof holder['name'] === 'string' ? holder['name'] : ''));
}

// Warnings.

export function warnings(config: Config): Finding[] {
  return [
    ...warningsOfKeys(config),
    ...warningsOfSchedules(config),
    ...warningsOfChannels(config),
    ...unreachedSeverities(config.alerts),
    ...warningsOfAccess(config),
    ...warningsOfStore(config.store),
  ];
}

function warningsOfKeys({ accounts }: Config): Finding[] {
  const message = `does not begin with ${keyPrefix}: make sure that it is the key of this API`;
  return accounts.flatMap(({ apiKey }, index) =>
    apiKey.startsWith(keyPrefix) ? [] : [finding(['accounts', index, 'api_key'], message)],
  );
}

function warningsOfSchedules({ poll, alerts }: Config): Finding[] {
  const written: readonly (readonly [Path, unknown])[] = [
    ...Object.entries(poll).map(([key, value]) => [['poll', key], value] as const),
    ...alerts.digests.map(({ at }, index) => [['alerts', 'digests', index, 'at'], at] as const),
  ];
  return written.flatMap(([path, value]) => {
    const message = typeof value === 'string' ? bothDaysDoubt(value) : null;
    return message === null ? [] : [finding(path, message)];
  });
}

function warningsOfChannels({ accounts, alerts: { channels, routes, digests }, server }: Config): Finding[] {
  if (channels.length === 0) return [finding(['alerts', 'channels'], 'there is no channel: no alert will be sent')];
  const routed = new Set(routes.flatMap((route) => route.channels));
  const unrouted = channels.flatMap(({ name }, index) =>
    routed.has(name) ? [] : [finding(['alerts', 'channels', index], `no route leads to ${name}: it gets no alerts`)],
  );
  const names = accounts.map(({ name }) => name);
  const tags = accounts.flatMap(tagSets).flat();
  const matches = Object.entries({ routes, digests }).flatMap(([key, holders]) =>
    holders.map(({ match }: Pick<RouteConfig, 'match'>, index) => ({ match, path: ['alerts', key, index, 'match'] })),
  );
  const idle = matches.flatMap(({ match, path }) => [
    ...unmatched(match.account, names, [...path, 'account']),
    ...unmatched(match.tag, tags, [...path, 'tag']),
    ...unmatched(match.rule, alertRules, [...path, 'rule']),
  ]);
  return [...unrouted, ...idle, ...linksForThisMachine(server, channels)];
}

/** Tags that a mailbox of the account may have: those of the account, and with each override. */
function tagSets({ tags, overrides }: CheckedFile['accounts'][number]): readonly (readonly string[])[] {
  return [tags, ...overrides.flatMap((one) => (one.tags.length > 0 ? [mergedTags(tags, one.tags)] : []))];
}

function unmatched(globs: readonly string[] = [], names: readonly string[], path: Path): Finding[] {
  const idle = globs.filter((glob) => !names.some((name) => fitsGlob(glob, name)));
  return idle.map((glob) => finding(path, `"${glob}" matches none${didYouMean(glob, names)}`));
}

/** On another machine a loopback address opens nothing. */
function linksForThisMachine({ publicUrl, host }: Config['server'], channels: Config['alerts']['channels']): Finding[] {
  const leaves = channels.some((channel) => channel.type !== 'recipe' && !isLoopback(new URL(channel.url).hostname));
  if (publicUrl !== null || !isLoopback(host) || !leaves) return [];
  const message = `is missing: links in messages lead to ${host}, which opens only on this machine`;
  return [finding(['server', 'public_url'], message)];
}

function warningsOfAccess({ accounts, server: { auth, allowedHosts } }: Config): Finding[] {
  if (auth === 'none') return [];
  const names = accounts.map(({ name }) => name);
  const tags = accounts.flatMap(tagSets).flat();
  const idle = (key: readonly string[], holders: readonly Pick<TokenConfig, 'limits'>[]) =>
    holders.flatMap(({ limits }, index) => [
      ...unmatched(limits?.account, names, ['server', 'auth', ...key, index, 'accounts']),
      ...unmatched(limits?.tag, tags, ['server', 'auth', ...key, index, 'tags']),
    ]);
  const found = [...idle(['tokens'], auth.tokens), ...idle(['proxy_header', 'roles'], auth.proxyHeader?.roles ?? [])];
  if (auth.proxyHeader === null && auth.tokens.every(({ role }) => role === 'scraper'))
    found.push(
      finding(['server', 'auth', 'tokens'], 'no token can open the page: add one with the role operator or viewer'),
    );
  if (allowedHosts.length > 0)
    found.push(
      finding(['server', 'allowed_hosts'], 'has no effect beside tokens: a request with a token may name any host'),
    );
  return found;
}

function warningsOfStore(store: Config['store']): Finding[] {
  if (typeof store === 'string' || store.tls.kind !== 'off' || isLoopback(store.host)) return [];
  return [finding(['store', 'tls'], 'is off: password and data cross the network unencrypted')];
}

/** Findings for the severities that no route takes to people. Info alerts need not reach them. */
export function unreachedSeverities({ channels, routes }: Pick<Config['alerts'], 'channels' | 'routes'>): Finding[] {
  const people = new Set(channels.filter(({ type }) => type !== 'recipe').map(({ name }) => name));
  // The absence of any channel has a finding of its own.
  if (channels.length === 0) return [];
  if (people.size === 0) return [finding(['alerts', 'channels'], 'there are only recipes: no alert is sent to people')];
  const read = routes.filter((route) => route.channels.some((name) => people.has(name)));
  const gaps: readonly (readonly [Severity, string])[] = [
    ['critical', 'Warmwarden sends them to every channel except recipes'],
    ['warning', 'no channel gets them'],
  ];
  return gaps
    .filter(([severity]) => !read.some(({ match }) => match.severity?.includes(severity) ?? true))
    .map(([severity, then]) => finding(['alerts', 'routes'], `no route takes ${severity} alerts: ${then}`));
}
