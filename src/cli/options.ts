// Options that several commands have, worded once, and the values that they take.
import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { readDuration } from '../world/schema/scalars.ts';
import type { Shapes } from './shapes/shapes.ts';

export const configVariable = 'WARMWARDEN_CONFIG';
const besideUs = 'config.yaml';
const ofTheMachine = '/etc/warmwarden/config.yaml';

/** Option `--config`: defaults to WARMWARDEN_CONFIG, then ./config.yaml, then /etc/warmwarden/config.yaml. */
export function configOption(): Option {
  return new Option('--config <file>', 'the configuration file').default(
    usualConfig(),
    `${configVariable}, else ./${besideUs}, else ${ofTheMachine}`,
  );
}

function usualConfig(): string {
  const named = process.env[configVariable];
  if (named) return named;
  return existsSync(besideUs) || !existsSync(ofTheMachine) ? besideUs : ofTheMachine;
}

/** Sentence that names the places without a configuration. */
export function notFound(file: string): string {
  const named = process.env[configVariable];
  if (named)
    return file === named ? `${file}, which ${configVariable} names, does not exist.` : `${file} does not exist.`;
  if (file !== besideUs || existsSync(ofTheMachine)) return `${file} does not exist.`;
  return `There is no configuration: ${configVariable} is not set, and neither ./${besideUs} nor ${ofTheMachine} exists.`;
}

/** Reads `90s`, `1h` or `7d` as milliseconds. Throws the error that commander shows with the option. */
export function duration(text: string): number {
  const ms = readDuration(text);
  if (typeof ms === 'string') throw new InvalidArgumentError(ms);
  if (ms === 0) throw new InvalidArgumentError('It must be more than 0.');
  return ms;
}

/** Reads a whole number from `least` to `most`. Throws the error that commander shows with the option. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

export interface JsonOptions {
  readonly json?: boolean;
}

export interface ConfigOptions extends JsonOptions {
  readonly config: string;
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON, also for errors');
}

/** Output of each command with --json, by the words of the command. */
export type Answers = { readonly [Name in keyof Shapes]: z.input<Shapes[Name]> };

export function printJson<Name extends keyof Shapes>(_command: Name, answer: Answers[Name]): void {
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
}
