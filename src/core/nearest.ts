// The known word that somebody probably meant.

/** ` (did you mean X?)` for the nearest of `known`, or an empty string when none is near, or differs in more letters. */
export function didYouMean(word: string, known: readonly string[], mostEdits = Number.POSITIVE_INFINITY): string {
  const near = nearest(word, known, mostEdits);
  return near === null ? '' : ` (did you mean ${near}?)`;
}

/** Number of suggested names. */
const mostSuggested = 3;
/** Largest number of names that are compared letter by letter. */
const mostCompared = 2_000;
/** A name that differs in more letters is another one: addresses of a domain are alike. */
export const mostMistyped = 2;
/** An address that begins otherwise is not compared: people look up what they wrote. */
const sameLetters = 2;

/**
 * ` Did you mean X, Y or Z?` for those of `known` that hold the word; without one, for the nearest that begins with the same
 * letters; or an empty string.
 */
export function suggestion(word: string, known: readonly string[]): string {
  const wanted = word.toLowerCase();
  const holding = wanted === '' ? [] : known.filter((name) => name.toLowerCase().includes(wanted));
  const begun = wanted.slice(0, sameLetters);
  const alike = () => known.filter((name) => name.toLowerCase().startsWith(begun)).slice(0, mostCompared);
  const meant = holding.length > 0 ? holding : [nearest(word, alike(), mostMistyped)].filter((name) => name !== null);
  const [last, ...others] = [...new Set(meant)].slice(0, mostSuggested).reverse();
  if (last === undefined) return '';
  return ` Did you mean ${others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`}?`;
}

/** The known word with the fewest edits, when those are at most a third of its letters (or one, in short words). */
function nearest(word: string, known: readonly string[], mostEdits: number): string | null {
  let best: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const count = edits(word.toLowerCase(), candidate.toLowerCase());
    const most = Math.min(Math.max(1, Math.floor(candidate.length / 3)), candidate.length - 1);
    if (count < fewest && count <= Math.min(most, mostEdits)) {
      best = candidate;
      fewest = count;
    }
  }
  return best;
}

/** Number of letters to insert, remove, replace or swap with their neighbour on the way from `a` to `b`. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replace, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? least) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

// Text of an error, whatever was thrown.

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// The letter NUL, which no text of PostgreSQL holds.

/** The text with the replacement character in the place of each NUL: the same on every store, and in memory. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
