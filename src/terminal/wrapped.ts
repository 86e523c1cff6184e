// Text in lines that a screen holds, broken between words. Pure.

/** A command between backticks, or between the quotation marks of a Slack text, is one word: it runs as it is printed. */
const words = /(?:`[^`]*`|(?<=^|\s)'[^']*'|\S)+/g;

/** Letters in a line of --help. */
const helpWidth = 80;

/** A term of --help and what it means, in lines that fit: what follows the first is indented as the meaning is. */
export function helpEntry(term: string, meaning: string): string {
  return `${term}${wrapped(meaning, helpWidth - term.length).join(`\n${' '.repeat(term.length)}`)}`;
}

/** Lines of at most `width` letters, indented as the text is; only a word that is longer stands alone on a longer line. */
export function wrapped(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  const indent = /^ */.exec(text)?.[0] ?? '';
  let line = indent;
  let empty = true;
  for (const [word] of text.matchAll(words)) {
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = empty ? `${line}${word}` : `${line} ${word}`;
    empty = false;
  }
  return [...lines, line];
}
