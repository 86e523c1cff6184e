// One channel of a configuration, for whoever tries it out: no key and no secret of anything else is asked for.
import { dirname, resolve } from 'node:path';
import type { PingTarget } from '../../channels/post.ts';
import { alertsWithProxy, type ChannelConfig } from '../../config/config.ts';
import { proxiesOf, withEgress } from '../../config/load.ts';
import { checkPart, readSource, substitute } from '../../config/source.ts';
import type { Path } from '../../schema/problem.ts';
import { configurationError } from '../configuration.ts';

interface ChannelOf {
  /** null: no channel has this name. */
  readonly channel: ChannelConfig | null;
  /** Of all channels, in the order of the file. */
  readonly names: readonly string[];
  /** Where the heartbeat goes, when it is asked for by its name and no channel has that; null: nowhere. */
  readonly heartbeat: PingTarget | null;
  /** The zone in which its messages give times. */
  readonly timeZone: string;
}

/** Name of the heartbeat on the command line. */
export const heartbeatArgument = 'heartbeat';

/**
 * Reads only the channel that is called `name`, and the time zone; the rest of the file is not checked. Throws a
 * CommandError with every problem of what it reads.
 */
export function channelOf(path: string, name: string): ChannelOf {
  const source = readSource(path);
  if (!('tree' in source)) throw configurationError(path, source);
  const { alerts, proxy, proxy_file } = mapping(source.tree);
  const { channels, time_zone, heartbeat: beat } = mapping(alerts);
  const all = Array.isArray(channels) ? channels.map(mapping) : [];
  const nameOf = (channel: Mapping) => substitute(channel['name'], process.env, '').tree;
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

/** The only channel that is checked stands at this place of the list. */
function inFile(path: Path, index: number): Path {
  const [first, second, third, ...rest] = path;
  return first === 'alerts' && second === 'channels' && third === 0 ? [first, second, index, ...rest] : path;
}

type Mapping = Readonly<Record<string, unknown>>;

function mapping(value: unknown): Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {};
}

/** The keys that have a value. */
function written(keys: Mapping): Mapping {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}
