// Names that are near to a mistyped one, and small helpers for texts.
const mostCompared = 2_000;
/** A name that differs in more letters is another one. */
const mostMistyped = 2;

/** An unfinished name of at least this many letters is near to the whole one. */
const leastBegun = 4;

/** ` (did you mean X?)`, or an empty string. */
export function didYouMean(word: string, known: readonly string[]): string {
  let [best, fewest] = ['', Number.POSITIVE_INFINITY];
  for (const candidate of known.slice(0, mostCompared)) {
    const [typed, whole] = [word.toLowerCase(), candidate.toLowerCase()];
    const isBegun = typed.length >= leastBegun && whole.startsWith(typed);
    const count = isBegun ? 1 : edits(typed, whole);
    // At most a third of its letters, or one in short words.
    const most = Math.min(mostMistyped, Math.max(1, Math.floor(candidate.length / 3)), candidate.length - 1);
    if (count <= most && count < fewest) [best, fewest] = [candidate, count];
  }
  return best === '' ? '' : ` (did you mean ${best}?)`;
}

/** `No recipe is called at-riks (did you mean at-risk?).` `otherwise`: the next step if no name is near. */
export function notCalled(thing: string, word: string, known: readonly string[], otherwise: string): string {
  const near = didYouMean(word, known);
  return `No ${thing} is called ${word}${near}.${near === '' ? ` ${otherwise}` : ''}`;
}

/** `The accounts are: a, b.` */
export function namesAre(things: string, names: readonly string[]): string {
  return `The ${things} are: ${names.join(', ') || 'none'}.`;
}

/** Counts inserted, removed, replaced and swapped letters. */
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

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** PostgreSQL accepts no NUL in a text. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

/** Orders by UTF-16 units, in every locale alike. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
