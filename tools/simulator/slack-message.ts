// A message as Slack gets it, read as a person would see it; a command stands alone, so that it can be copied and run.
import { z } from 'zod';

export interface SlackMessage {
  readonly title: string;
  readonly lines: readonly SlackLine[];
}

export interface SlackLine {
  readonly text: string;
  /** It runs as it is: it must not be broken. */
  readonly command: boolean;
}

/** A command of this program as a Slack text has it, and the punctuation that belonged to its sentence. */
const quotedCommand = /(?<=^|\s)'([^'\n]*(?:warmwarden|bin\.js) [^'\n]*)'[.,;:]*(?=\s|$)/;

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
  const lines = sections.flatMap((block) =>
    plain(block.text?.text ?? '')
      .split('\n')
      .flatMap(withCommandsApart),
  );
  return { title: plain(message.text), lines };
}

function withCommandsApart(line: string): readonly SlackLine[] {
  const pieces = line.split(quotedCommand);
  if (pieces.length === 1) return [{ text: line, command: false }];
  return pieces
    .map((piece, index) => ({ text: piece.trim(), command: index % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

/** Slack's markup, as its reader would see it. */
function plain(text: string): string {
  return text
    .replace(/<([^|>]+)\|([^>]+)>/g, '$2 ($1)')
    .replace(/^\*(.*)\*$/gm, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
