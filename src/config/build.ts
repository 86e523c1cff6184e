// What the schema made of a file -> Config. Everything was checked before; nothing fails here.
import { resolve } from 'node:path';
import { noProxies, type Proxies, proxiesIn } from '../core/egress.ts';
import type { Retention } from '../core/store-failure.ts';
import type { AccountConfig, ChannelConfig, Config, RouteConfig, ServerConfig } from './config.ts';
import { written } from './guard-schema.ts';
import type { CheckedFile } from './schema.ts';
import { placeOf } from './store-schema.ts';
import type { Environment } from './substitute.ts';

/** Requests a minute, as the mailbox API's document says. */
const requestsPerMinuteOf = { pro: 100, enterprise: 500 } as const;

/** Of the service region US. */
const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue';

/** `folder`: the configuration file's own, where relative paths begin. */
export function buildConfig(file: CheckedFile, folder: string, environment: Environment): Config {
  const { poll, alerts, api, server, log, metrics } = file;
  const proxies = proxiesOf(file.proxy, environment);
  const channels = alerts.channels.map((channel) => buildChannel(channel, proxies));
  return {
    accounts: file.accounts.map((account) => buildAccount(account, file, proxies)),
    poll: {
      health: poll.health,
      mailboxes: poll.mailboxes,
      stats: poll.stats,
      warmup: poll.warmup,
      mailbox: poll.mailbox,
      dns: poll.dns,
      blacklist: poll.blacklist,
      statsIntervalMinMs: poll.stats_interval_min,
      sparePpm: poll.spare_share,
    },
    alerts: {
      channels,
      routes: buildRoutes(alerts.routes, channels),
      groupWaitMs: alerts.group_wait,
      groupIntervalMs: alerts.group_interval,
      repeatIntervalMs: alerts.repeat_interval,
      digest: alerts.digest
        ? { at: alerts.digest.at, timeZone: alerts.digest.time_zone, channels: alerts.digest.channels }
        : null,
      heartbeat: alerts.heartbeat
        ? { url: alerts.heartbeat.url ?? '', egress: { proxies, ca: null }, intervalMs: alerts.heartbeat.interval }
        : null,
      rules: { ...alerts.rules, timeZone: alerts.time_zone },
    },
    store: placeOf(file.store, folder),
    server: buildServer(server),
    api: {
      statusWords: {
        paused: api.status_words.paused,
        running: api.status_words.running,
        notRunning: api.status_words.not_running,
      },
      dnsWords: api.dns_words,
    },
    log,
    recipes: { directory: resolve(folder, file.recipes.directory), apiKeys: file.recipes.api_keys },
    retention: retentionOf(file.retention),
    metrics: { mailboxLabel: metrics.mailbox_label, seriesLimit: metrics.series_limit },
  };
}

export function retentionOf(kept: CheckedFile['retention']): Retention {
  return {
    decisionsMs: kept.decisions,
    deliveriesMs: kept.deliveries,
    changesMs: kept.changes,
    observationsMs: kept.observations,
    runsMs: kept.runs,
    departedMs: kept.departed,
  };
}

function buildServer(server: CheckedFile['server']): ServerConfig {
  const { listen, public_url: publicUrl = null, path_prefix: prefix, tls } = server;
  const path = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
  return {
    host: listen.host,
    port: listen.port,
    publicUrl,
    pathPrefix: prefix ?? path,
    trustedProxies: server.trusted_proxies,
    allowedHosts: server.allowed_hosts,
    tls: tls ? { cert: tls.cert ?? '', key: tls.key ?? '' } : null,
    auth: server.auth ?? 'none',
  };
}

/** `written`: the key proxy; absent: as the environment says. NO_PROXY counts beside an address, too. */
export function proxiesOf(written: string | undefined, environment: Environment): Proxies {
  if (written === 'none') return noProxies;
  const { proxies } = proxiesIn(environment);
  return written === undefined ? proxies : { ...proxies, http: written, https: written };
}

function buildAccount(account: CheckedFile['accounts'][number], file: CheckedFile, proxies: Proxies): AccountConfig {
  return {
    name: account.name,
    baseUrl: account.base_url,
    apiKey: account.api_key ?? '',
    egress: { proxies, ca: account.ca ?? null },
    requestsPerMinute: account.requests_per_minute ?? requestsPerMinuteOf[account.plan ?? 'pro'],
    headroomPpm: account.headroom,
    mailboxes: account.mailboxes,
    guard: file.guard,
    tags: account.tags,
    overrides: account.overrides.map(({ match, tags = [], guard = {} }) => ({ match, tags, guard })),
  };
}

/** As the schema made it. */
export function buildChannel(channel: CheckedFile['alerts']['channels'][number], proxies: Proxies): ChannelConfig {
  const { name, ca = null } = channel;
  const egress = { proxies, ca };
  if (channel.type === 'recipe') {
    const { base_url: baseUrl, api_key: apiKey = '', recipe, apply } = channel;
    return { name, type: 'recipe', baseUrl, apiKey, recipe, apply, egress };
  }
  const { url = '' } = channel;
  switch (channel.type) {
    case 'webhook':
      return { name, type: 'webhook', url, secrets: [channel.secret ?? []].flat(), format: channel.format, egress };
    case 'email': {
      const { from, to, allow_plain: allowPlain } = channel;
      return { name, type: 'email', url, from, to, allowPlain, ca };
    }
    case 'pagerduty':
      return { name, type: 'pagerduty', url: url || pagerDutyUrl, routingKey: channel.routing_key ?? '', egress };
    default:
      return { name, type: channel.type, url, egress };
  }
}

function buildRoutes(
  routes: CheckedFile['alerts']['routes'],
  channels: readonly ChannelConfig[],
): readonly RouteConfig[] {
  if (channels.length === 0) return [];
  if (routes.length > 0) return routes.map((route) => ({ match: written(route.match), channels: route.channels }));
  // A recipe does something: only a route that somebody wrote leads to it.
  const names = channels.filter((channel) => channel.type !== 'recipe').map((channel) => channel.name);
  return [{ match: { severity: ['critical', 'warning'] }, channels: names }];
}
