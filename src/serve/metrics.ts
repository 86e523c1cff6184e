// Metrics: counts what the rooms report, reads the rest from the fleet's picture, and answers a scrape.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Fleet } from '../fleet/fleet.ts';
import { guardActionKinds, outcomes } from '../model/action.ts';
import type { Tally } from '../model/tally.ts';
import type { Clock } from '../world.ts';
import { contentTypes, type Family, formatFor, writeExposition } from './exposition.ts';
import { fleetFamilies, type MetricsSettings, prefix } from './fleet-series.ts';

export interface MetricsParts {
  readonly fleet: Fleet;
  readonly version: string;
  readonly clock: Clock;
  /** What the configuration that the daemon started with says. */
  readonly settings: MetricsSettings;
}

interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

export interface Metrics {
  readonly tally: Tally;
  /** The answer to a scrape; `accept` is the request's Accept header. Touches neither store nor network. */
  expose(accept: string | undefined): Promise<Exposition>;
  /** A reloaded configuration is in force. */
  configured(settings: MetricsSettings): void;
  /** A configuration was refused; the one before stays in force. */
  configRefused(): void;
}

/** Request durations, seconds: from a quick answer to the client's time-out. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const sendOutcomes = ['sent', 'failed', 'given_up'] as const;

/** The daemon's metrics, in a registry of their own. */
export function createMetrics({ fleet, version, clock, settings }: MetricsParts): Metrics {
  let inForce = settings;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = createCounters(registry, version);
  const reloads = createReloadGauges(registry);
  const taken = () => {
    reloads.successful.set(1);
    reloads.takenAt.set(clock.now() / 1_000);
  };
  taken();
  const tally: Tally = {
    decision: (account, action, reason) => counters.decisions.inc({ account, action, reason }),
    action: (account, action, outcome) => counters.actions.inc({ account, action, outcome }),
    request: ({ account, route, code }, seconds) => {
      counters.requests.inc({ account, route, code });
      counters.durations.observe({ account, route, code }, seconds);
    },
    notification: (channel, outcome) => counters.notifications.inc({ channel, outcome }),
  };
  // A counter that first appears at 1 hides its first increase from rate(): these exist from the beginning.
  const startAtZero = () => {
    for (const { name: account } of fleet.accounts()) {
      for (const action of guardActionKinds)
        for (const outcome of outcomes) counters.actions.inc({ account, action, outcome }, 0);
    }
    for (const { name: channel } of fleet.channels())
      for (const outcome of sendOutcomes) counters.notifications.inc({ channel, outcome }, 0);
  };
  return {
    tally,
    expose: async (accept) => {
      startAtZero();
      const format = formatFor(accept);
      const families = [...fleetFamilies(fleet, inForce, clock.now()), ...(await ownFamilies(registry))];
      return { contentType: contentTypes[format], body: writeExposition(families, format) };
    },
    configured: (changed) => {
      inForce = changed;
      taken();
    },
    configRefused: () => reloads.successful.set(0),
  };
}

function createCounters(registry: Registry, version: string) {
  const registers = [registry];
  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the version is a label.',
    labelNames: ['version'],
    registers,
  })
    .labels(version)
    .set(1);
  return {
    decisions: new Counter({
      name: `${prefix}guard_decisions_total`,
      help: 'Verdicts that were recorded, by action and reason.',
      labelNames: ['account', 'action', 'reason'],
      registers,
    }),
    actions: new Counter({
      name: `${prefix}guard_actions_total`,
      help: 'Actions that were settled, by outcome: confirmed (read back), refused, unconfirmed.',
      labelNames: ['account', 'action', 'outcome'],
      registers,
    }),
    requests: new Counter({
      name: `${prefix}api_requests_total`,
      help: 'Requests to the mailbox API; code is the HTTP status, or the kind of failure when there was none.',
      labelNames: ['account', 'route', 'code'],
      registers,
    }),
    durations: new Histogram({
      name: `${prefix}api_request_duration_seconds`,
      help: 'How long requests to the mailbox API took, seconds.',
      labelNames: ['account', 'route', 'code'],
      buckets: durationBuckets,
      registers,
    }),
    notifications: new Counter({
      name: `${prefix}notifications_total`,
      help: 'Sends to channels, by outcome: sent, failed (to be tried again), given_up.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
  };
}

function createReloadGauges(registry: Registry) {
  const registers = [registry];
  return {
    successful: new Gauge({
      name: `${prefix}config_last_reload_successful`,
      help: '1 when the newest configuration was taken, 0 when it was refused and the one before stays in force.',
      registers,
    }),
    takenAt: new Gauge({
      name: `${prefix}config_last_reload_success_timestamp_seconds`,
      help: 'When the configuration in force was taken, seconds since the Unix epoch.',
      registers,
    }),
  };
}

const familyTypes: readonly Family['type'][] = ['gauge', 'counter', 'histogram', 'summary'];

/** What prom-client counted. Its gauges whose names end in _total are left out: promtool rejects them. */
async function ownFamilies(registry: Registry): Promise<readonly Family[]> {
  const metrics = await registry.getMetricsAsJSON();
  const families = metrics.map((metric): Family => {
    const type = familyTypes.find((name) => name === String(metric.type)) ?? 'gauge';
    const samples = metric.values.map((value) => {
      const { metricName = metric.name } = value as { metricName?: string };
      return { suffix: metricName.slice(metric.name.length), labels: value.labels, value: value.value };
    });
    return { name: metric.name, type, help: metric.help, samples };
  });
  return families.filter((family) => family.type !== 'gauge' || !family.name.endsWith('_total'));
}
