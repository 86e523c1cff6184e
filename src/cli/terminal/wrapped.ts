// Text in lines that a screen holds, broken between words. Pure.

import { InvalidArgumentError } from 'commander';
import { momentText, visibleText } from '../../core/wording/phrases.ts';
import { readDuration } from '../../schema/scalars.ts';

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

// Bytes for people: `512 B`, `24 KB`, `1.2 GB`.

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export function bytesText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || size >= 10 ? Math.round(size) : Number(size.toFixed(1))} ${units[unit]}`;
}

// A duration on the command line, written as in the configuration: 90s, 1h, 7d.

/** Milliseconds. Throws what commander shows beside the option. */
export function duration(text: string): number {
  const ms = readDuration(text);
  if (typeof ms === 'string') throw new InvalidArgumentError(ms);
  if (ms === 0) throw new InvalidArgumentError('It must be more than 0.');
  return ms;
}

// Moments of an answer for the person at the terminal: in the zone in which its sentences give times, too.

/** `2026-03-20T10:02:00.000Z` as `20 March 11:02 Europe/Berlin`. `zone`: an IANA name. */
export function momentIn(zone: string): (at: string) => string {
  return (at) => momentText(Date.parse(at), zone);
}

// Until when messages about an alert are muted, and by whom, as the terminal's lists of alerts say it.

/** `until 20 March 10:02 UTC by anna`. `zone`: an IANA name. */
export function silencedText({ by, until }: { readonly by: string; readonly until: string }, zone: string): string {
  return `until ${momentIn(zone)(until)} by ${visibleText(by)}`;
}

// A whole number on the command line, within its range.

/** Reads one from `least` to `most`. Throws what commander shows beside the option. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}
