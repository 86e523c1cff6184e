// The terminal that the output goes to: its size, and whether it shows colours.
import { wrapped } from './wrapped.ts';

/** Letters in a line of standard output: those of the screen; as many as it takes where a program reads, or its size is unknown. */
export function screenColumns(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Sentences as lines that the screen holds, broken between words. */
export function onScreen(sentences: readonly string[]): readonly string[] {
  return sentences.flatMap((sentence) => wrapped(sentence, screenColumns()));
}

/** Lines of the screen; null where a program reads. */
export function screenRows(): number | null {
  const { isTTY, rows } = process.stdout;
  return isTTY && rows > 0 ? rows : null;
}

export function showsColours(): boolean {
  return process.stdout.isTTY === true && !process.env['NO_COLOR'];
}
