// The configuration file: every key with its shape, its default as the file would write it, and what it means.
// Rules between keys stand in consistency.ts; keys that are refused because no code serves them yet, in `later` lists.
import { z } from 'zod';
import { severities } from '../core/alert.ts';
import { usualDnsWords } from '../core/answers.ts';
import { dayMs } from '../core/time.ts';
import { channel } from './channel-schema.ts';
import { guardSchema } from './guard-schema.ts';
import { rulesSchema } from './rules-schema.ts';
import {
  cron,
  duration,
  durationOrNever,
  hostName,
  label,
  listen,
  network,
  pathPrefix,
  pattern,
  publicUrl,
  share,
  shareOrAuto,
  timeZone,
  whole,
} from './scalars.ts';
import { apiKey, baseUrl, channelUrl, privateAuthority, proxy, tokenDigest } from './secrets.ts';
import { hidden, keyed, oneOf, optional, plainHttp, secret, secretKeysIn, section, wordOrWords } from './section.ts';
import { storeSchema } from './store-schema.ts';

const tags = () => z.array(label()).max(20, 'has more than 20 tags');

const account = section({
  name: label().describe('Its name in logs, metrics and alerts.'),
  base_url: baseUrl().describe('The address of the mailbox API, without /v1: every path begins with it.'),
  ...secret('api_key', optional(apiKey(), undefined, 'The key of the mailbox API, with read and write permission.')),
  plan: optional(oneOf(['pro', 'enterprise']), 'pro', 'The rate limit: pro is 100 requests a minute, enterprise 500.'),
  requests_per_minute: optional(whole(1, 100_000), undefined, 'The rate limit in numbers, instead of plan.'),
  headroom: keyed(
    shareOrAuto(0, 900_000),
    'auto',
    'Share of the rate limit that Warmwarden leaves to your other tools. auto: 3%, and 10% for 24 hours after something else used the key.',
  ),
  tags: keyed(tags(), [], 'Words by which the page groups and finds the mailboxes of the account.'),
  mailboxes: keyed(
    section({
      include: keyed(z.array(pattern()).min(1), ['*'], 'Globs on the address, or ids.'),
      exclude: keyed(z.array(pattern()), [], 'Globs on the address, or ids; exclude wins over include.'),
    }),
    {},
    'Which mailboxes of the account Warmwarden guards.',
  ),
  overrides: keyed(
    z.array(
      section({
        match: pattern().describe('A glob on the address, or an id.'),
        tags: optional(tags(), undefined, 'Tags of these mailboxes, beside those of the account.'),
        guard: guardSchema.optional().describe('The guard settings that differ for these mailboxes.'),
      }),
    ),
    [],
    'Different guard settings, and more tags, for some mailboxes. All that match apply; later ones win.',
  ),
  allow_http: plainHttp(),
  ...secret('ca', privateAuthority()),
});

const poll = section({
  health: keyed(cron(), '* * * * *', 'Whether the API answers.'),
  mailboxes: keyed(cron(), '* * * * *', 'The list of mailboxes: one request for the whole fleet.'),
  stats: keyed(cron(), '*/15 * * * *', 'The daily counts of a mailbox, on which the guard decides.'),
  warmup: keyed(cron(), '*/30 * * * *', 'The warm-up mode and status of a mailbox.'),
  mailbox: keyed(cron(), '29 */6 * * *', 'The details of a mailbox, with its connection error.'),
  dns: keyed(cron(), '17 */6 * * *', 'SPF, DKIM and DMARC.'),
  blacklist: keyed(cron(), '41 */6 * * *', 'Blacklists.'),
  stats_interval_min: keyed(
    duration(),
    '60s',
    'Spare requests read the list and the stats sooner, the riskiest mailboxes first, each at most this often; 0s: never.',
  ),
  spare_share: keyed(
    share(0, 1_000_000),
    '50%',
    'Spare requests, beyond what the cadence needs, take at most this share of the rate limit (below 10%: 10%), and none for ten minutes after a 429; 0%: none.',
  ),
});

const digest = section({
  at: keyed(cron(), '0 8 * * *', 'When, as cron in the time zone.'),
  time_zone: keyed(
    timeZone(),
    'UTC',
    'For the cron expression and the times in the digest: an IANA name, such as Europe/Berlin.',
  ),
  channels: z
    .array(z.string())
    .min(1)
    .describe('Names of channels: slack, email, teams, discord, and webhook with format standard.'),
});
const heartbeat = section({
  ...secret(
    'url',
    optional(
      channelUrl(),
      undefined,
      'Warmwarden requests this URL (GET) while everything works. Treated as a secret.',
    ),
  ),
  interval: keyed(duration(10_000), '1m', 'How often.'),
  allow_http: plainHttp(),
});

const route = section({
  match: keyed(
    section({
      severity: optional(wordOrWords(oneOf(severities)), undefined, 'critical, warning, info.'),
      account: optional(wordOrWords(pattern()), undefined, 'Globs on the name of the account.'),
      rule: optional(wordOrWords(pattern()), undefined, 'Globs on the name of the alert rule.'),
      mailbox: optional(wordOrWords(pattern()), undefined, 'Globs on the address.'),
    }),
    {},
    'Which alerts; all keys that you write must match.',
  ),
  channels: z.array(z.string()).min(1).describe('Names of channels.'),
});

const alerts = section({
  channels: keyed(z.array(channel), [], 'Where alerts are sent.'),
  routes: keyed(
    z.array(route),
    [],
    'Which alerts go to which channels. Without routes, every channel except recipes gets warning and critical.',
  ),
  group_wait: keyed(duration(), '30s', 'How long a first message waits for others of its group.'),
  group_interval: keyed(duration(1_000), '5m', 'How long until the next message about a group that changed.'),
  repeat_interval: keyed(
    section({
      critical: keyed(durationOrNever(), '4h', 'For critical alerts.'),
      warning: keyed(durationOrNever(), '24h', 'For warnings.'),
      info: keyed(durationOrNever(), 'never', 'For alerts of severity info.'),
    }),
    {},
    'How often an alert that is still firing is repeated: a duration, or never.',
  ),
  time_zone: keyed(
    timeZone(),
    'UTC',
    'The time zone of messages, commands and the sentences of the page: an IANA name, such as Europe/Berlin.',
  ),
  digest: optional(digest, undefined, 'A daily summary: actions, risks, what is unknown, and undelivered messages.'),
  heartbeat: optional(heartbeat, undefined, "A dead man's switch: Warmwarden pings it while it is guarding."),
  rules: keyed(rulesSchema, {}, 'Each alert rule: on or off, its severity, its delay and its thresholds.'),
});

const statusWords = z.array(z.string().min(1).toLowerCase());
const api = section({
  status_words: keyed(
    section({
      paused: keyed(statusWords, ['paused', 'pause', 'on_hold', 'stopped'], 'The warm-up is paused.'),
      running: keyed(
        statusWords,
        ['active', 'running', 'warming', 'warming_up', 'in_progress', 'started', 'ok'],
        'The warm-up runs.',
      ),
      not_running: keyed(
        statusWords,
        ['not_started', 'finished', 'completed', 'done', 'suspended', 'inactive', 'disabled', 'pending'],
        'The warm-up is not running, for a reason other than a pause.',
      ),
    }),
    {},
    "The API's words for the status of a warm-up, in upper or lower case.",
  ),
  dns_words: keyed(
    section({
      passing: keyed(statusWords, [...usualDnsWords.passing], 'The record passes.'),
      failing: keyed(
        statusWords,
        [...usualDnsWords.failing],
        'It does not. A word that is in no list counts as such, too.',
      ),
      unclear: keyed(statusWords, [...usualDnsWords.unclear], 'It is not known: no alert fires, and none ends.'),
    }),
    {},
    "The API's words for the status of a DNS record, in upper or lower case.",
  ),
});

const token = section({
  name: label().describe('The name of its owner.'),
  sha256: hidden(
    tokenDigest('--role ROLE').describe(
      'The SHA-256 of the token, in hex: `warmwarden token new NAME --role ROLE` prints both.',
    ),
  ),
  role: oneOf(['viewer', 'operator', 'scraper']).describe('What it may do.'),
});
const tls = section({
  ...secret('cert', optional(z.string(), undefined, 'The certificate with its chain, as PEM.')),
  ...secret('key', optional(z.string(), undefined, 'The private key, as PEM, without a passphrase.')),
});
const server = section({
  listen: keyed(listen(), '127.0.0.1:7025', 'host:port of page, metrics and health.'),
  public_url: optional(
    publicUrl(),
    undefined,
    'The address at which people open the page, for the links in messages. Default: the address in listen.',
  ),
  path_prefix: optional(
    pathPrefix(),
    undefined,
    'The path below which a reverse proxy serves the page, such as /warmwarden. Default: the path in public_url.',
  ),
  trusted_proxies: keyed(
    z.array(network()),
    [],
    'Addresses or networks of reverse proxies. Warmwarden trusts X-Forwarded-For and X-Forwarded-Proto only from these.',
  ),
  allowed_hosts: keyed(
    z.array(hostName()),
    [],
    'Without tokens: further names by which this server may be asked, such as the name of its service in Compose.',
  ),
  tls: optional(tls, undefined, 'Serve https instead of http. Warmwarden reads the files again when they change.'),
  auth: optional(
    z.union([z.literal('none'), section({ tokens: z.array(token).min(1).describe('Who has access.') })], {
      error: (issue) => (issue.code === 'invalid_union' ? 'must be none, or tokens with a list' : undefined),
    }),
    'none',
    'none, or tokens. If listen is not a loopback address, you must write one of the two.',
  ),
});

const askersKey = section({
  name: label().describe('The name of its owner.'),
  sha256: hidden(
    tokenDigest('--recipe-key').describe(
      'The SHA-256 of the key, in hex: `warmwarden token new NAME --recipe-key` prints both.',
    ),
  ),
  plan: oneOf(['pro', 'cloud', 'agency']).describe('Requests a minute: 60, 600 or 6,000.'),
  role: oneOf(['viewer', 'operator']).describe('An operator may also apply recipes that change mailboxes.'),
});
const recipes = section({
  directory: keyed(
    z.string().min(1),
    './recipes',
    'A folder with recipes of your own, relative to the folder of this file.',
  ),
  api_keys: keyed(
    z.array(askersKey),
    [],
    'Who may run recipes over HTTP, below /v1. Without keys, HTTP has no recipes.',
  ),
});

/** Input: the tree of the file, with the environment put in. Output: what build.ts makes a Config of. */
/** History may be kept longer than anything else lasts. */
const kept = () => duration(dayMs, 3_650 * dayMs);

export const configSchema = section({
  accounts: z.array(account).min(1, 'has no account: there is nothing to guard').describe('One API key each.'),
  poll: keyed(
    poll,
    {},
    'When each kind of data is due at the latest: cron in UTC, with an optional leading seconds field.',
  ),
  guard: keyed(guardSchema, {}, 'When to act, and how.'),
  api: keyed(api, {}, "How Warmwarden reads the API's answers."),
  alerts: keyed(alerts, {}, 'Where alerts are sent, and how often.'),
  store: keyed(storeSchema, {}, 'Where Warmwarden keeps its data.'),
  server: keyed(server, {}, 'Page, metrics and health over HTTP.'),
  log: keyed(
    section({
      level: keyed(
        oneOf(['silent', 'error', 'warn', 'info', 'debug']),
        'info',
        'The least severe level that is logged.',
      ),
      format: keyed(oneOf(['json', 'pretty']), 'json', 'json, or pretty for people.'),
    }),
    {},
    'The log, on standard output.',
  ),
  metrics: keyed(
    section({
      mailbox_label: keyed(oneOf(['email', 'id']), 'email', 'The value of the label mailbox.'),
      series_limit: keyed(
        whole(1_000, 100_000_000),
        5_000_000,
        'The maximum number of mailbox series; a mailbox has up to 49.',
      ),
    }),
    {},
    'What GET /metrics shows.',
  ),
  ...secret(
    'proxy',
    optional(
      proxy(),
      undefined,
      'The HTTP proxy for all requests to other services: http://USER:PASSWORD@HOST:PORT, or none. Default: what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say.',
    ),
  ),
  recipes: keyed(recipes, {}, 'Saved questions about the fleet.'),
  retention: keyed(
    section({
      decisions: keyed(kept(), '400d', 'What the guard decided. The newest decision on each mailbox is always kept.'),
      deliveries: keyed(kept(), '90d', 'Messages that were sent. What is pending or undelivered is always kept.'),
      changes: keyed(kept(), '400d', 'What others changed in the settings of a mailbox.'),
      observations: keyed(kept(), '90d', "The API's answers about a removed mailbox, from its removal on."),
      runs: keyed(kept(), '90d', 'Runs of recipes, with their rows.'),
      departed: keyed(
        kept(),
        '400d',
        'Removed mailboxes, from their removal on: until then, one that returns is recognized.',
      ),
    }),
    {},
    'How long history is kept, 1d to 3650d. Actions and operator commands are kept for five years, or longer if one of these is.',
  ),
});
export type CheckedFile = z.output<typeof configSchema>;

/** Keys that the schema marks as secret. */
export const secretKeys: ReadonlySet<string> = new Set(secretKeysIn(configSchema));
