// Configuration of a command: all of it, one section, or only its places. A problem becomes the error that ends the
// command.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AlertsConfig, alertsWithProxy, type GuardSettings } from '../config/config.ts';
import { guardSchema } from '../config/guard-schema.ts';
import { readSource } from '../config/include.ts';
import { loadConfig, proxiesOf, type ValidConfig, withEgress } from '../config/load.ts';
import { loadPart, loadPlaces, type Places, usualStore } from '../config/places.ts';
import { checkPart } from '../config/source.ts';
import type { StorePlace } from '../core/store-failure.ts';
import { socketPathOf } from '../operations/socket.ts';
import { formatProblem, type Problem } from '../world/schema/problem.ts';
import { section } from '../world/schema/section.ts';
import { CommandError } from './errors.ts';
import { configVariable, notFound } from './options.ts';

/** JSON Schema of the configuration for editors. It ships with the program, beside config.example.yaml. */
export const editorSchema = fileURLToPath(new URL('../../config.schema.json', import.meta.url));

function problemsError(file: string, problems: readonly Problem[]): CommandError {
  const lines = problems.map((problem) => formatProblem(file, problem));
  return new CommandError('configuration', lines.join('\n'), { problems });
}

/** Error with every problem on a line of its own, or with how to create a missing file. */
export function configurationError(file: string, problems: readonly Problem[]): CommandError {
  if (existsSync(file)) return problemsError(file, problems);
  const name = `Name your file with --config FILE or in ${configVariable}. To create one: warmwarden init`;
  return new CommandError('configuration', `${notFound(file)}\n${name}`, { problems });
}

/** Places of the store and the recipes; needs neither the rest of the file nor the daemon's environment. */
export function findPlaces(file: string): Extract<Places, { ok: true }> {
  const places = loadPlaces(file, process.env);
  if (places.ok) return places;
  throw configurationError(file, places.problems);
}

/**
 * Address of the configuration's daemon. `mayBeUsual`: if the file cannot be read now, uses a daemon on the default
 * store, which may be another one.
 */
export function findDaemon(file: string, mayBeUsual: boolean): StorePlace {
  const places = loadPlaces(file, process.env);
  if (places.ok) return places.store;
  const error = configurationError(file, places.problems);
  const usual = usualStore(file);
  if (mayBeUsual && existsSync(socketPathOf(usual))) {
    const asked = `Warmwarden looks for a daemon at the default store ${usual} instead. A daemon that runs there still has its earlier configuration. Only \`status\` and \`writes off\` do so: other commands, such as \`writes on\`, need a file that can be read.`;
    process.stderr.write(`warning: ${error.message.split('\n')[0]}\n${asked}\n`);
    return usual;
  }
  if (!existsSync(file)) throw error;
  const hint =
    'Correct the file. A running daemon still has its earlier configuration: to reach it now, use the page, pass --url with its address, or pass --config with a file that has the same store.url.';
  throw new CommandError('configuration', `${error.message}\n${hint}`, { problems: places.problems });
}

/** Place of the store. Throws the error above. */
export function findStore(file: string): StorePlace {
  return findPlaces(file).store;
}

/** Loads the configuration, or only `sections`. Throws a CommandError with every problem of what it loads. */
export function loadConfigured(file: string, sections: Parameters<typeof loadConfig>[2] = null): ValidConfig {
  const loaded = loadConfig(file, process.env, sections);
  if (loaded.ok) return loaded;
  throw configurationError(file, loaded.problems);
}

/** Reads the alerts and the proxy; the rest of the file is not checked. Throws the error above. */
export function alertsOf(file: string): AlertsConfig {
  const part = loadPart(file, process.env, alertsWithProxy, ['alerts', 'proxy', 'proxy_file']);
  if ('problems' in part) throw configurationError(file, part.problems);
  return withEgress(part.checked.alerts, proxiesOf(part.checked.proxy, process.env));
}

/** Reads the guard section of a whole configuration, or of a file without accounts. Throws a CommandError with every problem. */
export function guardOf(file: string): GuardSettings {
  const source = readSource(file);
  if (!('tree' in source)) throw problemsError(file, source);
  const tree: Readonly<Record<string, unknown>> = { ...source.tree };
  // In a file without accounts, a key other than guard is a mistake.
  const written = tree['accounts'] === undefined ? tree : { guard: tree['guard'] ?? {} };
  const schema = section({ guard: guardSchema });
  const part = checkPart({ source, written, schema, environment: process.env });
  if ('problems' in part) throw problemsError(file, part.problems);
  return part.checked.guard;
}
