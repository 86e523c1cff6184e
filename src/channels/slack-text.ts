// Text for Slack: escaped, without mentions and control characters, cut to Slack's limits without breaking an entity.
// Source: docs.slack.dev, "Formatting message text".

import { isPlainLink } from './links.ts';

/** C0 and C1 controls but the line feed, and the marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point.
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Words that Slack may turn into a mention of everyone. Inside an address they stand behind a character. */
const everyone = /(?<![\w.+-])@(?=(channel|here|everyone|group)\b)/gi;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '`': "'" };
const more = '…';

/** A command as our sentences write it, or one character. */
const pieces = /`[^`\n]*`|[\s\S]/gu;

const command = /`[^`\n]*`/;

/** At most `max` characters as Slack counts them (escaped, UTF-16). A command is there as a whole, or not at all. */
export function slackText(text: string, max: number): string {
  const harmless = text.replace(unseen, ' ').replace(everyone, '@\u200b');
  let out = '';
  for (const [piece] of harmless.matchAll(pieces)) {
    const next = escaped(piece);
    if (out.length + next.length > max - more.length) return fits(harmless, max) ?? out + more;
    out += next;
  }
  return out;
}

/**
 * Sentences in one text of at most `max` characters. Where they do not all fit, those with a command stay whole, after
 * as much of the others as there is room for: half of "To undo this" helps no one.
 */
export function slackSentences(sentences: readonly string[], separator: string, max: number): string {
  const joined = sentences.join(separator);
  const whole = slackText(joined, Number.POSITIVE_INFINITY);
  if (whole.length <= max) return whole;
  const commands = sentences.filter((sentence) => command.test(sentence));
  const kept = slackText(commands.join(separator), Number.POSITIVE_INFINITY);
  const room = max - kept.length - separator.length;
  if (commands.length === 0 || room < more.length) return slackText(joined, max);
  const others = sentences.filter((sentence) => !command.test(sentence)).join(separator);
  return [slackText(others, room), kept].filter((text) => text !== '').join(separator);
}

/** The whole text when it just fits. */
function fits(text: string, max: number): string | null {
  if (text.length > max) return null;
  const whole = escaped(text);
  return whole.length <= max ? whole : null;
}

/** Slack would take what stands between backticks for code, and show the escapes in it. */
function escaped(text: string): string {
  return text.replace(/[&<>`]/g, (character) => entities[character] ?? character);
}

/** `<address|label>`, or nothing when the address is not plainly http. */
export function slackLink(address: string, label: string): string {
  if (!isPlainLink(address)) return '';
  return `<${address.replaceAll('&', '&amp;')}|${slackText(label, 100)}>`;
}
