// The string and template literals of a TypeScript file: what it may show to a user. No parser, only what a tokenizer needs.

export interface Literal {
  /** From 1. */
  readonly line: number;
  /** As it is written, escapes and all; `…` takes the place of what a template fills in. */
  readonly text: string;
}

/** A `/` after one of these begins a regular expression, not a division. */
const beforeRegex = /^(?:|[(,=:[!&|?{};+\-*%~^<>]|return|typeof|case|in|of|do|else|void|await)$/;
const quiet = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const quoted = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const word = /[\w$]+/y;
/** Of a template, up to its end or to what it fills in. */
const plain = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;

/** In the order in which they begin; those inside `${}` are literals of their own. */
export function literalsOf(source: string): readonly Literal[] {
  const found: { at: number; text: string }[] = [];
  let at = 0;

  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0] ?? null;
    at += text?.length ?? 0;
    return text;
  };

  const template = (): void => {
    const literal = { at, text: '' };
    found.push(literal);
    at += 1;
    while (at < source.length) {
      literal.text += take(plain) ?? '';
      if (source[at] !== '$') break;
      at += 2;
      code();
      at += 1;
      literal.text += '…';
    }
    at += 1;
  };

  /** Up to the end, or to a brace that closes more than was opened. */
  const code = (): void => {
    let depth = 0;
    /** The last token that counts. */
    let before = '';
    while (at < source.length) {
      if (take(quiet) !== null) continue;
      const from = at;
      const text = take(quoted);
      if (text !== null) found.push({ at: from, text: text.slice(1, -1) });
      else if (source[at] === '`') template();
      else if (!(source[at] === '/' && beforeRegex.test(before) && take(regex)) && !take(word)) {
        if (source[at] === '}' && depth === 0) return;
        depth += source[at] === '{' ? 1 : source[at] === '}' ? -1 : 0;
        at += 1;
      }
      before = source.slice(from, at);
    }
  };

  code();
  return withLines(source, found);
}

function withLines(source: string, found: readonly { at: number; text: string }[]): readonly Literal[] {
  let line = 1;
  let seen = 0;
  return found.map(({ at, text }) => {
    line += source.slice(seen, at).split('\n').length - 1;
    seen = at;
    return { line, text };
  });
}
