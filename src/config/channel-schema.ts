// The keys of `alerts.channels:`, one section a type of channel.
import { z } from 'zod';
import { label, mailAddress, sender, truth } from './scalars.ts';
import {
  channelUrl,
  privateAuthority,
  recipeBaseUrl,
  recipeKey,
  routingKey,
  secretHint,
  smtpUrl,
  teamsUrl,
  webhookSecret,
} from './secrets.ts';
import { keyed, notOneOf, oneOf, optional, plainHttp, secret, section, wordOrWords } from './section.ts';

const channelKeys = {
  name: label().describe('Its name in routes.'),
  ...secret('url', optional(channelUrl(), undefined, 'Where Warmwarden sends messages. Treated as a secret.')),
  allow_http: plainHttp(),
  ...secret('ca', privateAuthority()),
};
const slack = section({ ...channelKeys, type: z.literal('slack').describe('A Slack incoming webhook.') });
const webhook = section({
  ...channelKeys,
  type: z.literal('webhook').describe('A POST of JSON.'),
  ...secret(
    'secret',
    optional(
      z.union(
        [
          webhookSecret(),
          z.array(webhookSecret()).min(1).max(2, 'has more than two secrets; use the new one and the old one'),
        ],
        {
          error: (issue) =>
            issue.code === 'invalid_union' ? `must be a secret, or a list of two; ${secretHint}` : undefined,
        },
      ),
      undefined,
      'The key that signs the messages: whsec_ and base64. A list of two while you rotate it: [NEW, OLD].',
    ),
  ),
  format: keyed(
    oneOf(['standard', 'alertmanager']),
    'standard',
    "The shape of the message: Standard Webhooks, or Alertmanager's webhook (secret may be left out then).",
  ),
});
const alertmanager = section({
  ...channelKeys,
  type: z.literal('alertmanager').describe('A Prometheus Alertmanager. Warmwarden adds /api/v2/alerts to url.'),
});
const recipe = section({
  name: channelKeys.name,
  type: z.literal('recipe').describe('Starts a recipe at a recipe service. Without a route it gets no alerts.'),
  base_url: recipeBaseUrl().describe('The address of the recipe service; ends with /v1.'),
  ...secret('api_key', optional(recipeKey(), undefined, 'The key of the recipe service.')),
  recipe: z.string().min(1).describe("The recipe's id."),
  apply: keyed(truth(), false, "true: carry out the recipe's actions. Otherwise the run is a dry run."),
  allow_http: plainHttp(),
  ...secret('ca', privateAuthority()),
});
const email = section({
  name: channelKeys.name,
  type: z.literal('email').describe('Emails through a mail server (SMTP).'),
  ...secret(
    'url',
    optional(
      smtpUrl(),
      undefined,
      'The mail server: smtp://USER:PASSWORD@HOST:587, encrypted with STARTTLS, or smtps://. Treated as a secret.',
    ),
  ),
  from: sender().describe('The address that sends: alerts@example.com, or Warmwarden <alerts@example.com>.'),
  to: wordOrWords(mailAddress(), 50).describe('The addresses that receive: one, or a list.'),
  allow_plain: keyed(truth(), false, 'Accept a mail server on another machine that offers no encryption.'),
  ...secret('ca', privateAuthority()),
});
const pagerduty = section({
  name: channelKeys.name,
  type: z.literal('pagerduty').describe('PagerDuty (Events API v2): triggers an alert, and resolves it when it ends.'),
  ...secret('routing_key', optional(routingKey(), undefined, 'The integration key of an Events API v2 integration.')),
  ...secret(
    'url',
    optional(
      channelUrl(),
      undefined,
      'Where events go, when it is not https://events.pagerduty.com/v2/enqueue. In the EU: https://events.eu.pagerduty.com/v2/enqueue.',
    ),
  ),
  allow_http: plainHttp(),
  ...secret('ca', privateAuthority()),
});
const teams = section({
  ...channelKeys,
  type: z.literal('teams').describe('Microsoft Teams: a workflow that posts when a webhook request is received.'),
  ...secret('url', optional(teamsUrl(), undefined, "The workflow's address. Treated as a secret.")),
});
const discord = section({ ...channelKeys, type: z.literal('discord').describe('A Discord webhook.') });
export const channelTypes = [
  'slack',
  'email',
  'pagerduty',
  'teams',
  'discord',
  'webhook',
  'alertmanager',
  'recipe',
] as const;
const kinds = [slack, email, pagerduty, teams, discord, webhook, alertmanager, recipe] as const;
/** One of `alerts.channels`. */
export const channel = z.discriminatedUnion('type', kinds, {
  error: (issue) => {
    if (issue.code !== 'invalid_union') return undefined;
    const type = (issue.input as { type?: unknown }).type;
    return type === undefined ? 'is missing' : notOneOf(type, channelTypes, []);
  },
});
