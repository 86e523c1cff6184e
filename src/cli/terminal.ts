// Output of a command: plain text and tables, the same on a screen and in a pipe but for the colours.
import { styleText } from 'node:util';
import { Help } from 'commander';
import { acknowledgedText } from '../core/wording/explain.ts';
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

/** Colours text on a screen, unless NO_COLOR is set. */
export function coloured(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText(style, text, { validateStream: false }) : text;
}

export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Titles of the columns, and the rows below them. */
export interface Table {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Titles of the columns with numbers, which are right-aligned. */
  readonly numbers?: readonly string[];
}

export function tableLines({ titles, rows, numbers = [] }: Table): readonly string[] {
  const lines = [titles, ...rows.map((row) => row.map(visibleText))];
  const widths = titles.map((_, index) => lines.reduce((most, line) => Math.max(most, line[index]?.length ?? 0), 0));
  const cell = (text: string, index: number) =>
    numbers.includes(titles[index] ?? '') ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0);
  return lines.map((line) => line.map(cell).join('  ').trimEnd());
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Breaks a text between words. */
export function wrapped(text: string, width: number): readonly string[] {
  return new Help().boxWrap(text, width).split('\n');
}

const helpWidth = 80;

/** Term of --help with its meaning, indented below it. */
export function helpEntry(term: string, meaning: string): string {
  return `${term}${wrapped(meaning, helpWidth - term.length).join(`\n${' '.repeat(term.length)}`)}`;
}

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

/** Formats `Acknowledged by anna on 20 March 10:02 UTC: the provider knows.` `zone`: an IANA name. */
export function acknowledgedIn(
  zone: string,
  one: { readonly by: string; readonly reason: string; readonly at: string },
) {
  return visibleText(acknowledgedText({ ...one, at: Date.parse(one.at) }, zone));
}

/** Formats `until 20 March 10:02 UTC by anna`. `zone`: an IANA name. */
export function silencedText({ by, until }: { readonly by: string; readonly until: string }, zone: string): string {
  return `until ${momentIn(zone)(until)} by ${visibleText(by)}`;
}
