// The Slack channel: an incoming webhook with Block Kit, within Slack's limits: a header, and a coloured attachment below it.
// Source: docs.slack.dev, "Reference: blocks" (header 150 characters, section text 3,000, 50 blocks, 10 context elements)
// and "Button element" (text 75 characters, url 3,000).

import type {
  ActionsBlock,
  Button,
  ContextBlock,
  HeaderBlock,
  KnownBlock,
  MessageAttachment,
  SectionBlock,
} from '@slack/types';
import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Transition } from '../core/alert.ts';
import type { MessageIncident } from '../core/incident.ts';
import { momentText } from '../core/wording/phrases.ts';
import { section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, type Hook, hookKeys, type Notice, type Rendered, type SendResult } from './channel.ts';
import {
  countsText,
  type ForPeople,
  fittedSentences,
  fittedText,
  isPlainLink,
  leadOf,
  linksOf,
  linkToPage,
  type MessageLink,
  messageTitle,
  placeOf,
  timesText,
} from './message-text.ts';
import { fieldsIn, hookResultOf, postJson, type ReceiverAnswer } from './post.ts';

// Text for Slack: escaped, without mentions and control characters, cut to Slack's limits without breaking an entity.
// Source: docs.slack.dev, "Formatting message text".

/** C0 and C1 control characters except the line feed, and marks that change the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point.
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Words that Slack may turn into a mention of everyone. Inside an address they follow another character. */
const everyone = /(?<![\w.+-])@(?=(channel|here|everyone|group)\b)/gi;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '`': "'" };

/** Cuts a text to at most `max` characters in Slack's count (escaped, UTF-16). A command is kept whole or left out. */
export function slackText(text: string, max: number): string {
  return fittedText(harmless(text), max, escaped);
}

/** Joins sentences in a text of at most `max` characters; those with a command stay whole. */
export function slackSentences(sentences: readonly string[], separator: string, max: number): string {
  return fittedSentences(sentences.map(harmless), { separator, max, write: escaped });
}

function harmless(text: string): string {
  return text.replace(unseen, ' ').replace(everyone, '@\u200b');
}

/** Escapes backticks, too: Slack would read the text between them as code, and show the escapes in it. */
function escaped(text: string): string {
  return text.replace(/[&<>`]/g, (character) => entities[character] ?? character);
}

/** Link `<address|label>`, or nothing if the address is not plain http or https. */
function slackLink(address: string, label: string): string {
  if (!isPlainLink(address)) return '';
  return `<${address.replaceAll('&', '&amp;')}|${slackText(label, 100)}>`;
}

export const slackSettings = section({
  ...hookKeys,
  type: z.literal('slack').describe('A Slack incoming webhook.'),
});
type SlackSettings = Hook & ForPeople;

/** Gap between messages: Slack allows one a second and channel, and answers more with 429. */
const slackGapMs = 1_000;
const maxHeader = 150;
const maxFallback = 300;
/** Maximum number of alerts that one message describes; the others are counted. */
const maxSlackAlerts = 20;
/**
 * Slack's limit for one section; `maxSections` is for the sections of a message together, since Slack also limits their
 * sum.
 */
const maxSection = 3_000;
const maxSections = 10_000;
const maxNoticeSections = 10;
const maxNoticeSection = 1_250;
const linkRoom = 600;

export function slackChannel(settings: SlackSettings, clock: Clock): Channel {
  return {
    name: settings.name,
    type: 'slack',
    minGapMs: slackGapMs,
    forPeople: true,
    render: (message) => rendered(messageTitle(message), colourOf(message), blocksOf(message, settings)),
    renderNotice: (notice) => rendered(notice.title, colours.info, noticeBlocks(notice, settings)),
    send: async ({ payload }, signal) => resultOf(await postJson(settings, payload, { signal, clock })),
  };
}

/**
 * Slack's error words for an incoming webhook, usually with a 4xx. Services that accept Slack's messages report success
 * in words of their own. Source: docs.slack.dev, "Sending messages using incoming webhooks" and the errors of
 * chat.postMessage.
 */
const errorWords = new Set([
  ...['action_prohibited', 'channel_is_archived', 'channel_not_found', 'invalid_attachments', 'invalid_auth'],
  ...['invalid_blocks', 'invalid_blocks_format', 'invalid_payload', 'invalid_token', 'message_limit_exceeded'],
  ...[
    'missing_text_or_fallback_or_attachments',
    'no_active_hooks',
    'no_service',
    'no_service_id',
    'no_team',
    'no_text',
  ],
  ...['posting_to_general_channel_denied', 'rate_limited', 'ratelimited', 'rollup_error', 'team_disabled'],
  ...['too_many_attachments', 'user_not_found'],
]);

function resultOf(answer: ReceiverAnswer): SendResult {
  const text = answer.kind === 'answer' ? answer.text.trim() : '';
  const { ok, success, error } = fieldsIn(text);
  const word = typeof error === 'string' ? error : text;
  const said = /^[a-z_]{1,60}$/.test(word) ? ` (${word})` : '';
  const remedy = 'create an incoming webhook in Slack, and set url to its address';
  const result = hookResultOf(answer, { who: 'Slack', said, remedy });
  const isRefused = ok === false || success === false || errorWords.has(text);
  if (answer.kind === 'failed' || result.kind !== 'sent' || !isRefused) return result;
  const { status, retryAfterMs } = answer;
  return {
    kind: 'failed',
    detail: `Slack answered ${status} with an error${said}`,
    retryAfterMs,
    final: false,
    answer,
  };
}

const colours = { critical: '#d92d20', warning: '#f79009', info: '#2e90fa', resolved: '#12b76a' } as const;

function colourOf(message: GroupMessage): string {
  return message.kind === 'resolved' ? colours.resolved : colours[message.severity];
}

/** Message with the header above the coloured part; `text` is the preview on a phone. */
function rendered(title: string, color: string, blocks: KnownBlock[]): Rendered {
  const header: HeaderBlock = {
    type: 'header',
    text: { type: 'plain_text', text: slackText(title, maxHeader), emoji: false },
  };
  const attachment: MessageAttachment = { color, blocks };
  const payload = { text: slackText(title, maxFallback), blocks: [header], attachments: [attachment] };
  return { payload: JSON.stringify(payload), title };
}

function blocksOf(message: GroupMessage, settings: SlackSettings): KnownBlock[] {
  const { transitions, incident } = message;
  if (incident) return incidentBlocks(incident, message, settings);
  const zone = settings.timeZone();
  const [only] = transitions;
  const alone = transitions.length === 1 && only !== undefined;
  const listed = transitions.slice(0, maxSlackAlerts);
  const max = Math.min(maxSection - linkRoom, Math.floor(maxSections / listed.length));
  const shown = listed.map((transition) =>
    textBlock(alone ? aloneText(transition, zone) : memberText(transition, max, zone)),
  );
  const left = transitions.length - shown.length;
  const rest = left > 0 ? [context(`and ${left} more: see the page.`)] : [];
  const foot = [message.account, message.rule, momentText(message.at, zone)].filter(Boolean).join(' · ');
  const counts = message.rule === null ? [context(countsText(message))] : [];
  return [...counts, ...shown, ...rest, ...actions(linksOf(message, settings)), context(foot)];
}

/**
 * Blocks of an incident: what happened and what to do, the worst few mailboxes, and counts of the other alerts, in one
 * message instead of one text for each alert.
 */
function incidentBlocks(incident: MessageIncident, message: GroupMessage, settings: SlackSettings): KnownBlock[] {
  const { id, sentences, worst, memberCount } = incident;
  const more = memberCount - worst.length;
  const lines = [...worst.map(({ line }) => line), ...(more > 0 ? [`and ${more} more: see the page.`] : [])];
  const counts = message.transitions.length > 0 ? [context(`In this message: ${countsText(message)}`)] : [];
  const foot = [id, momentText(message.at, settings.timeZone())].join(' · ');
  return [
    textBlock(slackSentences(sentences, '\n', maxSection)),
    textBlock(slackText(lines.join('\n'), maxSection)),
    ...counts,
    ...actions(linksOf(message, settings)),
    context(foot),
  ];
}

function noticeBlocks({ sections, at }: Notice, { pageUrl, timeZone }: SlackSettings): KnownBlock[] {
  const shown = sections.slice(0, maxNoticeSections).map(({ heading, lines }) => {
    const title = heading === '' ? '' : `*${slackText(heading, maxHeader)}*\n`;
    return textBlock(title + slackText(lines.join('\n') || heading, maxNoticeSection - title.length));
  });
  return [...shown, ...actions(linkToPage(pageUrl)), context(momentText(at, timeZone()))];
}

/** Text of the only alert of a message: what happened, and since when. Its title is in the header. */
function aloneText(transition: Transition, zone: string): string {
  const { title, sentences } = transition.alert.facts;
  const tail = slackText(timesText(transition, zone), 100);
  const words = slackSentences(sentences, '\n', maxSection - tail.length - 1);
  return `${words || slackText(title, maxHeader)}\n${tail}`;
}

/** Text of one alert of several, in `max` characters and a link: its title, what happened, its rule, since when. */
function memberText(transition: Transition, max: number, zone: string): string {
  const { title, sentences } = transition.alert.facts;
  const page = placeOf(transition.alert);
  const link = page === null ? '' : slackLink(page, 'Open');
  const times = slackText(timesText(transition, zone), 100);
  const tail = [transition.alert.rule, times, link].filter((text) => text !== '').join(' · ');
  const head = slackText(`${leadOf(transition)}${title}`, maxHeader);
  const room = max + link.length - tail.length - head.length - 2;
  return `${head}\n${slackSentences(sentences, ' ', room)}\n${tail}`;
}

/** Buttons that are links, so that they need no app. */
function actions(links: readonly MessageLink[]): ActionsBlock[] {
  const elements = links.map(({ name, label, url }): Button => {
    return { type: 'button', action_id: name, text: { type: 'plain_text', text: label, emoji: false }, url };
  });
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

/**
 * Block of text. `verbatim` keeps Slack from looking for names and channels in it, and from turning addresses into
 * links.
 */
function textBlock(text: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

function context(text: string): ContextBlock {
  return { type: 'context', elements: [{ type: 'mrkdwn', text: slackText(text, 1_000), verbatim: true }] };
}
