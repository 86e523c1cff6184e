// Metrics of the daemon itself, with prom-client: requests, decisions, actions, messages, configuration, process.

import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { guardActionKinds, outcomes } from '../core/action.ts';
import { routes } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { RequestCount } from '../core/mailbox.ts';
import type { Tally } from '../core/tally.ts';
import type { EpochMs } from '../core/time.ts';
import { type Reason, reasons, type VerdictAction } from '../core/verdict.ts';
import type { Pacer } from '../world/world.ts';
import { type Family, prefix, type Sample } from './family.ts';

// Counts verdicts by account, action and reason, and gives them to prom-client when it is read. Every answer brings a
// verdict, and prom-client would build a text of the labels for each.

class DecisionCounts {
  /** Counts since the last transfer, by account, then by reason, then by action. */
  #counts = new Map<string, Map<Reason, Map<VerdictAction, number>>>();

  add(account: string, action: VerdictAction, reason: Reason): void {
    const byAction = this.#counts.get(account)?.get(reason);
    if (byAction) byAction.set(action, (byAction.get(action) ?? 0) + 1);
    else this.#counts.set(account, new Map(this.#counts.get(account)).set(reason, new Map([[action, 1]])));
  }

  /** Adds the counts to prom-client's counter and resets them. */
  handTo(counter: Counter<'account' | 'action' | 'reason'>): void {
    for (const [account, byReason] of this.#counts)
      for (const [reason, byAction] of byReason)
        for (const [action, count] of byAction) counter.inc({ account, action, reason }, count);
    this.#counts = new Map();
  }
}

// Counts requests to the mailbox API: number, result and duration. prom-client would sort and join the labels for each
// request, and each poll is one.

/** Bounds in seconds, from a quick response to the client's timeout. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

interface RequestSeries {
  readonly labels: { readonly account: string; readonly route: string; readonly code: string };
  requests: number;
  seconds: number;
  /** Requests in each bucket: no longer than its bound, and longer than the previous bound. */
  readonly buckets: number[];
}

class RequestCounts {
  /** Counts by their labels: account, route and code. */
  readonly #counted = new Map<string, RequestSeries>();

  add(request: RequestCount, seconds: number): void {
    const counted = this.start(request);
    counted.requests += 1;
    counted.seconds += seconds;
    const bucket = durationBuckets.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) counted.buckets[bucket] = (counted.buckets[bucket] ?? 0) + 1;
  }

  /** Returns the counts of these labels; begins at 0 if there are none yet. */
  start({ account, route, code }: RequestCount): RequestSeries {
    const key = `${route} ${code} ${account}`;
    let counted = this.#counted.get(key);
    if (!counted) {
      counted = { labels: { account, route, code }, requests: 0, seconds: 0, buckets: durationBuckets.map(() => 0) };
      this.#counted.set(key, counted);
    }
    return counted;
  }

  /**
   * Returns the families, without accounts that the fleet no longer has. A route without requests has a count, but no
   * durations. Yields the event loop.
   */
  async families(fleet: Fleet, pacer: Pacer): Promise<readonly Family[]> {
    const counts: Sample[] = [];
    const durations: Sample[] = [];
    for (const counted of [...this.#counted.values()]) {
      if (pacer.due()) await pacer.turn();
      const { labels, requests } = counted;
      if (fleet.account(labels.account) === undefined) continue;
      counts.push({ labels, value: requests });
      if (requests > 0) durations.push(...durationsOf(counted));
    }
    return [
      {
        name: `${prefix}api_requests_total`,
        type: 'counter',
        help: 'Requests to the mailbox API; code is the HTTP status, or the kind of failure when there was none.',
        samples: counts,
      },
      {
        name: `${prefix}api_request_duration_seconds`,
        type: 'histogram',
        help: 'How long requests to the mailbox API took, seconds.',
        samples: durations,
      },
    ];
  }
}

function durationsOf({ labels, requests, seconds, buckets }: RequestSeries): readonly Sample[] {
  let upTo = 0;
  const bounds = durationBuckets.map((le, bucket) => {
    upTo += buckets[bucket] ?? 0;
    return { suffix: '_bucket', labels: { le, ...labels }, value: upTo };
  });
  return [
    ...bounds,
    { suffix: '_bucket', labels: { le: '+Inf', ...labels }, value: requests },
    { suffix: '_sum', labels, value: seconds },
    { suffix: '_count', labels, value: requests },
  ];
}

const sendOutcomes = ['sent', 'failed', 'undelivered'] as const;
/**
 * Interval between two samples of the event loop's lag, milliseconds. Each sample wakes the process: prom-client's
 * default of 10 ms cost a quiet daemon a sixth of its CPU time.
 */
const lagEveryMs = 200;
/** Names of the metrics for which prom-client reports the time between two samples. */
const betweenLooks = /^nodejs_eventloop_lag_(?:min|max|mean|p\d+)_seconds$/;

/** Verdicts that begin something. An alert on their increase must see the first one. */
const notableVerdicts: readonly (readonly [VerdictAction, (typeof reasons)[number]])[] = [
  ['pause', 'emergency'],
  ['pause', 'repeat_offender'],
  ['pause', 'bounce_rate_over_limit'],
  ['recovery', 'bounce_rate_over_limit'],
  ['restore', 'clean_volume'],
  ...reasons.filter((reason) => reason !== 'ok').map((reason) => ['hold', reason] as const),
];

interface OwnMetrics {
  readonly tally: Tally;
  /** Records that a configuration came into force at that moment. */
  configTaken(at: EpochMs): void;
  configRefused(): void;
  /** Returns all counts so far, without accounts that the fleet no longer has. Yields the event loop. */
  families(pacer: Pacer): Promise<readonly Family[]>;
}

/** Creates the metrics in a registry of their own. `linesDropped` returns the number of log lines lost so far. */
export function createOwnMetrics(fleet: Fleet, version: string, linesDropped: () => number): OwnMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  countLines(registry, linesDropped);
  const decisions = new DecisionCounts();
  const requests = new RequestCounts();
  const counters = createCounters(registry, decisions);
  const gauges = createGauges(registry);
  /** Accounts and channels whose counters already exist. */
  const started = new Set<string>();
  gauges.build.labels(version).set(1);
  return {
    tally: {
      decision: (account, action, reason) => decisions.add(account, action, reason),
      action: (account, action, outcome) => counters.actions.inc({ account, action, outcome }),
      request: (request, seconds) => requests.add(request, seconds),
      notification: (channel, outcome) => counters.notifications.inc({ channel, outcome }),
    },
    configTaken(at) {
      gauges.reloadSuccessful.set(1);
      gauges.reloadSuccessAt.set(at / 1_000);
    },
    configRefused: () => gauges.reloadSuccessful.set(0),
    async families(pacer) {
      await startAtZero(fleet, { ...counters, requests }, { started, pacer });
      return [...(await familiesOf(registry, fleet, pacer)), ...(await requests.families(fleet, pacer))];
    },
  };
}

/**
 * Creates the counters of new accounts and channels at 0. A counter that first appears at 1 hides its first increase
 * from rate().
 */
async function startAtZero(
  fleet: Fleet,
  {
    actions,
    decisions,
    requests,
    notifications,
  }: ReturnType<typeof createCounters> & { readonly requests: RequestCounts },
  { started, pacer }: { readonly started: Set<string>; readonly pacer: Pacer },
): Promise<void> {
  const isNew = (kind: string, name: string) => !started.has(`${kind} ${name}`) && started.add(`${kind} ${name}`);
  for (const { name: account } of [...fleet.accounts()]) {
    if (pacer.due()) await pacer.turn();
    if (!isNew('account', account)) continue;
    for (const action of guardActionKinds) for (const outcome of outcomes) actions.inc({ account, action, outcome }, 0);
    for (const [action, reason] of notableVerdicts) decisions.inc({ account, action, reason }, 0);
    for (const route of [...routes, 'warmup_write'] as const) requests.start({ account, route, code: '200' });
  }
  for (const { name: channel } of fleet.channels())
    if (isNew('channel', channel)) for (const outcome of sendOutcomes) notifications.inc({ channel, outcome }, 0);
}

/** Registers a counter that is read at each scrape, because the log counts its lost lines itself. */
function countLines(registry: Registry, linesDropped: () => number): void {
  new Counter({
    name: `${prefix}log_lines_dropped_total`,
    help: 'Log lines that could not be written to standard output: its disk is full, or its reader has stalled or exited.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(linesDropped());
    },
  });
}

function createGauges(registry: Registry) {
  const registers = [registry];
  return {
    build: new Gauge({
      name: `${prefix}build_info`,
      help: 'Always 1; the version is a label.',
      labelNames: ['version'],
      registers,
    }),
    reloadSuccessful: new Gauge({
      name: `${prefix}config_last_reload_successful`,
      help: '1 when the newest configuration was loaded, 0 when it was refused and the previous one stays in force.',
      registers,
    }),
    reloadSuccessAt: new Gauge({
      name: `${prefix}config_last_reload_success_timestamp_seconds`,
      help: 'When the configuration in force was loaded, seconds since the Unix epoch.',
      registers,
    }),
  };
}

function createCounters(registry: Registry, decisions: DecisionCounts) {
  const registers = [registry];
  return {
    decisions: new Counter({
      name: `${prefix}guard_decisions_total`,
      help: 'Verdicts that were recorded, by action and reason.',
      labelNames: ['account', 'action', 'reason'],
      registers,
      collect() {
        decisions.handTo(this);
      },
    }),
    actions: new Counter({
      name: `${prefix}guard_actions_total`,
      help: 'Actions that were settled, by outcome: confirmed (read back), refused, unconfirmed.',
      labelNames: ['account', 'action', 'outcome'],
      registers,
    }),
    notifications: new Counter({
      name: `${prefix}notifications_total`,
      help: 'Sends to channels, by outcome: sent, failed (to be tried again), undelivered.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
  };
}

const familyTypes: readonly Family['type'][] = ['gauge', 'counter', 'histogram', 'summary'];

/**
 * Returns the families of prom-client. Gauges whose names end in `_total` are left out, because promtool rejects them.
 */
async function familiesOf(registry: Registry, fleet: Fleet, pacer: Pacer): Promise<readonly Family[]> {
  const families: Family[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = await registry.getSingleMetric(name)?.get();
    if (pacer.due()) await pacer.turn();
    if (metric) families.push(lateness(await familyOf(metric, fleet, pacer)));
  }
  return families.filter((family) => family.type !== 'gauge' || !family.name.endsWith('_total'));
}

/**
 * Converts the time between two samples of the event loop into lag. Leaves out the value if there was no sample since
 * the last scrape.
 */
function lateness(family: Family): Family {
  if (!betweenLooks.test(family.name)) return family;
  const seconds = lagEveryMs / 1_000;
  // An empty histogram reports a huge minimum, and values near 0 for the rest.
  const known = family.samples.filter(({ value }) => value > seconds / 2 && value < Number.MAX_SAFE_INTEGER / 1e9);
  return { ...family, samples: known.map((one) => ({ ...one, value: Math.max(0, one.value - seconds) })) };
}

async function familyOf(
  metric: MetricObjectWithValues<MetricValue<string>>,
  fleet: Fleet,
  pacer: Pacer,
): Promise<Family> {
  const type = familyTypes.find((name) => name === String(metric.type)) ?? 'gauge';
  const samples: Sample[] = [];
  for (const value of metric.values) {
    if (pacer.due()) await pacer.turn();
    const { account } = value.labels as { account?: string };
    if (account !== undefined && fleet.account(account) === undefined) continue;
    const { metricName = metric.name } = value as { metricName?: string };
    samples.push({ suffix: metricName.slice(metric.name.length), labels: value.labels, value: value.value });
  }
  return { name: metric.name, type, help: metric.help, samples };
}
