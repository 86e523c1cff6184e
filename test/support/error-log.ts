// A log that keeps its errors, so that a test can fail for those that it does not expect.
import { pino } from 'pino';
import type { Log } from '../../src/world/world.ts';

export interface ErrorLog {
  readonly log: Log;
  /** Parts of messages that are expected. */
  expect(...parts: readonly string[]): void;
  /** Messages of errors with that part, oldest first. */
  saying(part: string): readonly string[];
  /** Warnings with that part, each with what it was about, oldest first. */
  warned(part: string): readonly string[];
  /** The errors that are not expected, each with what it was about. */
  unexpected(): readonly string[];
}

const errorLevel = 50;
const warnLevel = 40;

export function errorLog(expected: readonly string[]): ErrorLog {
  const parts = [...expected];
  const errors: { readonly msg: string; readonly line: string }[] = [];
  const warnings: string[] = [];
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string };
    if (level === warnLevel) warnings.push(line.trim());
    if (level >= errorLevel) errors.push({ msg, line: line.trim() });
  };
  return {
    log: pino({ level: 'warn', base: null, timestamp: false }, { write }),
    expect: (...more) => void parts.push(...more),
    saying: (part) => errors.map(({ msg }) => msg).filter((msg) => msg.includes(part)),
    warned: (part) => warnings.filter((line) => line.includes(part)),
    unexpected: () => errors.filter(({ msg }) => !parts.some((part) => msg.includes(part))).map(({ line }) => line),
  };
}
