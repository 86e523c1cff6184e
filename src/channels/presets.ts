// Receivers with an API of their own, each with the limits and the answers of its public documents.

import { z } from 'zod';
import { fieldsIn } from '../api/http/failure.ts';
import type { Severity } from '../core/alert-rules.ts';
import { secondMs } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { fieldsOf, type JsonFields } from '../world/schema/json.ts';
import { baseUrl, checked, serviceUrl, whole } from '../world/schema/scalars.ts';
import { optional, secret, section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { hookKeys } from './channel.ts';
import { type Chat, type ChatAnswer, type ChatSettings, chatChannel, meaningOf } from './chat.ts';
import { discordMarkup } from './discord.ts';
import {
  bodyText,
  cutText,
  htmlMarkup,
  type MessageMarkup,
  type MessageText,
  plainMarkup,
  textWriter,
} from './message-text.ts';
import { type PagerDutyEvent, pagerChannel } from './pagerduty.ts';
import { postJson } from './post.ts';

/** A chat without the parts that most receivers share. */
interface Preset extends Omit<Chat, 'minGapMs' | 'read'> {
  /** A second if absent. */
  readonly minGapMs?: number;
  /** Returns the meaning of an answer, besides that of its status. */
  readonly read?: (fields: JsonFields, status: number, text: string) => Partial<ChatAnswer>;
}

type PresetSettings<Schema extends z.ZodType> = z.output<Schema> & ChatSettings;

function preset<Schema extends z.ZodType<{ readonly type: string }>>(
  settings: Schema,
  presetOf: (settings: PresetSettings<Schema>) => Preset,
) {
  const create = (values: PresetSettings<Schema>, clock: Clock) => {
    const { minGapMs = secondMs, read, ...chat } = presetOf(values);
    return chatChannel({ ...chat, type: values.type, minGapMs, read: readBy(read) }, values, clock);
  };
  return { settings, create };
}

function readBy(read: Preset['read']): Chat['read'] {
  return (text, status) => {
    const fields = fieldsIn(text) ?? {};
    return { reason: reasonIn(fields), ...read?.(fields, status, text) };
  };
}

/** Reason of an error, in the first field that has one. */
function reasonIn(fields: JsonFields): string {
  const { description, errorDescription, message, errors, errcode, error } = fields;
  const words = [description, errorDescription, message, errors, errcode, error, fieldsOf(error)['status']].map((one) =>
    [one].flat().filter((word) => typeof word === 'string'),
  );
  const [first = []] = words.filter(({ length }) => length > 0);
  return cutText(visibleText(first.join('; ').replace(/\s+/g, ' ').trim()), 200);
}

/** Keys of a receiver below whose address are the paths of its API. */
function keysAt(usual: string | null, description: string) {
  const address = baseUrl((url) => url);
  const url = usual === null ? address : address.optional().transform((written = usual) => written);
  return { ...hookKeys, url: secret(url.describe(description)) };
}

function token(description: string, shape = /^[\x21-\x7e]{1,512}$/, wanted = 'a key without spaces and line breaks') {
  return secret(z.string().regex(shape, `must be ${wanted}`).describe(description));
}

// Markup. A name must neither ring anybody nor become a link.

function quiet(text: string): string {
  return text.replaceAll('://', ':\u200b//').replace(/(?<![\w.+-])@(?=\w)/g, '@\u200b');
}

/** Google Chat has no escapes: a broken < is neither a mention nor a link. */
const quietMarkup: MessageMarkup = {
  ...plainMarkup,
  write: textWriter(String, (text) => quiet(text).replaceAll('<', '<\u200b')).text,
};
const markdown: MessageMarkup = {
  ...discordMarkup,
  write: (text, max) => discordMarkup.write(quiet(text), max),
};

const maxTitle = 250;

function titleOf({ headline }: MessageText): string {
  return cutText(headline, maxTitle);
}

/** Title and text as one. */
function titled(text: MessageText, max: number, markup: MessageMarkup): string {
  const title = markup.bold(markup.write(text.headline, maxTitle));
  return `${title}\n\n${bodyText(text, max - Buffer.byteLength(title) - 2, markup)}`;
}

function pageOf({ links }: MessageText): string | undefined {
  return links.find(({ name }) => name === 'page_url')?.url;
}

// The receivers.

/**
 * https://core.telegram.org/bots/api#sendmessage: 1 to 4,096 characters; 200 with {"ok":true}, 429 with
 * parameters.retry_after. https://core.telegram.org/bots/faq: 20 messages a minute in a group.
 */
const telegram = preset(
  section({
    ...keysAt('https://api.telegram.org', 'Your own Bot API server. Default: https://api.telegram.org.'),
    type: z.literal('telegram').describe('A Telegram bot.'),
    token: token('The token of the bot.', /^\d+:[\w-]{10,}$/, 'the token of a bot, such as 123456:ABC-DEF'),
    chatId: z
      .union([z.string(), z.int().transform(String)])
      .pipe(z.string().regex(/^(-?\d+|@\w+)$/, 'must be the number of a chat, or @NAME of a channel'))
      .describe('The chat: a number, or @NAME of a channel.'),
    thread: optional(whole(1, Number.MAX_SAFE_INTEGER), 'The topic of a forum.'),
  }),
  ({ url, token, chatId, thread }) => ({
    who: 'Telegram',
    minGapMs: 3 * secondMs,
    remedy: 'check token, chat_id and thread, and whether the bot can write there',
    write: (text) => ({
      chat_id: chatId,
      message_thread_id: thread,
      text: titled(text, 4_096, htmlMarkup(quiet)),
      parse_mode: 'HTML',
      disable_notification: text.tone === 'info',
      link_preview_options: { is_disabled: true },
    }),
    request: () => ({ url: `${url}/bot${token}/sendMessage` }),
    read: ({ description }, status, answer) => ({
      // The answer has the whole message, and may be read in part.
      isError: answer !== '' && !/^\s*\{\s*"ok"\s*:\s*true\b/.test(answer),
      blamesSetup: status === 400 && /\bchat\b|thread|topic|rights/i.test(String(description)),
    }),
  }),
);

/**
 * https://docs.ntfy.sh/publish/#limitations: 4,096 bytes a message, 60 requests at once and one more each 5 s; #publish-as-json:
 * priorities 1 to 5.
 */
const ntfy = preset(
  section({
    ...keysAt('https://ntfy.sh', 'Your own server. Default: https://ntfy.sh.'),
    type: z.literal('ntfy').describe('A topic of ntfy.'),
    topic: token('The topic. Who knows it reads along.', /^[\w-]{1,64}$/, 'up to 64 letters, digits, _ and -'),
    token: secret(optional(token('An access token.'), 'An access token, if the topic needs one.')),
  }),
  ({ url, topic, token }) => ({
    who: 'ntfy',
    remedy: 'check url, topic and token',
    write: (text) => ({
      title: titleOf(text),
      message: bodyText(text, 4_096, plainMarkup, false),
      priority: { critical: 5, warning: 4, info: 2, resolved: 3 }[text.tone],
      tags: [
        { critical: 'rotating_light', warning: 'warning', info: 'information_source', resolved: 'white_check_mark' }[
          text.tone
        ],
      ],
      click: pageOf(text),
      // ntfy shows at most three: https://docs.ntfy.sh/publish/#action-buttons
      actions: text.links.slice(0, 3).map(({ label, url: link }) => ({ action: 'view', label, url: link })),
    }),
    request: (payload) => ({
      url: `${url}/`,
      body: JSON.stringify({ topic, ...JSON.parse(payload) }),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    }),
  }),
);

/**
 * https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create: 32,000 bytes a message;
 * https://developers.google.com/workspace/chat/limits: one message a second and space, then 429.
 */
const googleChat = preset(
  section({
    ...hookKeys,
    type: z.literal('google_chat').describe('A webhook of a Google Chat space.'),
  }),
  () => ({
    who: 'Google Chat',
    remedy: 'create a webhook in the settings of the space, and set url to its address',
    write: (text) => ({ text: titled(text, 32_000, quietMarkup) }),
  }),
);

/** https://developers.mattermost.com/integrate/webhooks/incoming/: Markdown; a post has up to 16,383 characters. */
const mattermost = preset(
  section({ ...hookKeys, type: z.literal('mattermost').describe('An incoming webhook of Mattermost.') }),
  () => ({
    who: 'Mattermost',
    remedy: 'add an incoming webhook in Mattermost, and set url to its address',
    write: (text) => ({ text: titled(text, 16_383, markdown) }),
    read: ({ id }) => ({
      blamesSetup: /^web\.incoming_webhook\.(invalid|disabled|channel|user|permissions)/.test(String(id)),
    }),
  }),
);

/** https://gotify.net/api-docs: POST /message with X-Gotify-Key. https://gotify.net/docs/msgextras: the address of a click. */
const gotify = preset(
  section({
    ...keysAt(null, 'The address of Gotify.'),
    type: z.literal('gotify').describe('An application of Gotify.'),
    token: token('The token of the application.'),
  }),
  ({ url, token }) => ({
    who: 'Gotify',
    minGapMs: 0,
    remedy: 'check url, and that token is that of an application',
    write: (text) => ({
      title: titleOf(text),
      message: bodyText(text, 16_000),
      priority: { critical: 8, warning: 5, info: 2, resolved: 4 }[text.tone],
      extras: {
        'client::display': { contentType: 'text/plain' },
        ...(pageOf(text) === undefined ? {} : { 'client::notification': { click: { url: pageOf(text) } } }),
      },
    }),
    request: () => ({ url: `${url}/message`, headers: { 'x-gotify-key': token } }),
  }),
);

/**
 * https://github.com/caronc/apprise-api#api-details: 200; 204 without a configuration under the key; 424 if a service did
 * not take the message. The type does not raise a priority at ntfy or Gotify, hence an address a severity.
 */
const apprise = preset(
  section({
    ...hookKeys,
    type: z.literal('apprise').describe('An Apprise API: https://HOST/notify/KEY.'),
    criticalUrl: severityUrl('critical'),
    warningUrl: severityUrl('warning'),
    infoUrl: severityUrl('info'),
  }),
  ({ url, criticalUrl, warningUrl, infoUrl }) => ({
    who: 'Apprise',
    remedy: 'save a configuration under the key in url',
    write: (text, source) => ({
      title: titleOf(text),
      body: bodyText(text, 16_000),
      type: { critical: 'failure', warning: 'warning', info: 'info', resolved: 'success' }[text.tone],
      format: 'text',
      severity: 'severity' in source ? source.severity : 'info',
    }),
    request: (payload) => {
      const { severity, ...body }: { readonly severity: Severity } = JSON.parse(payload);
      const own = { critical: criticalUrl, warning: warningUrl, info: infoUrl }[severity];
      return { url: own ?? url, body: JSON.stringify(body) };
    },
    read: (_, status) => ({
      isTemporary: status === 424,
      ...(status === 204 && { reason: 'nothing is configured under this key', blamesSetup: true }),
    }),
  }),
);

function severityUrl(severity: string) {
  return secret(optional(serviceUrl(), `The address for severity ${severity}, instead of url.`));
}

/**
 * https://pushover.net/api: message 1,024 characters, title 250, url 512; priorities -2 to 2, of which 2 must be
 * acknowledged; "status":1, or 4xx with errors; 429 when the messages of the month are used up.
 */
const pushover = preset(
  section({
    ...keysAt('https://api.pushover.net', 'Default: https://api.pushover.net.'),
    type: z.literal('pushover').describe('Pushover.'),
    token: token('The token of the application.', /^\w{30}$/, 'a token of 30 letters and digits'),
    userKey: token('The key of the user or group.', /^\w{30}$/, 'a key of 30 letters and digits'),
  }),
  ({ url, token, userKey: user }) => ({
    who: 'Pushover',
    remedy: 'check token and user_key',
    write: (text) => ({
      title: titleOf(text),
      message: bodyText(text, 1_024, plainMarkup, false),
      priority: { critical: 1, warning: 0, info: -1, resolved: 0 }[text.tone],
      url: (pageOf(text)?.length ?? 0) > 512 ? undefined : pageOf(text),
      url_title: 'Open',
    }),
    request: (payload) => ({
      url: `${url}/1/messages.json`,
      body: JSON.stringify({ token, user, ...JSON.parse(payload) }),
    }),
    read: ({ status = 1, token: ofToken, user: ofUser }) => ({
      isError: status !== 1,
      blamesSetup: [ofToken, ofUser].includes('invalid'),
    }),
  }),
);

/**
 * https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid: an event of 65,536
 * bytes; a repeat with the same transaction id is one event. M_LIMIT_EXCEEDED has retry_after_ms.
 */
const matrix = preset(
  section({
    ...keysAt(null, 'The address of the homeserver.'),
    type: z.literal('matrix').describe('A room of Matrix, without encryption.'),
    room: checked(
      (room) => !room.startsWith('!') && 'must be the id of a room, such as !abc:example.org, not its alias',
    ).describe('The id of the room.'),
    token: token('The access token of the user who writes.'),
  }),
  ({ url, room, token }) => ({
    who: 'Matrix',
    remedy: 'check url, room and token, and that the user has joined the room',
    repeats: 'always',
    write: (text) => ({
      msgtype: text.tone === 'info' ? 'm.notice' : 'm.text',
      body: titled(text, 16_000, quietMarkup),
      format: 'org.matrix.custom.html',
      formatted_body: titled(text, 16_000, htmlMarkup(quiet)).replaceAll('\n', '<br>'),
      'm.mentions': {},
    }),
    request: (_, id) => ({
      method: 'PUT',
      url: `${url}/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(id)}`,
      headers: { authorization: `Bearer ${token}` },
    }),
  }),
);

/**
 * https://docs.opsgenie.com/docs/alert-api: message 130 characters, alias 512, description 15,000; 202, 422 for what is
 * wrong in a request, 429. Jira Service Management has the same API.
 */
const opsgenieSettings = section({
  ...keysAt('https://api.opsgenie.com', 'Default: https://api.opsgenie.com. In the EU: https://api.eu.opsgenie.com.'),
  type: z.literal('opsgenie').describe('Opsgenie, or a service with its API of alerts.'),
  apiKey: token('The key of an API integration.'),
});
type OpsgenieSettings = PresetSettings<typeof opsgenieSettings>;

const opsgenie = {
  settings: opsgenieSettings,
  hasDigest: false as const,
  create: (settings: OpsgenieSettings, clock: Clock) => {
    const headers = { authorization: `GenieKey ${settings.apiKey}` };
    const remedy = 'check api_key, and url in the EU';
    const meaning = { who: 'Opsgenie', remedy, read: readBy(undefined), repeats: 'always' } as const;
    return pagerChannel(
      {
        ...{ type: 'opsgenie', who: 'Opsgenie', key: 'key' },
        write: opsgenieRequest,
        post: async ({ path, body }, signal) => {
          const url = `${settings.url}/v2/alerts${path}`;
          return meaningOf(
            await postJson({ ...settings, url }, JSON.stringify(body), { signal, clock, headers }),
            meaning,
          );
        },
      },
      settings,
    );
  },
};

/** The alias lets Opsgenie count a repeat as the same alert, and close the alert. */
function opsgenieRequest({ dedup_key: alias, payload, links = [] }: PagerDutyEvent) {
  const source = 'Warmwarden';
  if (!payload) return { path: `/${encodeURIComponent(alias)}/close?identifierType=alias`, body: { source } };
  const { what = '', ...details } = payload.custom_details;
  const lines = [payload.summary, '', what, ...links.map(({ href, text }) => `${text}: ${href}`)];
  const body = {
    message: cutText(payload.summary, 130),
    alias,
    description: cutText(lines.join('\n'), 15_000),
    priority: { critical: 'P1', warning: 'P3', info: 'P5' }[payload.severity],
    entity: cutText(payload.source, 512),
    tags: [payload.class],
    details,
    source,
  };
  return { path: '', body };
}

/** Receivers by type. */
export const presets = {
  telegram,
  ntfy,
  google_chat: googleChat,
  mattermost,
  gotify,
  apprise,
  pushover,
  opsgenie,
  matrix,
};
