// Rules between keys. They read the unchecked tree, so that they are reported even when something else is wrong.
import { createSecureContext } from 'node:tls';
import { alertRules } from '../core/alert.ts';
import { isLoopback } from '../core/egress.ts';
import { fitsGlob } from '../core/mailbox-pattern.ts';
import { didYouMean } from '../core/nearest.ts';
import { defaultPolicy, literalProfile } from '../core/policy.ts';
import { bothDaysDoubt } from '../world/schedule.ts';
import { channelTypes } from './channel-schema.ts';
import type { GuardSettings } from './config.ts';
import { guardSchema } from './guard-schema.ts';
import { mergeGuard } from './mailbox-rules.ts';
import { type Finding, formatPath, type Path } from './problem.ts';
import { configSchema } from './schema.ts';
import { isPlainHttpBeyondLoopback, keyPrefix, secretHint } from './secrets.ts';
import { doubtsOfStore, ofStore } from './store-schema.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** Mistakes that stand between two keys. */
export function inconsistencies(tree: unknown): Finding[] {
  const root = mapping(tree);
  const channels = mappings(mapping(root['alerts'])['channels']);
  return [
    ...mappings(root['accounts']).flatMap((account, index) => ofAccount(account, ['accounts', index])),
    ...sharedKeys(mappings(root['accounts'])),
    ...repeats(mappings(root['accounts']), ['accounts']),
    ...channels.flatMap((channel, index) => ofChannel(channel, ['alerts', 'channels', index])),
    ...repeats(channels, ['alerts', 'channels']),
    ...ofRoutes(mappings(mapping(root['alerts'])['routes']), namesOf(channels)),
    ...ofDigest(mapping(mapping(root['alerts'])['digest']), channels),
    ...ofHeartbeat(mapping(root['alerts'])['heartbeat']),
    ...ofGuards(root),
    ...ofWords('status_words', mapping(root['api'])),
    ...ofWords('dns_words', mapping(root['api'])),
    ...ofServer(mapping(root['server'])),
    ...ofStore(mapping(root['store'])),
    ...repeats(mappings(mapping(root['recipes'])['api_keys']), ['recipes', 'api_keys']),
  ];
}

/** What is allowed and probably not meant. */
export function doubts(tree: unknown): Finding[] {
  const { server, store } = mapping(tree);
  return [
    ...mappings(mapping(tree)['accounts']).flatMap(doubtsOfKey),
    ...doubtsOfSchedules(mapping(tree)),
    ...doubtsOfAlerts(tree),
    ...doubtsOfTokens(mapping(server)),
    ...doubtsOfHosts(mapping(server)),
    ...doubtsOfStore(mapping(store)),
  ];
}

/** Another service may have other keys; most often it is the wrong variable or file. */
function doubtsOfKey({ api_key: key }: Mapping, index: number): Finding[] {
  if (typeof key !== 'string' || key.startsWith(keyPrefix)) return [];
  const message = `does not begin with ${keyPrefix}: make sure that it is the key of this API`;
  return [finding(['accounts', index, 'api_key'], message)];
}

function doubtsOfSchedules({ poll, alerts }: Mapping): Finding[] {
  const written: [Path, unknown][] = Object.entries(mapping(poll)).map(([key, value]) => [['poll', key], value]);
  written.push([['alerts', 'digest', 'at'], mapping(mapping(alerts)['digest'])['at']]);
  return written.flatMap(([path, value]) => {
    const doubt = typeof value === 'string' ? bothDaysDoubt(value) : null;
    return doubt === null ? [] : [finding(path, doubt)];
  });
}

/** Requests with a token are answered under any host name. */
function doubtsOfHosts(server: Mapping): Finding[] {
  const hosts = strings(server['allowed_hosts']);
  if (hosts.length === 0 || mappings(mapping(server['auth'])['tokens']).length === 0) return [];
  return [
    finding(['server', 'allowed_hosts'], 'has no effect beside tokens: a request with a token may name any host'),
  ];
}

/** One token of whatever role closes the page to everyone who has none. */
function doubtsOfTokens(server: Mapping): Finding[] {
  const tokens = mappings(mapping(server['auth'])['tokens']);
  if (tokens.length === 0 || tokens.some(({ role }) => role !== 'scraper')) return [];
  const message = 'no token can open the page: add one with the role operator or viewer';
  return [finding(['server', 'auth', 'tokens'], message)];
}

function doubtsOfAlerts(tree: unknown): Finding[] {
  const alerts = mapping(mapping(tree)['alerts']);
  const routes = mappings(alerts['routes']);
  const written = mappings(alerts['channels']);
  const channels = namesOf(written);
  if (channels.length === 0) {
    return [finding(['alerts', 'channels'], 'there is no channel: no alert will be sent')];
  }
  const accounts = namesOf(mappings(mapping(tree)['accounts']));
  const routed = new Set(routes.flatMap((route) => strings(route['channels'])));
  const unrouted = channels.flatMap((name, index) =>
    (routes.length === 0 && written[index]?.['type'] !== 'recipe') || routed.has(name)
      ? []
      : [finding(['alerts', 'channels', index], `no route leads to ${name}: it gets no alerts`)],
  );
  const idle = routes.flatMap((route, index) => {
    const match = mapping(route['match']);
    return [
      ...fitsNothing(match['account'], accounts, ['alerts', 'routes', index, 'match', 'account']),
      ...fitsNothing(match['rule'], alertRules, ['alerts', 'routes', index, 'match', 'rule']),
    ];
  });
  return [...unrouted, ...idle, ...linksForThisMachine(mapping(mapping(tree)['server']), written)];
}

/** Links in messages lead to the page's address: on another machine a loopback address opens nothing. */
function linksForThisMachine(server: Mapping, channels: readonly Mapping[]): Finding[] {
  const { listen, public_url: publicUrl } = server;
  const host = typeof listen === 'string' ? listen.replace(/:\d+$/, '').replace(/^\[|\]$/g, '') : '127.0.0.1';
  if (publicUrl !== undefined || !isLoopback(host)) return [];
  const leaves = ({ type, url }: Mapping) =>
    type !== 'recipe' && !(typeof url === 'string' && URL.canParse(url) && isLoopback(new URL(url).hostname));
  if (!channels.some(leaves)) return [];
  const message = `is missing: links in messages lead to ${host}, which opens only on this machine`;
  return [finding(['server', 'public_url'], message)];
}

function ofAccount(account: Mapping, path: Path): Finding[] {
  const found: Finding[] = [];
  if (account['api_key'] === undefined && account['api_key_file'] === undefined) {
    found.push(finding([...path, 'api_key'], 'is missing: write api_key or api_key_file'));
  }
  if (account['plan'] !== undefined && account['requests_per_minute'] !== undefined) {
    found.push(finding([...path, 'requests_per_minute'], 'write either plan or requests_per_minute, not both'));
  }
  return [...found, ...plainHttp(account, 'base_url', path)];
}

function ofChannel(channel: Mapping, path: Path): Finding[] {
  const url = channel['type'] === 'recipe' ? 'base_url' : 'url';
  const inUrl = channel['type'] === 'alertmanager' ? alertmanagerUrl(channel, path) : [];
  return [
    ...neededBy(channel).flatMap((key) => missing(channel, key, path)),
    ...plainHttp(channel, url, path),
    ...inUrl,
  ];
}

/** Keys that a channel must have, in one of their two forms. */
function neededBy({ type, format }: Mapping): readonly string[] {
  if (type === 'webhook') return format === 'alertmanager' ? ['url'] : ['url', 'secret'];
  if (type === 'recipe') return ['api_key'];
  if (type === 'pagerduty') return ['routing_key'];
  return channelTypes.some((known) => known === type) ? ['url'] : [];
}

function missing(holder: Mapping, key: string, path: Path): Finding[] {
  if (holder[key] !== undefined || holder[`${key}_file`] !== undefined) return [];
  const hint = key === 'secret' ? `; ${secretHint}` : '';
  return [finding([...path, key], `is missing: write ${key} or ${key}_file${hint}`)];
}

/** People copy the address out of a curl line. */
function alertmanagerUrl({ url }: Mapping, path: Path): Finding[] {
  if (typeof url !== 'string' || !/\/api\/v\d/.test(url)) return [];
  return [
    finding(
      [...path, 'url'],
      'must be the address of Alertmanager, such as http://127.0.0.1:9093: Warmwarden adds /api/v2/alerts',
    ),
  ];
}

/** A digest is for people: Alertmanager and recipes have no use for it. */
function ofDigest(digest: Mapping, channels: readonly Mapping[]): Finding[] {
  return strings(digest['channels']).flatMap((name, index) => {
    const path = ['alerts', 'digest', 'channels', index];
    const channel = channels.find((one) => one['name'] === name);
    if (!channel) return [finding(path, unknownChannel(name, namesOf(channels)))];
    const takes = channel['type'] === 'webhook' ? channel['format'] !== 'alertmanager' : isForPeople(channel['type']);
    return takes
      ? []
      : [
          finding(
            path,
            `${name} can't receive the digest: only slack, email, teams, discord, and webhook with format standard, can`,
          ),
        ];
  });
}

function isForPeople(type: unknown): boolean {
  return ['slack', 'email', 'teams', 'discord'].some((one) => one === type);
}

function ofHeartbeat(heartbeat: unknown): Finding[] {
  if (heartbeat === undefined) return [];
  const path = ['alerts', 'heartbeat'];
  return [...missing(mapping(heartbeat), 'url', path), ...plainHttp(mapping(heartbeat), 'url', path)];
}

function plainHttp(holder: Mapping, key: string, path: Path): Finding[] {
  const url = holder[key];
  if (typeof url !== 'string' || !isPlainHttpBeyondLoopback(url)) return [];
  if (holder['allow_http'] === true || holder['allow_http'] === 'true') return [];
  return [finding([...path, key], 'is plain http to another machine: write https, or add allow_http: true next to it')];
}

/** The rate limit belongs to the key at its API: two ledgers for one key would exceed it together. */
function sharedKeys(accounts: readonly Mapping[]): Finding[] {
  return accounts.flatMap((account, index) => {
    const first = accounts.findIndex(
      (other) => other['api_key'] === account['api_key'] && hostOf(other) === hostOf(account),
    );
    if (typeof account['api_key'] !== 'string' || first === index) return [];
    const other = accounts[first]?.['name'];
    const whose = typeof other === 'string' ? `account ${other}` : `accounts[${first}]`;
    return [
      finding(['accounts', index, 'api_key'], `is also the key of ${whose}: together they would exceed its rate limit`),
    ];
  });
}

/** Another host is another API, with a rate limit of its own. */
function hostOf({ base_url: url }: Mapping): unknown {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : url;
}

function repeats(holders: readonly Mapping[], path: Path): Finding[] {
  return holders.flatMap((holder, index) => {
    const first = holders.findIndex((other) => other['name'] === holder['name']);
    if (typeof holder['name'] !== 'string' || first === index) return [];
    return [
      finding([...path, index, 'name'], `"${holder['name']}" is also the name of ${formatPath([...path, first])}`),
    ];
  });
}

function ofRoutes(routes: readonly Mapping[], channels: readonly string[]): Finding[] {
  return routes.flatMap((route, index) =>
    strings(route['channels']).flatMap((name, position) =>
      channels.includes(name)
        ? []
        : [finding(['alerts', 'routes', index, 'channels', position], unknownChannel(name, channels))],
    ),
  );
}

function unknownChannel(name: string, channels: readonly string[]): string {
  return `there is no channel "${name}"${didYouMean(name, channels)}`;
}

function ofGuards(root: Mapping): Finding[] {
  const base = settingsOf(root['guard']);
  const found = ofGuard(base, ['guard']);
  // An override inherits what is wrong in the guard: that is one mistake, reported once.
  if (found.length > 0) return found;
  return mappings(root['accounts']).flatMap((account, index) =>
    mappings(account['overrides']).flatMap((override, position) => {
      const settings = settingsOf(override['guard']);
      const path = ['accounts', index, 'overrides', position, 'guard'];
      return ofGuard(mergeGuard(base, settings), path, settings);
    }),
  );
}

/** `here`: the settings that stand at the path itself; they decide which key is to blame. */
function ofGuard(settings: GuardSettings, path: Path, here: GuardSettings = settings): Finding[] {
  const found: Finding[] = [];
  const literal = settings.profile === 'literal';
  const days = settings.windowDays ?? defaultPolicy.windowDays;
  const most = settings.windowMaxDays ?? (literal ? literalProfile.windowMaxDays : defaultPolicy.windowMaxDays);
  if (most < days) {
    const key = here.windowMaxDays !== undefined ? 'window_max_days' : here.windowDays ? 'window_days' : 'profile';
    const origin = settings.windowMaxDays !== undefined ? '' : literal ? ', from profile literal' : ', the default';
    found.push(finding([...path, key], `window_max_days (${most}${origin}) is less than window_days (${days})`));
  }
  const { minMailboxes, maxMailboxes } = { ...defaultPolicy.breaker, ...settings.breaker };
  if (maxMailboxes < minMailboxes) {
    const message = `max_mailboxes (${maxMailboxes}) is less than min_mailboxes (${minMailboxes})`;
    found.push(finding([...path, 'breaker', here.breaker?.maxMailboxes ? 'max_mailboxes' : 'min_mailboxes'], message));
  }
  return found;
}

/** What is right in a `guard`: one wrong key must not keep the others from being compared. */
function settingsOf(tree: unknown): GuardSettings {
  return Object.entries(mapping(tree)).reduce<GuardSettings>((settings, [key, value]) => {
    const result = guardSchema.safeParse({ [key]: value });
    return result.success ? mergeGuard(settings, result.data) : settings;
  }, {});
}

function ofWords(kind: 'status_words' | 'dns_words', api: Mapping): Finding[] {
  const written = mapping(api[kind]);
  const parsed = configSchema.shape.api.safeParse({ [kind]: written });
  if (!parsed.success) return [];
  const owner = new Map<string, string>();
  return Object.entries(parsed.data[kind]).flatMap(([key, words]) =>
    words.flatMap((word) => {
      const other = owner.get(word);
      owner.set(word, key);
      if (other === undefined || other === key) return [];
      const blamed = written[key] === undefined ? other : key;
      return [
        finding(
          ['api', kind, blamed],
          `"${word}" is in both ${other} and ${key}: write both lists, with each word in only one of them`,
        ),
      ];
    }),
  );
}

function ofServer(server: Mapping): Finding[] {
  return [...openWithoutAuth(server), ...twoPrefixes(server), ...ofTls(server['tls'])];
}

/** Links in messages begin with public_url, those on the page with path_prefix. */
function twoPrefixes({ public_url: url, path_prefix: prefix }: Mapping): Finding[] {
  if (typeof url !== 'string' || typeof prefix !== 'string' || !URL.canParse(url)) return [];
  const [inUrl, wanted] = [new URL(url).pathname, prefix].map((path) => path.replace(/\/+$/, ''));
  if (inUrl === wanted) return [];
  return [finding(['server', 'path_prefix'], 'must be the path in public_url: write the same path in both')];
}

/** What OpenSSL says of a certificate and its key is not quoted: it may have parts of them. */
function ofTls(written: unknown): Finding[] {
  if (written === undefined) return [];
  const tls = mapping(written);
  const path = ['server', 'tls'];
  const absent = ['cert', 'key'].flatMap((key) => missing(tls, key, path));
  const { cert, key } = tls;
  if (typeof cert !== 'string' || typeof key !== 'string') return absent;
  try {
    createSecureContext({ cert });
  } catch {
    return [finding([...path, 'cert'], 'is not a certificate in PEM: it must begin with -----BEGIN CERTIFICATE-----')];
  }
  try {
    createSecureContext({ cert, key });
    return [];
  } catch {
    return [finding([...path, 'key'], 'is not the private key of the certificate, in PEM and without a passphrase')];
  }
}

function openWithoutAuth(server: Mapping): Finding[] {
  const parsed = configSchema.shape.server.safeParse({ listen: server['listen'] });
  if (!parsed.success || server['auth'] === 'none' || isLoopback(parsed.data.listen.host)) return [];
  if (mappings(mapping(server['auth'])['tokens']).length > 0) return [];
  const message = 'is open to other machines without a token: write auth with tokens, or auth: none';
  return [finding(['server', 'listen'], message)];
}

function fitsNothing(patterns: unknown, names: readonly string[], path: Path): Finding[] {
  const written = typeof patterns === 'string' ? [patterns] : strings(patterns);
  return written.flatMap((glob, index) =>
    names.some((name) => fitsGlob(glob, name))
      ? []
      : [
          finding(
            typeof patterns === 'string' ? path : [...path, index],
            `"${glob}" matches none${didYouMean(glob, names)}`,
          ),
        ],
  );
}

function finding(path: Path, message: string): Finding {
  return { path, at: 'value', message };
}

function mapping(value: unknown): Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {};
}

/** The items of a list, each as a mapping; what is no list has none. Places in the list are kept. */
function mappings(value: unknown): readonly Mapping[] {
  return Array.isArray(value) ? value.map(mapping) : [];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : [];
}

function namesOf(holders: readonly Mapping[]): readonly string[] {
  return holders.map((holder) => (typeof holder['name'] === 'string' ? holder['name'] : ''));
}
