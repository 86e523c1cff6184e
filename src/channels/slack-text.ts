// Text for Slack: escaped, without mentions and control characters, cut to Slack's limits without breaking an entity.
// Source: docs.slack.dev, "Formatting message text".
import { fittedSentences, fittedText } from './fitted-text.ts';
import { isPlainLink } from './links.ts';

/** C0 and C1 controls but the line feed, and the marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point.
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Words that Slack may turn into a mention of everyone. Inside an address they stand behind a character. */
const everyone = /(?<![\w.+-])@(?=(channel|here|everyone|group)\b)/gi;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '`': "'" };

/** At most `max` characters as Slack counts them (escaped, UTF-16). A command is there as a whole, or not at all. */
export function slackText(text: string, max: number): string {
  return fittedText(harmless(text), max, escaped);
}

/** Sentences in one text of at most `max` characters; those with a command stay whole. */
export function slackSentences(sentences: readonly string[], separator: string, max: number): string {
  return fittedSentences(sentences.map(harmless), { separator, max, write: escaped });
}

function harmless(text: string): string {
  return text.replace(unseen, ' ').replace(everyone, '@\u200b');
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
