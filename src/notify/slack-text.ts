// Text for Slack: escaped, without mentions and control characters, cut to Slack's limits without breaking an entity.
// Source: docs.slack.dev, "Formatting message text".

/** C0 and C1 controls but the line feed, and the marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point.
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Words that Slack may turn into a mention of everyone. Inside an address they stand behind a character. */
const everyone = /(?<![\w.+-])@(?=(channel|here|everyone|group)\b)/gi;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const more = '…';

/** At most `max` characters as Slack counts them (escaped, UTF-16). */
export function slackText(text: string, max: number): string {
  const harmless = text.replace(unseen, ' ').replace(everyone, '@\u200b').replaceAll('`', "'");
  let out = '';
  for (const character of harmless) {
    const next = entities[character] ?? character;
    if (out.length + next.length > max - more.length) return fits(harmless, max) ?? out + more;
    out += next;
  }
  return out;
}

/** The whole text when it just fits. */
function fits(text: string, max: number): string | null {
  if (text.length > max) return null;
  const whole = text.replace(/[&<>]/g, (character) => entities[character] ?? character);
  return whole.length <= max ? whole : null;
}

/** `<address|label>`, or nothing when the address is not plainly http. */
export function slackLink(address: string, label: string): string {
  if (!isPlainLink(address)) return '';
  return `<${address.replaceAll('&', '&amp;')}|${slackText(label, 100)}>`;
}

/** An http address without anything that Slack would read as markup. */
export function isPlainLink(address: string): boolean {
  return /^https?:\/\/[^\s<>|"]+$/.test(address);
}
