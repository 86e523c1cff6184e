// A message as Slack gets it, read as a person would see it.
import { z } from 'zod';

export interface SlackMessage {
  readonly title: string;
  readonly lines: readonly string[];
}

const slackBody = z.looseObject({
  text: z.string(),
  attachments: z.array(
    z.looseObject({
      blocks: z.array(z.looseObject({ type: z.string(), text: z.looseObject({ text: z.string() }).optional() })),
    }),
  ),
});

/** Throws when it is no message for Slack. */
export function readSlack(body: string): SlackMessage {
  const message = slackBody.parse(JSON.parse(body));
  const sections = message.attachments.flatMap(({ blocks }) => blocks.filter((block) => block.type === 'section'));
  const lines = sections.flatMap((block) => plain(block.text?.text ?? '').split('\n'));
  return { title: plain(message.text), lines };
}

/** Slack's markup, as its reader would see it. */
function plain(text: string): string {
  return text
    .replace(/<([^|>]+)\|([^>]+)>/g, '$2 ($1)')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
