// A log that keeps its errors, so that a test can fail for those that it does not expect.
import { pino } from 'pino';

const errorLevel = 50;
const warnLevel = 40;

/** `expected`: parts of messages. */
export function errorLog(expected: readonly string[]) {
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
    expect: (...more: readonly string[]) => void parts.push(...more),
    /** Messages of errors with that part, oldest first. */
    saying: (part: string) => errors.map(({ msg }) => msg).filter((msg) => msg.includes(part)),
    /** Warnings with that part, each with what it was about, oldest first. */
    warned: (part: string) => warnings.filter((line) => line.includes(part)),
    /** The errors that are not expected, each with what it was about. */
    unexpected: () => errors.filter(({ msg }) => !parts.some((part) => msg.includes(part))).map(({ line }) => line),
  };
}
