// Text in lines that a screen holds, broken between words. Pure.

/** A command between backticks, or between the quotation marks of a Slack text, is one word: it runs as it is printed. */
const words = /(?:`[^`]*`|(?<=^|\s)'[^']*'|\S)+/g;

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
