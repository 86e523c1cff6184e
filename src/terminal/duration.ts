// A duration on the command line, written as in the configuration: 90s, 1h, 7d.
import { InvalidArgumentError } from 'commander';
import { readDuration } from '../config/scalars.ts';

/** Milliseconds. Throws what commander shows beside the option. */
export function duration(text: string): number {
  const ms = readDuration(text);
  if (typeof ms === 'string') throw new InvalidArgumentError(ms);
  if (ms === 0) throw new InvalidArgumentError('It must be more than 0.');
  return ms;
}
