// The Discord channel: a webhook with one embed, within Discord's limits, and without mentions. Source:
// docs.discord.com, "Webhook Resource: Execute Webhook", "Embed Limits" and "Rate Limits": content 2,000 characters,
// embed description 4,096, footer 2,048, 6,000 in all embeds of a message, 30 messages a minute and channel.

import { z } from 'zod';
import { fieldsIn } from '../api/http/failure.ts';
import { section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, hookKeys } from './channel.ts';
import { type ChatSettings, chatChannel } from './chat.ts';
import { bodyText, cutText, isCommand, type MessageMarkup, type MessageText, textWriter } from './message-text.ts';

export const discordSettings = section({
  ...hookKeys,
  type: z.literal('discord').describe('A Discord webhook.'),
});

/** Address of a webhook: whoever has it can post. */
export const discordSecret = /\bdiscord(?:app)?\.com\/api\/[^\s"',]+/;

export function discordChannel(settings: ChatSettings, clock: Clock): Channel {
  const address = new URL(settings.url);
  // Discord would otherwise answer before it knows whether the message was accepted.
  address.searchParams.set('wait', 'true');
  return chatChannel(
    {
      type: 'discord',
      who: 'Discord',
      minGapMs: 2_000,
      remedy: 'create a webhook in the settings of the Discord channel, and set url to its address',
      write: payloadOf,
      read: answerIn,
    },
    { ...settings, url: address.href },
    clock,
  );
}

const maxContent = 2_000;
const maxDescription = 4_096;
const maxFooter = 500;
const writer = textWriter(
  // Escapes what Discord would read as formatting, mention or link. A command is code, which it does not read.
  (piece) => (isCommand(piece) ? piece : piece.replace(/[\\*_~`|<>#[\]]/g, '\\$&')),
  // Keeps an address in a person's words from becoming a link.
  (text) => text.replaceAll('://', ':\u200b//'),
);
const colours = { critical: 0xd92d20, warning: 0xf79009, info: 0x2e90fa, resolved: 0x12b76a } as const;

export const discordMarkup: MessageMarkup = {
  write: writer.text,
  bold: (written) => `**${written}**`,
  link: ({ label, url }) => `[${label}](<${url}>)`,
};

function payloadOf(text: MessageText): object {
  const embed = {
    description: bodyText({ ...text, foot: '' }, maxDescription, discordMarkup),
    color: colours[text.tone],
    footer: { text: cutText(text.foot, maxFooter) },
  };
  const content = writer.text(text.headline, maxContent);
  // A name in a message must not trigger a mention.
  return { content, embeds: [embed], allowed_mentions: { parse: [] } };
}

/** Discord answers 200 with the message, or JSON with a `code` (10015: no such webhook, 50027: a wrong token). */
function answerIn(answer: string) {
  const { code } = fieldsIn(answer) ?? {};
  return { reason: typeof code === 'number' ? `code ${code}` : '' };
}
