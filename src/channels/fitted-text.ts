// Text in a receiver's markup, cut to a limit: a command is there as a whole, or not at all, because half of one might run.

const more = '…';
/** A command as our sentences write it, or one character. */
const pieces = /`[^`\n]*`|[\s\S]/gu;
const command = /`[^`\n]*`/;

/** Writes a command with its backticks, or one character, in the receiver's markup. */
export type Write = (piece: string) => string;

/** At most `max` UTF-16 units of markup. */
export function fittedText(text: string, max: number, write: Write): string {
  const written = [...text.matchAll(pieces)].map(([piece]) => write(piece));
  const whole = written.join('');
  if (whole.length <= max) return whole;
  let out = '';
  for (const next of written) {
    if (out.length + next.length > max - more.length) break;
    out += next;
  }
  return out + more;
}

/**
 * Sentences in one text of at most `max` UTF-16 units. Where they do not all fit, those with a command stay whole, after
 * as much of the others as there is room for: half of "To undo this" helps no one.
 */
export function fittedSentences(
  sentences: readonly string[],
  { separator, max, write }: { readonly separator: string; readonly max: number; readonly write: Write },
): string {
  const joined = sentences.join(separator);
  const whole = fittedText(joined, Number.POSITIVE_INFINITY, write);
  if (whole.length <= max) return whole;
  const commands = sentences.filter((sentence) => command.test(sentence));
  const kept = fittedText(commands.join(separator), Number.POSITIVE_INFINITY, write);
  const room = max - kept.length - separator.length;
  if (commands.length === 0 || room < more.length) return fittedText(joined, max, write);
  const others = sentences.filter((sentence) => !command.test(sentence)).join(separator);
  return [fittedText(others, room, write), kept].filter((text) => text !== '').join(separator);
}
