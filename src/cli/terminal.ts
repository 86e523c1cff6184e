// Output of a command: plain text and tables. A pipe receives everything; a screen receives what fits.
import { styleText } from 'node:util';
import { momentText, visibleText } from '../core/wording/phrases.ts';
import { exitFailed } from './errors.ts';

let goesOn = false;

/** Ends the command when standard output cannot be written. Called once, before anything is written. */
export function watchOutputs(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (goesOn) return;
    // A reader that closes early (`| head`) is not a failure.
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`warmwarden: standard output could not be written: ${error.message}\n`);
    process.exit(exitFailed);
  });
  // A failure of standard error cannot be reported anywhere.
  process.stderr.on('error', () => {});
}

/** Keeps the command running from now on even if its output cannot be written. */
export function goOnWithoutOutputs(): void {
  goesOn = true;
}

/** Width of the screen in characters; infinite if a program reads the output, or if the width is unknown. */
function screenColumns(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Lines of the screen; infinite if a program reads the output. */
export function screenRows(): number {
  const { isTTY, rows } = process.stdout;
  return isTTY && rows > 0 ? rows : Number.POSITIVE_INFINITY;
}

/** Colours text on a screen, unless NO_COLOR is set. */
export function coloured(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText(style, text, { validateStream: false }) : text;
}

/** Prints sentences, each on a line of its own, wrapped at the width of the screen. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${onScreen(line)}\n`).join(''));
}

/** Text wrapped at the width of the screen. */
export function onScreen(text: string): string {
  return wrapped(text, screenColumns()).join('\n');
}

/**
 * A command between backticks, or between the quotation marks of a Slack text, is not broken, so that it runs as
 * printed.
 */
const words = /(?:`[^`]*`|(?<=^|\s)'[^']*'|\S)+/g;

/** Lines of at most `width` characters, with the indent of the text; a longer word has a line of its own. */
export function wrapped(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text];
  const indent = /^ */.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  for (const [word] of text.matchAll(words)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines;
}

const helpWidth = 80;

/** Term of --help with its meaning, indented below it. */
export function helpEntry(term: string, meaning: string): string {
  return `${term}${wrapped(meaning, helpWidth - term.length).join(`\n${' '.repeat(term.length)}`)}`;
}

/** Column of a table. Numbers are right-aligned. */
export interface TableColumn {
  readonly title: string;
  readonly numbers?: boolean;
}

/** Fewest characters to which a column of words is cut. */
const leastLetters = 12;

/** Lines of a table: the titles, then one for each row. Cuts the widest column of words if the screen is too narrow. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  screen = screenColumns(),
): readonly string[] {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(visibleText))];
  const widths = columns.map((_, index) => lines.reduce((most, line) => Math.max(most, line[index]?.length ?? 0), 0));
  const over = widths.reduce((sum, width) => sum + width + 2, -2) - screen;
  const ofWords = widths.map((width, index) => (columns[index]?.numbers ? 0 : width));
  const widest = ofWords.indexOf(Math.max(...ofWords));
  if (over > 0) widths[widest] = Math.max(leastLetters, (widths[widest] ?? 0) - over);
  const cell = (text: string, index: number) => {
    const width = widths[index] ?? 0;
    return columns[index]?.numbers ? text.padStart(width) : shortened(text, width).padEnd(width);
  };
  return lines.map((line) => line.map(cell).join('  ').trimEnd());
}

export function printTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(`${tableLines(columns, rows).join('\n')}\n`);
}

/** Shortens a text to at most `width` characters; a cut text ends with an ellipsis. */
function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Formats bytes for people: `512 B`, `24 KB`, `1.2 GB`. */
export function bytesText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || size >= 10 ? Math.round(size) : Number(size.toFixed(1))} ${units[unit]}`;
}

/** Formats `2026-03-20T10:02:00.000Z` as `20 March 11:02 Europe/Berlin`. `zone`: an IANA name. */
export function momentIn(zone: string): (at: string) => string {
  return (at) => momentText(Date.parse(at), zone);
}

/** Formats `until 20 March 10:02 UTC by anna`. `zone`: an IANA name. */
export function silencedText({ by, until }: { readonly by: string; readonly until: string }, zone: string): string {
  return `until ${momentIn(zone)(until)} by ${visibleText(by)}`;
}
