// What a command needs of the configuration beside the daemon, or its problems as the error that ends the command.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadPlaces, loadRetention, type Places, usualStore } from '../config/places.ts';
import type { Retention, StorePlace } from '../core/store-failure.ts';
import { socketPathOf } from '../operations/socket.ts';
import { formatProblem, type Problem } from '../schema/problem.ts';
import { shellPath } from '../world/command-name.ts';
import { CommandError } from './errors.ts';
import { configVariable, notFound } from './options.ts';

/** It ships with the program. */
const example = fileURLToPath(new URL('../../config.example.yaml', import.meta.url));

/** Every problem on a line of its own, and how to begin a file where there is none. */
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
 * Where the store and the recipes of a configuration are, for commands that speak to its daemon or read its store:
 * whatever else is wrong with the file, and without the daemon's environment. Throws as above.
 */
export function findPlaces(file: string): Extract<Places, { ok: true }> {
  const places = loadPlaces(file, process.env);
  if (places.ok) return places;
  throw configurationError(file, places.problems);
}

/**
 * Where the daemon of a configuration is asked. A file that cannot be read at the moment (half-written, empty, gone) does not say that.
 * `mayBeUsual`: then it is the daemon beside the usual store, if one is there; not for what would do harm to another one. Throws as above.
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

/** How long the daemon keeps history; as above. */
export function findRetention(file: string): Retention {
  const found = loadRetention(file, process.env);
  if ('retention' in found) return found.retention;
  throw configurationError(file, found.problems);
}

/** Only where the store is. */
export function findStore(file: string): StorePlace {
  return findPlaces(file).store;
}
