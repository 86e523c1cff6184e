// A whole number on the command line, within its range.
import { InvalidArgumentError } from 'commander';

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
