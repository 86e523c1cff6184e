// One channel of a configuration, for whoever tries it out: no key and no secret of anything else is asked for.
import { dirname, resolve } from 'node:path';
import type { PingTarget } from '../../channels/post.ts';
import { buildChannel, proxiesOf } from '../../config/build.ts';
import type { ChannelConfig } from '../../config/config.ts';
import { inconsistencies } from '../../config/consistency.ts';
import { placeFindings, readSource } from '../../config/load.ts';
import { checkAgainst, type Finding, type Path } from '../../config/problem.ts';
import { configSchema } from '../../config/schema.ts';
import { substitute } from '../../config/substitute.ts';
import { configurationError } from './loading.ts';

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

const alertsSchema = configSchema.pick({ alerts: true, proxy: true, proxy_file: true });
const listPath = ['alerts', 'channels'] as const;

/**
 * Reads only the channel that is called `name`, and the time zone; the rest of the file is not checked. Throws a
 * CommandError with every problem of what it reads.
 */
export function channelOf(path: string, name: string): ChannelOf {
  const source = readSource(path);
  if (!('tree' in source)) throw configurationError(path, source);
  const folder = dirname(resolve(path));
  const { channels: written = [], time_zone, heartbeat: beat } = alertsOf(source.tree);
  const heartbeat = name === heartbeatArgument && beat !== undefined ? { heartbeat: beat } : {};
  const { proxy, proxy_file } = source.tree as { readonly proxy?: unknown; readonly proxy_file?: unknown };
  const ways = { ...(proxy === undefined ? {} : { proxy }), ...(proxy_file === undefined ? {} : { proxy_file }) };
  const asked = { ...ways, alerts: { channels: written, time_zone, ...heartbeat } };
  const substitution = substitute(asked, process.env, folder);
  const all = listOf(alertsOf(substitution.tree).channels);
  const index = all.findIndex((one) => nameOf(one) === name);
  const tree = {
    ...(substitution.tree as object),
    alerts: { ...alertsOf(substitution.tree), channels: index < 0 ? [] : [all[index]] },
  };
  const { findings, checked } = checkAgainst(alertsSchema, tree);
  const placed = [...findings, ...inconsistencies(tree)].map((finding) => at(finding, index));
  const unresolved = substitution.findings.filter((finding) => concerns(finding.path, index));
  const silent = new Set(unresolved.map((finding) => finding.path.join()));
  const wrong = [...unresolved, ...placed.filter((finding) => !silent.has(finding.path.join()))].filter(
    ({ path: [section] }) => section === 'alerts' || section === 'proxy' || section === 'proxy_file',
  );
  if (wrong.length > 0 || checked === null) throw configurationError(path, placeFindings(wrong, source, substitution));
  const proxies = proxiesOf(checked.proxy, process.env);
  const url = index < 0 ? checked.alerts.heartbeat?.url : undefined;
  return {
    channel: checked.alerts.channels.map((channel) => buildChannel(channel, proxies))[0] ?? null,
    names: all.flatMap((one) => nameOf(one) ?? []),
    heartbeat: url === undefined ? null : { url, egress: { proxies, ca: null } },
    timeZone: checked.alerts.time_zone,
  };
}

/** Of the channel at this place of the list, or of no channel. */
function concerns([, key, place]: Path, index: number): boolean {
  return key !== 'channels' || place === index;
}

/** The only channel that was checked stands at this place of the list. */
function at(finding: Finding, index: number): Finding {
  const [first, second, third, ...rest] = finding.path;
  if (first !== listPath[0] || second !== listPath[1] || third === undefined) return finding;
  return { ...finding, path: [...listPath, index, ...rest] };
}

interface Alerts {
  readonly channels?: unknown;
  readonly time_zone?: unknown;
  readonly heartbeat?: unknown;
}

function alertsOf(tree: unknown): Alerts {
  const alerts = typeof tree === 'object' && tree !== null && 'alerts' in tree ? tree.alerts : null;
  return typeof alerts === 'object' && alerts !== null && !Array.isArray(alerts) ? alerts : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nameOf(channel: unknown): string | null {
  const named = typeof channel === 'object' && channel !== null && 'name' in channel;
  return named && typeof channel.name === 'string' ? channel.name : null;
}
