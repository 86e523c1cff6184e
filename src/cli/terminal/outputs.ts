// What a command does when standard output or error cannot be written: most commands end, a server goes on.
import { exitFailed } from './command-error.ts';
import { wrapped } from './wrapped.ts';

let goesOn = false;

/** Called once, before anything is written. */
export function watchOutputs(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (goesOn) return;
    // A reader that has seen enough (`| head`) is no fault.
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`warmwarden: standard output could not be written: ${error.message}\n`);
    process.exit(exitFailed);
  });
  // What cannot be said on standard error can be said nowhere.
  process.stderr.on('error', () => {});
}

/** From now on the command does its work whether or not anybody reads what it writes. */
export function goOnWithoutOutputs(): void {
  goesOn = true;
}

// The terminal that the output goes to: its size, and whether it shows colours.

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
