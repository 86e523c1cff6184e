// The Slack channel: an incoming webhook with Block Kit. Source: docs.slack.dev, "Reference: blocks" (header 150
// characters, section text 3,000, 50 blocks, 10 context elements) and "Button element" (text 75 characters, url 3,000).

import type { ActionsBlock, Button, ContextBlock, HeaderBlock, KnownBlock, SectionBlock } from '@slack/types';
import { z } from 'zod';
import { fieldsIn } from '../api/http/failure.ts';
import { section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, hookKeys } from './channel.ts';
import { type ChatSettings, chatChannel } from './chat.ts';
import { type MessageItem, type MessageLink, type MessageText, moreText, textWriter } from './message-text.ts';

export const slackSettings = section({
  ...hookKeys,
  type: z.literal('slack').describe('A Slack incoming webhook.'),
});

/** Address of an incoming webhook: whoever has it can post. */
export const slackSecret = /\bhooks\.slack\.com\/[^\s"',]+/;

export function slackChannel(settings: ChatSettings, clock: Clock): Channel {
  return chatChannel(
    {
      type: 'slack',
      who: 'Slack',
      // Slack allows one message a second and channel, and answers more with 429.
      minGapMs: 1_000,
      remedy: 'create an incoming webhook in Slack, and set url to its address',
      write: payloadOf,
      read: answerIn,
    },
    settings,
    clock,
  );
}

const maxHeader = 150;
const maxFallback = 300;
const maxHead = 300;
const maxSection = 3_000;
/** Maximum for the items of a message together, since Slack also limits the sum of its sections. */
const maxItems = 8_000;
const maxLead = 2_500;
const linkRoom = 650;
const colours = { critical: '#d92d20', warning: '#f79009', info: '#2e90fa', resolved: '#12b76a' } as const;

/** `text` is the preview on a phone. */
function payloadOf({ headline, tone, lead, items, more, links, foot }: MessageText): object {
  const header: HeaderBlock = {
    type: 'header',
    text: { type: 'plain_text', text: slackWriter.text(headline, maxHeader), emoji: false },
  };
  const max = Math.min(maxSection - linkRoom, Math.floor(maxItems / items.length));
  const left = moreText(more);
  const blocks: KnownBlock[] = [
    ...(lead.length === 0 ? [] : [textBlock(slackWriter.lines(lead, maxLead))]),
    ...items.map((item) => textBlock(itemText(item, max))),
    ...(left === null ? [] : [context(left)]),
    ...buttons(links),
    context(foot),
  ];
  return {
    text: slackWriter.text(headline, maxFallback),
    blocks: [header],
    attachments: [{ color: colours[tone], blocks }],
  };
}

function itemText({ head, sentences, foot, url }: MessageItem, max: number): string {
  const top = head === '' ? '' : `*${slackWriter.text(head, maxHead)}*`;
  const link = url === null ? '' : `<${url.replaceAll('&', '&amp;')}|Open>`;
  const bottom = slackWriter.text(foot, maxHead);
  const middle = slackWriter.lines(sentences, max - top.length - bottom.length - 2);
  return [top, middle, [bottom, link].filter(Boolean).join(' · ')].filter(Boolean).join('\n');
}

/** Links need no app. */
function buttons(links: readonly MessageLink[]): ActionsBlock[] {
  const elements = links.map(({ name, label, url }): Button => {
    return { type: 'button', action_id: name, text: { type: 'plain_text', text: label, emoji: false }, url };
  });
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

/** `verbatim` keeps Slack from looking for names, channels and addresses in the text. */
function textBlock(text: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

function context(text: string): ContextBlock {
  return { type: 'context', elements: [{ type: 'mrkdwn', text: slackWriter.text(text, 1_000), verbatim: true }] };
}

// Text for Slack: escaped, without mentions, cut without breaking an entity. Source: docs.slack.dev, "Formatting message
// text".

/** Words that Slack may turn into a mention of everyone. Inside an address they follow another character. */
const everyone = /(?<![\w.+-])@(?=(channel|here|everyone|group)\b)/gi;
/** A backtick would begin code, in which Slack shows the escapes. */
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '`': "'" };

/** Cuts to Slack's count of characters (escaped, UTF-16). A command is kept whole or left out. */
export const slackWriter = textWriter(escaped, (text) => text.replace(everyone, '@\u200b'));

function escaped(text: string): string {
  return text.replace(/[&<>`]/g, (character) => entities[character] ?? character);
}

/**
 * Services that accept Slack's messages report success in words of their own. Source: docs.slack.dev, "Sending messages
 * using incoming webhooks" and the errors of chat.postMessage.
 */
const errorWords = new Set(
  `action_prohibited channel_is_archived channel_not_found invalid_attachments invalid_auth invalid_blocks
  invalid_blocks_format invalid_payload invalid_token message_limit_exceeded missing_text_or_fallback_or_attachments
  no_active_hooks no_service no_service_id no_team no_text posting_to_general_channel_denied rate_limited ratelimited
  rollup_error team_disabled too_many_attachments user_not_found`.split(/\s+/),
);

function answerIn(answer: string) {
  const text = answer.trim();
  const { ok, success, error } = fieldsIn(text) ?? {};
  const word = typeof error === 'string' ? error : text;
  const isError = ok === false || success === false || errorWords.has(text);
  return { reason: /^[a-z_]{1,60}$/.test(word) ? word : '', isError };
}
