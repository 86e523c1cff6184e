// Rules between sections. They read the unchecked tree, so that they apply even if something else is wrong.
import { takesDigest } from '../channels/channels.ts';
import { didYouMean } from '../core/nearest.ts';
import { defaultPolicy, literalProfile } from '../core/policy.ts';
import { type Finding, formatPath, type Path } from '../world/schema/problem.ts';
import type { GuardSettings } from './config.ts';
import { guardSchema } from './guard-schema.ts';
import { mergeGuard } from './mailbox-rules.ts';

type RawMapping = Readonly<Record<string, unknown>>;

/** Mistakes between two sections. */
export function inconsistencies(tree: unknown): Finding[] {
  const root = mapping(tree);
  const alerts = mapping(root['alerts']);
  const channels = mappings(alerts['channels']);
  return [
    ...sharedKeys(mappings(root['accounts'])),
    ...repeats(mappings(root['accounts']), ['accounts']),
    ...repeats(channels, ['alerts', 'channels']),
    ...repeats(mappings(mapping(root['recipes'])['api_keys']), ['recipes', 'api_keys']),
    ...ofRoutes(mappings(alerts['routes']), namesOf(channels)),
    ...ofDigest(mapping(alerts['digest']), channels),
    ...ofGuards(root),
  ];
}

/** Mistakes of the digest. It is for people: Alertmanager and recipes have no use for it. */
function ofDigest(digest: RawMapping, channels: readonly RawMapping[]): Finding[] {
  return strings(digest['channels']).flatMap((name, index) => {
    const path = ['alerts', 'digest', 'channels', index];
    const channel = channels.find((one) => one['name'] === name);
    if (!channel) return [finding(path, unknownChannel(name, namesOf(channels)))];
    if (takesDigest(channel)) return [];
    const only = 'only slack, email, teams, discord, and webhook with format standard, can';
    return [finding(path, `${name} can't receive the digest: ${only}`)];
  });
}

/**
 * Keys that two accounts share. The rate limit belongs to the key at its API: two ledgers for one key would exceed it
 * together.
 */
function sharedKeys(accounts: readonly RawMapping[]): Finding[] {
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

/** Host of an account's API. Another host is another API, with a rate limit of its own. */
function hostOf({ base_url: url }: RawMapping): unknown {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : url;
}

function repeats(holders: readonly RawMapping[], path: Path): Finding[] {
  return holders.flatMap((holder, index) => {
    const first = holders.findIndex((other) => other['name'] === holder['name']);
    if (typeof holder['name'] !== 'string' || first === index) return [];
    return [
      finding([...path, index, 'name'], `"${holder['name']}" is also the name of ${formatPath([...path, first])}`),
    ];
  });
}

function ofRoutes(routes: readonly RawMapping[], channels: readonly string[]): Finding[] {
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

function ofGuards(root: RawMapping): Finding[] {
  const base = settingsOf(root['guard']);
  const found = ofGuard(base, ['guard']);
  // An override inherits mistakes of the guard, so each of these is reported once.
  if (found.length > 0) return found;
  return mappings(root['accounts']).flatMap((account, index) =>
    mappings(account['overrides']).flatMap((override, position) => {
      const settings = settingsOf(override['guard']);
      const path = ['accounts', index, 'overrides', position, 'guard'];
      return ofGuard(mergeGuard(base, settings), path, settings);
    }),
  );
}

/** Mistakes in the settings of a guard. `here`: the settings at the path itself; they decide which key is to blame. */
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

/** Valid settings of a `guard`: one wrong key must not keep the others from being compared. */
function settingsOf(tree: unknown): GuardSettings {
  return Object.entries(mapping(tree)).reduce<GuardSettings>((settings, [key, value]) => {
    const result = guardSchema.safeParse({ [key]: value });
    return result.success ? mergeGuard(settings, result.data) : settings;
  }, {});
}

function finding(path: Path, message: string): Finding {
  return { path, at: 'value', message };
}

function mapping(value: unknown): RawMapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawMapping) : {};
}

/** Items of a list, each as a mapping, with their places kept; empty if the value is not a list. */
function mappings(value: unknown): readonly RawMapping[] {
  return Array.isArray(value) ? value.map(mapping) : [];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : [];
}

function namesOf(holders: readonly RawMapping[]): readonly string[] {
  return holders.map((holder) => (typeof holder['name'] === 'string' ? holder['name'] : ''));
}
