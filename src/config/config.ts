// The configuration: the schema gives each key its shape, its default in the form of the file, and its meaning, and makes
// the values that the program uses. The keys of guard, rules, places and channels stand in files of their own; load.ts adds
// values that depend on the folder of the file or the environment.
import { z } from 'zod';
import { type ChannelSettings, channelSettings, digestless } from '../channels/channels.ts';
import { wordsComplaint } from '../channels/template.ts';
import { severities } from '../core/alert-rules.ts';
import { usualDnsWords } from '../core/answers.ts';
import { type Egress, isLoopback, isProxyUrl } from '../core/egress.ts';
import { tagLabel, tagParts } from '../core/mailbox.ts';
import { planLimits, planNames } from '../core/policy.ts';
import type { StorePlace } from '../core/store-failure.ts';
import { dayMs, mutedUntil, timeOfDayMs, weekdays } from '../core/time.ts';
import {
  baseUrl,
  checked,
  cron,
  duration,
  durationOrNever,
  hostName,
  isContext,
  label,
  listen,
  network,
  pattern,
  publicUrl,
  refuse as refuseValue,
  serviceUrl,
  share,
  timeZone,
  truth,
  whole,
} from '../world/schema/scalars.ts';
import {
  group,
  keyed,
  oneOf,
  optional,
  orNull,
  plainHttp,
  privateAuthority,
  refuseEmpty,
  type SectionRule,
  secret,
  section,
  wordOrWords,
} from '../world/schema/section.ts';
import { auth } from './access-schema.ts';
import { guardSchema } from './guard-schema.ts';
import { recipes, retention, storeSchema } from './places.ts';
import { rulesSchema } from './rules-schema.ts';

export const keyPrefix = 'sk_live_';
const apiKey = checked((key) => {
  const isWhole = /^[\x21-\x7e]{1,512}$/.test(key) && key !== keyPrefix && !key.startsWith('$');
  return !isWhole && 'must be the whole key, without spaces, line breaks or non-ASCII characters';
});

/** Address of an API in one canonical spelling. */
const apiUrl = baseUrl((url) => {
  if (!/\/v1$/i.test(url)) return new URL(url).href.replace(/\/+$/, '');
  const wanted = url.replace(/(\/v1)+$/i, '');
  return { wrong: `must not end in /v1, because every path already begins with /v1: write ${wanted}` };
});

const tag = checked((written) => {
  const isTag = /^[A-Za-z0-9][\w.-]{0,63}(=[A-Za-z0-9][\w.-]{0,63})?$/.test(written);
  return !isTag && `"${written}" is not a tag: write a word, such as vip, or a key and its value: client=north`;
});
/** Output: `vip` or `client=north`, with each name once. */
const tags = () =>
  z
    .union([
      z.array(tag),
      z.record(label(), label()).transform((pairs) => Object.entries(pairs).map((pair) => pair.join('='))),
    ])
    .superRefine((all, context) => {
      const names = all.map((one) => tagParts(one)[0]);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined) refuseValue(context, `has ${twice} twice: a mailbox has one value of each tag`);
      if (all.length > 20) refuseValue(context, 'has more than 20 tags');
    });

const override = section({
  match: pattern().describe('A glob on the address, or an id.'),
  tags: optional(tags(), 'More tags. Later values win.'),
  guard: guardSchema.optional().describe('The guard settings that differ.'),
}).transform(({ match, tags: more = [], guard = {} }) => ({ match, tags: more, guard }));
export type GuardOverride = z.output<typeof override>;

const account = section(
  {
    name: label().describe('Its name in logs, metrics and alerts.'),
    baseUrl: apiUrl.describe('The address of the API of the warm-up service, without /v1.'),
    apiKey: secret(apiKey.describe('The key of the API of the warm-up service. It must be able to read and write.')),
    plan: optional(oneOf(planNames), 'The rate limit: 100 requests a minute, or 500.', 'pro'),
    requestsPerMinute: optional(whole(1, 100_000), 'The rate limit as a number, instead of plan.'),
    headroomPpm: keyed(share(0, 900_000), '3%', 'Share of the rate limit for your other tools.'),
    tags: keyed(tags(), [], 'Words, or keys with values: {client: north}.'),
    mailboxes: group('Which mailboxes Warmwarden guards.', {
      include: keyed(z.array(pattern()).min(1), ['*'], 'Globs on the address, or ids.'),
      exclude: keyed(z.array(pattern()), [], 'Globs on the address, or ids. They win over include.'),
    }),
    overrides: keyed(
      z.array(override),
      [],
      'Other settings for some mailboxes. All that match apply, and later ones win.',
    ),
    allowHttp: plainHttp(),
    ca: privateAuthority(),
  },
  (keys, refuse) => {
    if (keys['plan'] !== undefined && keys['requests_per_minute'] !== undefined)
      refuse('requests_per_minute', 'write either plan or requests_per_minute, not both');
  },
).transform(({ plan = 'pro', requestsPerMinute = planLimits[plan], ...keys }) => ({
  ...keys,
  requestsPerMinute,
}));

/** Alertmanager's names of labels have no dots and dashes, so it could not tell some tags apart. */
function refuseLikeTags(accounts: readonly z.output<typeof account>[], context: z.RefinementCtx): void {
  const owners = new Map<string, string>();
  for (const [index, { tags, overrides }] of accounts.entries())
    for (const [name] of [...tags, ...overrides.flatMap((one) => one.tags)].map(tagParts)) {
      const owner = owners.get(tagLabel(name)) ?? name;
      owners.set(tagLabel(name), owner);
      const message = `its tag "${name}" would be the same label in Alertmanager as "${owner}", ${tagLabel(name)}: rename one`;
      if (owner !== name) context.addIssue({ code: 'custom', path: [index], message });
    }
}

const poll = section({
  health: keyed(cron(), '* * * * *', 'Whether the API answers.'),
  mailboxes: keyed(cron(), '* * * * *', 'The mailbox list: one request for all mailboxes.'),
  stats: keyed(cron(), '*/15 * * * *', 'The daily counts, on which the guard decides.'),
  warmup: keyed(cron(), '*/30 * * * *', 'The warm-up mode and status.'),
  mailbox: keyed(cron(), '29 */6 * * *', 'The connection error.'),
  dns: keyed(cron(), '17 */6 * * *', 'SPF, DKIM and DMARC.'),
  blacklist: keyed(cron(), '41 */6 * * *', 'Blacklists.'),
  statsIntervalMinMs: keyed(
    duration(),
    '60s',
    'With extra polls, the list and the stats are read sooner, at most this often. 0s: never.',
  ),
  spareSharePpm: keyed(
    share(0, 1_000_000),
    '50%',
    'The most that extra polls take of the rate limit; none for 10 minutes after a 429. Below 10%: 10%. 0%: none.',
  ),
});

/** Mailboxes, for a route or a digest. */
const ofMailboxes = {
  account: optional(wordOrWords(pattern()), 'Accounts.'),
  tag: optional(wordOrWords(pattern()), 'Tags: client=north.'),
  provider: optional(wordOrWords(pattern()), 'Providers.'),
  domain: optional(wordOrWords(pattern()), 'Domains.'),
  mailbox: optional(wordOrWords(pattern()), 'Addresses.'),
};

const digest = section({
  match: group('Which mailboxes: account, tag, provider, domain and mailbox, as in routes.', ofMailboxes, refuseEmpty),
  at: keyed(cron(), '0 8 * * *', 'When the digest is sent.'),
  timeZone: keyed(timeZone(), 'UTC', 'The time zone of the digest.'),
  channels: z.array(z.string()).min(1).describe(`Names of channels. No digest goes to ${digestless}.`),
});
const heartbeat = section({
  url: secret(serviceUrl().describe('The address that Warmwarden requests (GET). Treated as a secret.')),
  intervalMs: keyed(duration(10_000), '1m', 'How often Warmwarden requests it.'),
  allowHttp: plainHttp(),
});

const timeOfDay = () =>
  z
    .string({ error: 'must be a time of day in quotes, such as "20:00"' })
    .regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time of day, such as 20:00')
    .transform(timeOfDayMs);

const muteTime = section({
  name: label().describe('Its name in routes.'),
  timeZone: timeZone().describe('The time zone of its windows: an IANA name, such as Europe/Berlin.'),
  weekly: z
    .array(
      section({
        days: optional(z.array(oneOf(weekdays)).min(1), 'The days on which it begins. Default: all.'),
        fromMs: optional(timeOfDay(), 'When it begins. Default: 00:00.'),
        untilMs: optional(timeOfDay(), 'When it ends: a day later unless it is after from. Default: 24:00.'),
      }),
    )
    .min(1)
    .describe('Windows of each week.'),
}).superRefine((mute, context) => {
  if ((mutedUntil(mute, anyMoment) ?? 0) - anyMoment > 7 * dayMs)
    refuseValue(context, 'covers the whole week: leave a gap, or no message would ever be sent');
});
/** A moment without a change of clocks in the week after it. */
const anyMoment = Date.UTC(2026, 0, 1);

const route = section(
  {
    match: group(
      'Which alerts: globs. All must match.',
      {
        severity: optional(wordOrWords(oneOf(severities)), 'One or several severities.'),
        rule: optional(wordOrWords(pattern()), 'Rules.'),
        ...ofMailboxes,
      },
      refuseEmpty,
    ),
    channels: z.array(z.string()).min(1).describe('Names of channels.'),
    unlessResolvedAfterMs: optional(
      duration(1_000),
      'Its channels get only alerts that still fire after this time. Never events.',
    ),
    unlessAcknowledgedAfterMs: optional(
      duration(1_000),
      'Its channels get only alerts that still fire after this time without an acknowledgement. Never events.',
    ),
    mute: optional(
      z.array(z.string()),
      'Names of mute times, in which the route sends nothing. What happens then is summed up at the end.',
    ),
    muteCritical: optional(truth(), 'true: the mute times apply to critical alerts, too.'),
  },
  (keys, refuse) => {
    if (keys['unless_resolved_after'] !== undefined && keys['unless_acknowledged_after'] !== undefined)
      refuse('unless_acknowledged_after', 'write either unless_resolved_after or unless_acknowledged_after, not both');
  },
);

export type RouteConfig = z.output<typeof route>;

const template = section(
  {
    rule: keyed(pattern(), '*', 'A glob on the rule.'),
    title: optional(z.string(), 'The title of an alert, as a Mustache template.', '{{title}}'),
    text: optional(z.string(), 'The text of an alert, as a Mustache template. A line is a sentence.', '{{text}}'),
  },
  (keys, refuse) => {
    for (const key of ['title', 'text']) {
      const wrong = wordsComplaint(keys[key], keys['rule'] ?? '*');
      if (wrong !== null) refuse(key, wrong);
    }
  },
);

const alerts = section({
  channels: keyed(z.array(channelSettings), [], 'Where alerts are sent.'),
  routes: keyed(
    z.array(route),
    [],
    'Which alerts go to which channels. Without routes, every channel except recipes gets warning and critical.',
  ),
  templates: keyed(z.array(template), [], 'Your own title and text of alerts. Later ones win.'),
  muteTimes: keyed(z.array(muteTime), [], 'Hours in which routes send no messages. Warmwarden keeps guarding.'),
  groupWaitMs: keyed(duration(), '30s', 'How long the first message of a group waits for more alerts.'),
  groupIntervalMs: keyed(
    duration(1_000),
    '5m',
    'The shortest time between two messages about a group. A critical event, such as a pause, waits a minute at most.',
  ),
  repeatIntervalMs: group('How often a firing alert is repeated.', {
    critical: keyed(durationOrNever(), '4h', 'For critical alerts.'),
    warning: keyed(durationOrNever(), '24h', 'For warnings.'),
    info: keyed(durationOrNever(), 'never', 'For alerts of severity info.'),
  }),
  timeZone: keyed(
    timeZone(),
    'UTC',
    'The time zone of messages, commands and page: an IANA name, such as Europe/Berlin.',
  ),
  digests: keyed(z.array(digest), [], 'Daily summaries.'),
  heartbeat: orNull(heartbeat, "A dead man's switch: pinged while Warmwarden guards."),
  rules: keyed(rulesSchema, {}, 'Switch, severity, delay and thresholds of each rule.'),
}).transform(({ routes, timeZone, rules, ...keys }) => ({
  ...keys,
  routes: routes.length > 0 ? routes : defaultRoutes(keys.channels),
  rules: { ...rules, timeZone },
}));

/** Default routes, without recipes: a recipe takes action, so only a written route leads to it. */
function defaultRoutes(channels: readonly ChannelSettings[]): readonly RouteConfig[] {
  if (channels.length === 0) return [];
  const names = channels.filter(({ type }) => type !== 'recipe').map(({ name }) => name);
  return [{ match: { severity: ['critical', 'warning'] }, channels: names }];
}

const apiWords = z.array(z.string().min(1).toLowerCase());
/** Refuses a word in more than one list, since a word has one meaning. */
function oneListAWord(...[lists, refuse]: Parameters<SectionRule>): void {
  const owner = new Map<string, string>();
  for (const [key, words] of Object.entries(lists))
    for (const word of Array.isArray(words) ? words.map(String) : []) {
      const other = owner.get(word) ?? key;
      owner.set(word, key);
      if (other !== key)
        refuse(key, `"${word}" is in both ${other} and ${key}: write both lists, with each word in only one of them`);
    }
}

const api = section({
  statusWords: group(
    "The API's words for the status of a warm-up, in any case.",
    {
      paused: keyed(apiWords, ['paused', 'pause', 'on_hold', 'stopped'], 'The warm-up is paused.'),
      running: keyed(
        apiWords,
        ['active', 'running', 'warming', 'warming_up', 'in_progress', 'started', 'ok'],
        'The warm-up runs.',
      ),
      notRunning: keyed(
        apiWords,
        ['not_started', 'finished', 'completed', 'done', 'suspended', 'inactive', 'disabled', 'pending'],
        'The warm-up is not running, but not paused.',
      ),
    },
    oneListAWord,
  ),
  dnsWords: group(
    "The API's words for a DNS record, in any case.",
    {
      passing: keyed(apiWords, [...usualDnsWords.passing], 'The record passes.'),
      failing: keyed(apiWords, [...usualDnsWords.failing], 'The record fails. Unlisted words count as failing.'),
      unclear: keyed(apiWords, [...usualDnsWords.unclear], 'Unknown: no alert fires, and none ends.'),
    },
    oneListAWord,
  ),
});

const tls = section(
  {
    cert: secret(z.string().describe('The certificate with its chain (PEM).')),
    key: secret(z.string().describe('The private key (PEM), without a passphrase.')),
  },
  ({ cert, key }, refuse) => {
    if (typeof cert !== 'string' || typeof key !== 'string') return;
    // OpenSSL's message is not quoted, since it may contain parts of a certificate or its key.
    if (!isContext({ cert }))
      refuse('cert', 'is not a certificate in PEM: it must begin with -----BEGIN CERTIFICATE-----');
    else if (!isContext({ cert, key }))
      refuse('key', 'is not the private key of the certificate, in PEM and without a passphrase');
  },
);

const server = section(
  {
    listen: keyed(listen(), '127.0.0.1:7025', 'host:port of page, metrics and health.'),
    publicUrl: orNull(
      publicUrl(),
      'The address for the links in messages. A reverse proxy serves the page below its path. Default: the address in listen.',
    ),
    trustedProxies: keyed(
      z.array(network()),
      [],
      'Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto Warmwarden trusts.',
    ),
    allowedHosts: keyed(
      z.array(hostName()),
      [],
      'Without tokens: more host names of this server, such as its service in Compose.',
    ),
    tls: orNull(tls, 'Serves https instead of http. Changed files are read again.'),
    auth: optional(auth, 'Required if listen is not a loopback address.', 'none'),
  },
  (keys, refuse) => {
    const { listen: at, auth: access } = keys;
    const { tokens, proxyHeader: byProxy } = (access ?? {}) as Partial<Exclude<z.output<typeof auth>, 'none'>>;
    if (tokens?.length === 0 && byProxy === null) refuse('auth', 'must be none, or have tokens or proxy_header');
    const host = (at as Partial<z.output<typeof server>> | undefined)?.host;
    if (access === undefined && typeof host === 'string' && !isLoopback(host))
      refuse('listen', 'is open to other machines without a token: write auth with tokens, or auth: none');
  },
).transform(({ listen: at, auth: access, ...keys }) => ({
  ...keys,
  ...at,
  pathPrefix: keys.publicUrl === null ? '' : new URL(keys.publicUrl).pathname.replace(/\/+$/, ''),
  auth: access ?? ('none' as const),
}));

const proxyWanted =
  'must be none, or the address of an HTTP proxy, such as http://proxy.example.com:3128; a % in its user name or password is written as %25';
const proxy = checked((value) => value !== 'none' && !isProxyUrl(value) && proxyWanted);

const alertsKey = keyed(alerts, {}, 'Where alerts are sent, and how often.');
const proxyKey = secret(
  optional(
    proxy,
    'The HTTP proxy for requests to other services: http://USER:PASSWORD@HOST:PORT, or none. Default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY.',
  ),
);

export const alertsWithProxy = section({ alerts: alertsKey, proxy: proxyKey });

export const configSchema = section({
  include: optional(
    wordOrWords(z.string().min(1)),
    'Other files with more of the configuration: a glob relative to this file, such as conf.d/*.yaml, or a list.',
  ),
  accounts: z
    .array(account)
    .min(1, 'has no account: there is nothing to guard')
    .superRefine(refuseLikeTags)
    .describe('One API key each.'),
  poll: keyed(poll, {}, 'When each kind of data is due at the latest.'),
  guard: keyed(guardSchema, {}, 'When to act, and how.'),
  api: keyed(api, {}, "How Warmwarden reads the API's answers."),
  alerts: alertsKey,
  store: keyed(storeSchema, {}, 'Where Warmwarden keeps its data.'),
  server: keyed(server, {}, 'Page, metrics and health over HTTP.'),
  log: group('The log, on standard output.', {
    level: keyed(oneOf(['silent', 'error', 'warn', 'info', 'debug']), 'info', 'The least severe level that is logged.'),
    format: keyed(oneOf(['json', 'pretty']), 'json', 'json, or pretty for people.'),
  }),
  metrics: group('What GET /metrics shows.', {
    mailboxLabel: keyed(oneOf(['email', 'id']), 'email', 'The value of the label mailbox.'),
  }),
  proxy: proxyKey,
  recipes: keyed(recipes, {}, 'Saved questions about the fleet.'),
  retention: keyed(
    retention,
    {},
    'How long history is kept, 1d to 3650d. Actions and commands: five years, or longer if one of these is.',
  ),
});
export type CheckedFile = z.output<typeof configSchema>;

/** Configuration with the additions of load.ts: egress, guard settings of each account, absolute paths. */
export type Config = Omit<CheckedFile, 'accounts' | 'alerts' | 'store' | 'guard' | 'proxy'> & {
  readonly accounts: readonly AccountConfig[];
  readonly alerts: AlertsConfig;
  readonly store: StorePlace;
};
export type AccountConfig = CheckedFile['accounts'][number] & {
  readonly guard: GuardSettings;
  readonly egress: Egress;
};
export type GuardSettings = CheckedFile['guard'];
export type AlertsConfig = Omit<CheckedFile['alerts'], 'channels' | 'heartbeat'> & {
  readonly channels: readonly ChannelConfig[];
  readonly heartbeat: (NonNullable<CheckedFile['alerts']['heartbeat']> & { readonly egress: Egress }) | null;
};
export type ChannelConfig = ChannelSettings & { readonly egress: Egress };
