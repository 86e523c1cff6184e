// Configuration of a command that only needs places or the retention. A problem becomes the error that ends the
// command.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadPlaces, loadRetention, type Places, usualStore } from '../config/places.ts';
import type { Retention, StorePlace } from '../core/store-failure.ts';
import { socketPathOf } from '../operations/socket.ts';
import { shellPath } from '../world/command-name.ts';
import { formatProblem, type Problem } from '../world/schema/problem.ts';
import { CommandError } from './errors.ts';
import { configVariable, notFound } from './options.ts';

/** Example configuration that ships with the program. */
const example = fileURLToPath(new URL('../../config.example.yaml', import.meta.url));

/** Error with every problem on a line of its own, or with how to create a missing file. */
export function configurationError(file: string, problems: readonly Problem[]): CommandError {
  if (existsSync(file)) {
    const lines = problems.map((problem) => formatProblem(file, problem));
    return new CommandError('configuration', lines.join('\n'), problems);
  }
  const begin = `cp ${shellPath(example, process.cwd())} config.yaml`;
  const name = `Name your file with --config FILE or in ${configVariable}. To create one: ${begin}`;
  return new CommandError('configuration', `${notFound(file)}\n${name}`, problems);
}

/**
 * Places of the store and the recipes, for commands that connect to the daemon or read its store. Ignores other
 * problems of the file, and does not need the daemon's environment. Throws the error above.
 */
export function findPlaces(file: string): Extract<Places, { ok: true }> {
  const places = loadPlaces(file, process.env);
  if (places.ok) return places;
  throw configurationError(file, places.problems);
}

/**
 * Address of the configuration's daemon; a file that cannot be read at the moment (half-written, empty, gone) has none.
 * `mayBeUsual`: in that case uses a daemon on the default store; unsuitable for commands that could harm another
 * daemon. Throws the error above.
 */
export function findDaemon(file: string, mayBeUsual: boolean): StorePlace {
  const places = loadPlaces(file, process.env);
  if (places.ok) return places.store;
  const error = configurationError(file, places.problems);
  const usual = usualStore(file);
  if (mayBeUsual && existsSync(socketPathOf(usual))) {
    const asked = `Warmwarden looks for a daemon at the default store ${usual} instead. A daemon that runs there still has its earlier configuration.`;
    process.stderr.write(`warning: ${error.message.split('\n')[0]}\n${asked}\n`);
    return usual;
  }
  if (!existsSync(file)) throw error;
  const hint =
    'Correct the file. A running daemon still has its earlier configuration: to reach it now, use the page, pass --url with its address, or pass --config with a file that has the same store.url.';
  throw new CommandError('configuration', `${error.message}\n${hint}`, places.problems);
}

/** Time for which the daemon keeps history. Throws the error above. */
export function findRetention(file: string): Retention {
  const found = loadRetention(file, process.env);
  if ('retention' in found) return found.retention;
  throw configurationError(file, found.problems);
}

/** Place of the store. Throws the error above. */
export function findStore(file: string): StorePlace {
  return findPlaces(file).store;
}
