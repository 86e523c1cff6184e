// Makes what other people wrote safe to look at: control and direction characters become visible.

/**
 * C0 and C1 controls, soft hyphen, zero-width and direction marks, separators, tags and lone surrogates:
 * what hides, reorders or breaks text. Zero-width joiners are left alone: scripts and emoji need them.
 */
const deceptive =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e007f}]/gu;

/** What most texts are made of, and all that is to be known of them. */
const plain = /^[\x20-\x7e]*$/;

/** The text with every such character written as [U+202E]. Markup is not escaped: that is the place's own matter. */
export function visibleText(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(deceptive, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
