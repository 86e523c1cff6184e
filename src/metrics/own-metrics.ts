// Counters and the metrics of the process, with prom-client.

import {
  Counter,
  collectDefaultMetrics,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { guardActionKinds, outcomes } from '../core/action.ts';
import { routes } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { Tally } from '../core/records.ts';
import { reasons, type VerdictAction } from '../core/verdict.ts';
import { watchLag } from '../world/world.ts';
import { type Family, prefix, type Sample } from './exposition.ts';

const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const sendOutcomes = ['sent', 'failed', 'undelivered'] as const;
const lagEveryMs = 1_000;
const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** prom-client's own measurement wakes the process often, and each scrape takes its values from all other scrapers. */
const otherLag = /^nodejs_eventloop_lag_/;
const longestTimerMs = 2 ** 31 - 1;

/** Verdicts that begin something. An alert on their increase must see the first one. */
const notableVerdicts: readonly (readonly [VerdictAction, (typeof reasons)[number]])[] = [
  ['pause', 'emergency'],
  ['pause', 'repeat_offender'],
  ['pause', 'bounce_rate_over_limit'],
  ['recovery', 'bounce_rate_over_limit'],
  ['restore', 'clean_volume'],
  ...reasons.filter((reason) => reason !== 'ok').map((reason) => ['hold', reason] as const),
];

export function createOwnMetrics(fleet: Fleet) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: longestTimerMs });
  measureLag(registry);
  const counters = createCounters(registry);
  const started = new Set<string>();
  const tally: Tally = {
    decision: (account, action, reason) => counters.decisions.inc({ account, action, reason }),
    action: (account, action, outcome) => counters.actions.inc({ account, action, outcome }),
    request({ account, route, code }, seconds) {
      counters.requests.inc({ account, route, code });
      counters.durations.observe({ account, route, code }, seconds);
    },
    notification: (channel, outcome) => counters.notifications.inc({ channel, outcome }),
  };
  return {
    tally,
    families() {
      startAtZero(fleet, counters, started);
      return familiesOf(registry, fleet);
    },
  };
}

function measureLag(registry: Registry): void {
  const lag = new Histogram({
    name: `${prefix}event_loop_lag_seconds`,
    help: 'How late a timer of the event loop was, measured each second.',
    buckets: lagBuckets,
    registers: [registry],
  });
  watchLag(lagEveryMs, (lateMs) => lag.observe(lateMs / 1_000));
}

/** A counter that first appears at 1 hides its first increase from rate(). */
function startAtZero(fleet: Fleet, counters: ReturnType<typeof createCounters>, started: Set<string>): void {
  const { actions, decisions, requests, notifications } = counters;
  const startOnce = (kind: string, name: string) => !started.has(`${kind} ${name}`) && started.add(`${kind} ${name}`);
  for (const { name: account } of fleet.accounts()) {
    if (!startOnce('account', account)) continue;
    for (const action of guardActionKinds) for (const outcome of outcomes) actions.inc({ account, action, outcome }, 0);
    for (const [action, reason] of notableVerdicts) decisions.inc({ account, action, reason }, 0);
    for (const route of [...routes, 'warmup_write']) requests.inc({ account, route, code: '200' }, 0);
  }
  for (const { name: channel } of fleet.channels())
    if (startOnce('channel', channel)) for (const outcome of sendOutcomes) notifications.inc({ channel, outcome }, 0);
}

function createCounters(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `${prefix}${name}_total`, help, labelNames, registers });
  return {
    decisions: counter(
      'guard_decisions',
      'Verdicts that were recorded, by action and reason.',
      'account',
      'action',
      'reason',
    ),
    requests: counter(
      'api_requests',
      'Requests to the API of the warm-up service; code is the HTTP status, or the kind of failure when there was none.',
      'account',
      'route',
      'code',
    ),
    durations: new Histogram({
      name: `${prefix}api_request_duration_seconds`,
      help: 'How long requests to the API of the warm-up service took, seconds.',
      labelNames: ['account', 'route', 'code'],
      buckets: durationBuckets,
      registers,
    }),
    actions: counter(
      'guard_actions',
      'Actions that were settled, by outcome: confirmed (read back), refused, unconfirmed.',
      'account',
      'action',
      'outcome',
    ),
    notifications: counter(
      'notifications',
      'Sends to channels, by outcome: sent, failed (to be tried again), undelivered.',
      'channel',
      'outcome',
    ),
  };
}

const familyTypes: readonly Family['type'][] = ['gauge', 'counter', 'histogram', 'summary'];

/** Leaves out prom-client's lag, accounts and channels that left, and gauges in `_total`, which promtool rejects. */
async function familiesOf(registry: Registry, fleet: Fleet): Promise<readonly Family[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly MetricObjectWithValues<
    MetricValue<string>
  >[];
  const kept = metrics.filter(({ name }) => !otherLag.test(name)).map((metric) => familyOf(metric, fleet));
  return kept.filter((family) => family.type !== 'gauge' || !family.name.endsWith('_total'));
}

function familyOf(metric: MetricObjectWithValues<MetricValue<string>>, fleet: Fleet): Family {
  const type = familyTypes.find((name) => name === String(metric.type)) ?? 'gauge';
  const samples = metric.values.flatMap((value): Sample[] => {
    const { account, channel } = value.labels as { account?: string; channel?: string };
    if (account !== undefined && fleet.account(account) === undefined) return [];
    if (channel !== undefined && fleet.channel(channel) === undefined) return [];
    const { metricName = metric.name } = value as { metricName?: string };
    return [{ suffix: metricName.slice(metric.name.length), labels: value.labels, value: value.value }];
  });
  return { name: metric.name, type, help: metric.help, samples };
}
