// The configuration file: every key with its shape, its default as the file would write it, and what it means.
// Rules between keys stand in consistency.ts; keys that are refused because no code serves them yet, in `later` lists.
import { z } from 'zod';
import { severities } from '../model/alert.ts';
import { guardSchema } from './guard-schema.ts';
import { rulesSchema } from './rules-schema.ts';
import {
  cron,
  duration,
  durationOrNever,
  label,
  listen,
  pattern,
  publicUrl,
  share,
  timeZone,
  truth,
  whole,
} from './scalars.ts';
import { apiKey, baseUrl, channelUrl, recipeBaseUrl, recipeKey, secretHint, webhookSecret } from './secrets.ts';
import { keyed, notOneOf, oneOf, optional, section } from './section.ts';
import { tokenDigest } from './token-digest.ts';

const plainHttp = () => keyed(truth(), false, 'Accept plain http to another machine.');
const secretFile = (key: string) => optional(z.string(), undefined, `A file that holds ${key} instead.`);

const account = section({
  name: label().describe('What logs, metrics and alerts call it.'),
  base_url: baseUrl().describe('Where the mailbox API is; without /v1, because every path begins with it.'),
  api_key: optional(apiKey(), undefined, 'The key of the mailbox API, with read and write permission.'),
  api_key_file: secretFile('api_key'),
  plan: optional(oneOf(['pro', 'enterprise']), 'pro', 'The rate limit: pro is 100 requests a minute, enterprise 500.'),
  requests_per_minute: optional(whole(1, 100_000), undefined, 'The rate limit in numbers, instead of plan.'),
  headroom: keyed(share(0, 900_000), '10%', "Share of the rate limit that is left to the user's other tools."),
  mailboxes: keyed(
    section({
      include: keyed(z.array(pattern()).min(1), ['*'], 'Globs on the address, or ids.'),
      exclude: keyed(z.array(pattern()), [], 'Globs on the address, or ids; they win over include.'),
    }),
    {},
    'Which mailboxes of the account are guarded.',
  ),
  overrides: keyed(
    z.array(
      section({
        match: pattern().describe('A glob on the address, or an id.'),
        guard: guardSchema.describe('Keys of guard that differ for these mailboxes.'),
      }),
    ),
    [],
    'Other guard settings for some mailboxes. All that match apply, later ones win.',
  ),
  allow_http: plainHttp(),
});

const poll = section({
  health: keyed(cron(), '* * * * *', 'Whether the API answers.'),
  mailboxes: keyed(cron(), '* * * * *', 'The list of mailboxes: one request for the whole fleet.'),
  stats: keyed(cron(), '*/15 * * * *', "A mailbox's counts a day: what the guard decides on."),
  warmup: keyed(cron(), '*/30 * * * *', "A mailbox's warm-up mode and status."),
  mailbox: keyed(cron(), '29 */6 * * *', "A mailbox's detail, with its connection error."),
  dns: keyed(cron(), '17 */6 * * *', 'SPF, DKIM and DMARC.'),
  blacklist: keyed(cron(), '41 */6 * * *', 'Blacklists.'),
  stats_interval_min: keyed(
    duration(),
    '60s',
    'Spare requests read stats sooner, by risk, and the list; a mailbox at most this often; 0s = never.',
  ),
});

const channelKeys = {
  name: label().describe('What routes call it.'),
  url: optional(channelUrl(), undefined, 'Where messages are sent. Treated as a secret.'),
  url_file: secretFile('url'),
  allow_http: plainHttp(),
};
const slack = section({ ...channelKeys, type: z.literal('slack').describe('A Slack incoming webhook.') });
const webhook = section({
  ...channelKeys,
  type: z.literal('webhook').describe('A POST of JSON.'),
  secret: optional(
    z.union(
      [
        webhookSecret(),
        z.array(webhookSecret()).min(1).max(2, 'has more than two secrets: the new one and the old one are enough'),
      ],
      {
        error: (issue) =>
          issue.code === 'invalid_union' ? `must be a secret, or a list of two; ${secretHint}` : undefined,
      },
    ),
    undefined,
    'What signs the messages: whsec_ and base64. Two in a list while one takes over from the other.',
  ),
  secret_file: secretFile('secret'),
  format: keyed(
    oneOf(['standard', 'alertmanager']),
    'standard',
    "The shape of the message: Standard Webhooks, or Alertmanager's webhook (secret may be left out then).",
  ),
});
const alertmanager = section({
  ...channelKeys,
  type: z.literal('alertmanager').describe('A Prometheus Alertmanager; /api/v2/alerts is added to url.'),
});
const recipe = section({
  name: channelKeys.name,
  type: z.literal('recipe').describe('Starts a recipe at a recipe service. It gets nothing without a route.'),
  base_url: recipeBaseUrl().describe('Where the recipe service is; ends with /v1.'),
  api_key: optional(recipeKey(), undefined, 'The key of the recipe service.'),
  api_key_file: secretFile('api_key'),
  recipe: z.string().min(1).describe("The recipe's id."),
  apply: keyed(truth(), false, "Carry the recipe's actions out; otherwise it only says what it would do."),
  allow_http: plainHttp(),
});
const channelTypes = ['slack', 'webhook', 'alertmanager', 'recipe'] as const;
const channel = z.discriminatedUnion('type', [slack, webhook, alertmanager, recipe], {
  error: (issue) => {
    if (issue.code !== 'invalid_union') return undefined;
    const type = (issue.input as { type?: unknown }).type;
    return type === undefined ? 'is missing' : notOneOf(type, channelTypes, []);
  },
});

const digest = section({
  at: keyed(cron(), '0 8 * * *', 'When, as cron in the time zone.'),
  time_zone: keyed(timeZone(), 'UTC', 'A name of the IANA database, as Europe/Berlin.'),
  channels: z.array(z.string()).min(1).describe('Names of channels: slack, and webhook with format standard.'),
});
const heartbeat = section({
  url: optional(channelUrl(), undefined, 'What is asked (GET) while all is well. Treated as a secret.'),
  url_file: secretFile('url'),
  interval: keyed(duration(10_000), '1m', 'How often.'),
  allow_http: plainHttp(),
});

const wordOrWords = <Word extends z.ZodType<string>>(word: Word) =>
  z.union([word.transform((one): z.output<Word>[] => [one]), z.array(word).min(1)]);
const route = section({
  match: keyed(
    section({
      severity: optional(wordOrWords(oneOf(severities)), undefined, 'critical, warning, info.'),
      account: optional(wordOrWords(pattern()), undefined, 'Globs on the name of the account.'),
      rule: optional(wordOrWords(pattern()), undefined, 'Globs on the name of the alert rule.'),
      mailbox: optional(wordOrWords(pattern()), undefined, 'Globs on the address.'),
    }),
    {},
    'Which alerts; everything that is written must fit.',
  ),
  channels: z.array(z.string()).min(1).describe('Names of channels.'),
});

const alerts = section({
  channels: keyed(z.array(channel), [], 'Who is told.'),
  routes: keyed(z.array(route), [], 'Who is told what. Without routes: warning and critical, to every channel.'),
  group_wait: keyed(duration(), '30s', 'How long a first message waits for others of its group.'),
  group_interval: keyed(duration(1_000), '5m', 'How long until a group that changed is told again.'),
  repeat_interval: keyed(
    section({
      critical: keyed(durationOrNever(), '4h', 'How often a critical alert is repeated.'),
      warning: keyed(durationOrNever(), '24h', 'How often a warning is repeated.'),
      info: keyed(durationOrNever(), 'never', 'How often an info is repeated.'),
    }),
    {},
    'Reminders of what is still so: a duration, or never.',
  ),
  digest: optional(
    digest,
    undefined,
    'A summary of the day: what was done, is at risk, is unknown, was not delivered.',
  ),
  heartbeat: optional(heartbeat, undefined, "A dead man's switch: it is asked for as long as the guard works."),
  rules: keyed(rulesSchema, {}, 'Each alert rule: on or off, how severe, after how long, and its thresholds.'),
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
        'The warm-up is not running, and not because somebody paused it.',
      ),
    }),
    {},
    'What the words mean that the API uses for the status of a warm-up, in any case.',
  ),
});

const store = section({
  url: keyed(
    z.string().superRefine((url, context) => {
      const message = storeComplaint(url);
      if (message) context.addIssue({ code: 'custom', message });
    }),
    'sqlite:./data/warmwarden.db',
    'sqlite: and a path, relative to the folder of this file. Best in a folder of its own: Warmwarden makes folder and files accessible to its own user only.',
  ),
});

// A postgres url carries a password: these sentences quote nothing.
function storeComplaint(url: string): string | null {
  if (/^postgres(ql)?:/.test(url)) return 'postgres is not in this version yet: write sqlite: and a path';
  if (/^sqlite:(:memory:|\/\/)/.test(url)) return 'must be sqlite: and the path of a file';
  return /^sqlite:./.test(url) ? null : 'must be sqlite: and the path of a file';
}

const token = section({
  name: label().describe('Whose token it is.'),
  sha256: tokenDigest('--role ROLE').describe(
    'The SHA-256 of the token, in hex: `warmwarden token new NAME --role ROLE` prints both.',
  ),
  role: oneOf(['viewer', 'operator', 'scraper']).describe('What it may do.'),
});
const server = section({
  listen: keyed(listen(), '127.0.0.1:7025', 'host:port of page, metrics and health.'),
  public_url: optional(
    publicUrl(),
    undefined,
    'Where people reach the page, for the links in messages; without it, the address that is listened on.',
  ),
  auth: optional(
    z.union([z.literal('none'), section({ tokens: z.array(token).min(1).describe('Who may come in.') })], {
      error: (issue) => (issue.code === 'invalid_union' ? 'must be none, or tokens with a list' : undefined),
    }),
    'none',
    'none, or tokens. Beyond loopback one of the two must be written.',
  ),
});

const askersKey = section({
  name: label().describe('Whose key it is.'),
  sha256: tokenDigest('--recipe-key').describe(
    'The SHA-256 of the key, in hex: `warmwarden token new NAME --recipe-key` prints both.',
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
  api_keys: keyed(z.array(askersKey), [], 'Who may ask recipes over HTTP, below /v1. Without keys, nobody.'),
});

/** Input: the tree of the file, with the environment put in. Output: what build.ts makes a Config of. */
export const configSchema = section({
  accounts: z.array(account).min(1, 'has no account: there is nothing to guard').describe('One API key each.'),
  poll: keyed(poll, {}, 'Cron in UTC, a leading seconds field allowed: when each kind is due at the latest.'),
  guard: keyed(guardSchema, {}, 'When to act, and how.'),
  api: keyed(api, {}, "How the API's answers are read."),
  alerts: keyed(alerts, {}, 'Who is told what, and how often.'),
  store: keyed(store, {}, 'What survives a restart.'),
  server: keyed(server, {}, 'Page, metrics and health over HTTP.'),
  log: keyed(
    section({
      level: keyed(oneOf(['silent', 'error', 'warn', 'info', 'debug']), 'info', 'The least that is logged.'),
      format: keyed(oneOf(['json', 'pretty']), 'json', 'pretty is for people.'),
    }),
    {},
    'What goes to standard output.',
  ),
  metrics: keyed(
    section({
      mailbox_label: keyed(oneOf(['email', 'id']), 'email', 'What the label mailbox holds.'),
      series_limit: keyed(whole(1_000, 100_000_000), 5_000_000, 'The most series of mailboxes, up to 45 each.'),
    }),
    {},
    'What GET /metrics shows.',
  ),
  recipes: keyed(recipes, {}, 'Saved questions about the fleet.'),
  retention: keyed(
    section({ runs: keyed(duration(3_600_000), '90d', 'Runs of recipes, with their rows.') }),
    {},
    'How long history is kept.',
  ),
});
export type CheckedFile = z.output<typeof configSchema>;
