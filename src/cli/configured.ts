// Checked configuration of a command that needs more than places. A problem becomes the error that ends the command.

import { dirname, resolve } from 'node:path';
import type { PingTarget } from '../channels/post.ts';
import { inconsistencies } from '../config/checks.ts';
import { alertsWithProxy, type ChannelConfig, type GuardSettings } from '../config/config.ts';
import { guardSchema } from '../config/guard-schema.ts';
import { loadConfig, proxiesOf, type ValidConfig, withEgress } from '../config/load.ts';
import { checkPart, readSource, substitute } from '../config/source.ts';
import { formatProblem, type Path, type Problem } from '../world/schema/problem.ts';
import { section } from '../world/schema/section.ts';
import { configurationError } from './configuration.ts';
import { CommandError } from './errors.ts';

/** Loads the configuration, or only `sections`. Throws a CommandError with every problem of what it loads. */
export function loadConfigured(file: string, sections: Parameters<typeof loadConfig>[2] = null): ValidConfig {
  const loaded = loadConfig(file, process.env, sections);
  if (loaded.ok) return loaded;
  throw configurationError(file, loaded.problems);
}

const guardFile = section({ guard: guardSchema });

/** Reads the guard section. Throws a CommandError with every problem of the section. */
export function guardOf(file: string): GuardSettings {
  const source = readSource(file);
  if (!('tree' in source)) throw problemsOf(file, source);
  const tree: Readonly<Record<string, unknown>> = { ...source.tree };
  // A file with accounts is a whole configuration; in any other file, a key other than guard is a mistake.
  const written = tree['accounts'] === undefined ? tree : { guard: tree['guard'] ?? {} };
  const folder = dirname(resolve(file));
  const schema = guardFile;
  const part = checkPart({ source, written, schema, environment: process.env, folder, rules: inconsistencies });
  if ('problems' in part) throw problemsOf(file, part.problems);
  return part.checked.guard;
}

function problemsOf(file: string, problems: readonly Problem[]): CommandError {
  const lines = problems.map((problem) => formatProblem(file, problem));
  return new CommandError('configuration', lines.join('\n'), problems);
}

interface ChannelOf {
  /** Channel with this name, or null if there is none. */
  readonly channel: ChannelConfig | null;
  /** Names of all channels, in the order of the file. */
  readonly names: readonly string[];
  /**
   * Target of the heartbeat if `name` means it and no channel has that name; null otherwise, or if no heartbeat is
   * configured.
   */
  readonly heartbeat: PingTarget | null;
  /** Time zone of the times in its messages. */
  readonly timeZone: string;
}

/** Name of the heartbeat on the command line. */
export const heartbeatArgument = 'heartbeat';

/**
 * Reads only the channel with this name, and the time zone; the rest of the file is not checked. Throws a CommandError
 * with every problem of what it reads.
 */
export function channelOf(path: string, name: string): ChannelOf {
  const source = readSource(path);
  if (!('tree' in source)) throw configurationError(path, source);
  const { alerts, proxy, proxy_file } = mapping(source.tree);
  const { channels, time_zone, heartbeat: beat } = mapping(alerts);
  const all = Array.isArray(channels) ? channels.map(mapping) : [];
  const nameOf = (channel: ParsedFile) => substitute(channel['name'], process.env, '').tree;
  const index = all.findIndex((one) => nameOf(one) === name);
  const heartbeat = index < 0 && name === heartbeatArgument ? beat : undefined;
  const kept = { channels: index < 0 ? [] : [all[index]], time_zone, heartbeat };
  const part = checkPart({
    source: { ...source, findings: [] },
    written: { alerts: written(kept), ...written({ proxy, proxy_file }) },
    schema: alertsWithProxy,
    environment: process.env,
    folder: dirname(resolve(path)),
    at: (place) => inFile(place, index),
  });
  if ('problems' in part) throw configurationError(path, part.problems);
  const { checked } = part;
  const {
    channels: found,
    heartbeat: target,
    rules,
  } = withEgress(checked.alerts, proxiesOf(checked.proxy, process.env));
  return {
    channel: found[0] ?? null,
    names: all.map(nameOf).filter((one) => typeof one === 'string'),
    heartbeat: target,
    timeZone: rules.timeZone,
  };
}

/** Replaces the index in a path: the checked list has one channel, and this is its place in the file. */
function inFile(path: Path, index: number): Path {
  const [first, second, third, ...rest] = path;
  return first === 'alerts' && second === 'channels' && third === 0 ? [first, second, index, ...rest] : path;
}

type ParsedFile = Readonly<Record<string, unknown>>;

function mapping(value: unknown): ParsedFile {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ParsedFile) : {};
}

/** Keys that have a value. */
function written(keys: ParsedFile): ParsedFile {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}
