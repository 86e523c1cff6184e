// `npm run bench -- budget`: hours of virtual time with a backlog, on four kinds of limiter, at the limits of both plans and the
// shipped headroom; how much of the limit is used, how often the API says 429, and how soon actions start. The daemon's own budget, lane and queue; the simulator's limiters.
import { Budget } from '../../src/api/budget.ts';
import { Lane } from '../../src/api/poll/lane.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import { type Route, routes } from '../../src/core/answers.ts';
import { movedClock } from '../simulator/moved-clock.ts';
import { createLimiter, type LimiterKind, limiterKinds } from '../simulator/rate-limit.ts';
import { type BenchOptions, type Figure, rounded } from './figure.ts';
import { seededChance, seedOf } from './guard/chance.ts';

const bench = 'budget';
const minuteMs = 60_000;
/** Only warm-up and statistics are still to be read. */
const readAtStart = { mailbox: 0, dns: 0, blacklist: 0 };
const hourMs = 60 * minuteMs;
/** As shipped. */
const headroomPpm = 30_000;
/** A wave of actions comes this often, and a single one in between. */
const waveEveryMs = 120 * minuteMs;
const waveSize = 20;
const mailboxes = 1_000;
/** A request reaches the API after 40 ms and an exponential 60 ms; one in a hundred after up to 3 s. */
const latency = { leastMs: 40, meanMs: 60, spikeShare: 0.01, spikeMs: 3_000 } as const;

interface Plan {
  readonly requestsPerMinute: number;
  /** Hours that are simulated. */
  readonly hours: number;
  /** Forty requests take 25 s at 97 a minute and 5 s at 485, whatever is done; the answers of the last come on top. */
  readonly waveEndsSeconds: number;
  /** Requests that start at once, on average. */
  readonly atOnce: number;
}

const plans: readonly Plan[] = [
  { requestsPerMinute: 100, hours: 24, waveEndsSeconds: 35, atOnce: 1 },
  { requestsPerMinute: 500, hours: 6, waveEndsSeconds: 12, atOnce: 3.5 },
];
const fewerHours = 4;
const usedTarget = 0.97;
/** Headroom leaves 0.97 of the limit: a request that starts after the end of the last minute is missing. */
const usedTolerance = 0.001;

interface Served {
  readonly requests: number;
  readonly refused: number;
  /** Moments at which requests started. */
  readonly moments: number;
  /** Requests that the API allows in that time. */
  readonly limit: number;
  /** How long single actions waited for their first request, milliseconds. */
  readonly singleWaits: readonly number[];
  /** How long the first action of a wave waited, and how long until every one of it had sent its POST. */
  readonly waveFirsts: readonly number[];
  readonly waveEnds: readonly number[];
}

/** Every mailbox is due all the time: there is always a backlog. */
function backlogged(allowedPerMinute: number): PollQueue {
  const cadenceMs = Object.fromEntries(routes.map((route) => [route, minuteMs])) as Record<Route, number>;
  const queue = new PollQueue({ cadenceMs, allowedPerMinute: () => allowedPerMinute, earlyMs: 1_000 });
  for (let index = 0; index < mailboxes; index += 1) queue.join(String(index), readAtStart, 0);
  return queue;
}

async function servedOn(kind: LimiterKind, { requestsPerMinute, hours }: Plan): Promise<Served> {
  const totalMs = hours * hourMs;
  const clock = movedClock(Date.UTC(2026, 2, 10));
  const random = seededChance(seedOf(bench, kind));
  const budget = new Budget({ requestsPerMinute, headroomPpm });
  const limiter = createLimiter(kind, requestsPerMinute, clock);
  let [requests, refused, moments, startedAt] = [0, 0, 0, Number.NaN];
  const request = async () => {
    requests += 1;
    if (clock.monotonic() !== startedAt) moments += 1;
    startedAt = clock.monotonic();
    const spike = random() < latency.spikeShare ? random() * latency.spikeMs : 0;
    await clock.sleep(latency.leastMs - Math.log(1 - random()) * latency.meanMs + spike);
    const { admitted, limit, remaining, retryAfterSeconds } = limiter.knock();
    budget.noteLimits({ kind: 'stats', succeeded: true, limit, remaining }, clock.monotonic());
    if (admitted) return;
    refused += 1;
    budget.throttled('stats', retryAfterSeconds * 1_000, clock.monotonic(), random);
  };
  const queue = backlogged(budget.allowedPerMinute);
  const lane = new Lane({ clock, budget, queue, poll: request, mayAsk: () => 'everything' });
  const stop = new AbortController();
  const running = lane.run(stop.signal, () => {});
  const [singleWaits, waveFirsts, waveEnds]: [number[], number[], number[]] = [[], [], []];
  /** A look and a POST; how long each waited since now. */
  const act = async () => {
    const since = clock.monotonic();
    await lane.actionSlot(stop.signal);
    const started = clock.monotonic() - since;
    await request();
    await lane.actionSlot(stop.signal, 'post');
    await request();
    return { started, ended: clock.monotonic() - since };
  };
  for (let at = 0; at < totalMs; at += waveEveryMs) {
    for (const route of routes) queue.run(route, clock.monotonic());
    await clock.advance(waveEveryMs / 2);
    const single = act().then(({ started }) => singleWaits.push(started));
    for (const route of routes) queue.run(route, clock.monotonic());
    await clock.advance(waveEveryMs / 2 - 5 * minuteMs);
    await single;
    const wave = Promise.all(Array.from({ length: waveSize }, act));
    await clock.advance(5 * minuteMs);
    const acts = await wave;
    waveFirsts.push(Math.min(...acts.map(({ started }) => started)));
    waveEnds.push(Math.max(...acts.map(({ ended }) => ended)));
  }
  stop.abort();
  await clock.advance(minuteMs);
  await running;
  const limit = (requestsPerMinute * totalMs) / minuteMs;
  return { requests, refused, moments, limit, singleWaits, waveFirsts, waveEnds };
}

function figuresOf(kind: LimiterKind, plan: Plan, served: Served): readonly Figure[] {
  const figure = (name: string, value: number, target: number, holds: boolean): Figure => ({
    bench,
    figure: `${plan.requestsPerMinute}_a_minute/${kind}/${name}`,
    ours: rounded(value),
    peer: null,
    ratio: null,
    target,
    holds,
  });
  const atMost = (name: string, value: number, target: number) => figure(name, value, target, value <= target);
  const used = served.requests / served.limit;
  return [
    figure('used_of_limit', used, usedTarget, used >= usedTarget - usedTolerance),
    atMost('refused_429', served.refused, 0),
    figure(
      'requests_at_once',
      served.requests / served.moments,
      plan.atOnce,
      served.requests / served.moments >= plan.atOnce,
    ),
    atMost('single_action_starts_within_seconds', Math.max(...served.singleWaits) / 1_000, 3),
    atMost('wave_of_20_begins_within_seconds', Math.max(...served.waveFirsts) / 1_000, 3),
    atMost('wave_of_20_ends_within_seconds', Math.max(...served.waveEnds) / 1_000, plan.waveEndsSeconds),
  ];
}

/** The benchmark. It says which part begins. */
export async function budgetBenchmark({ small }: BenchOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const plan of plans) {
    const shortened = small ? { ...plan, hours: fewerHours } : plan;
    for (const kind of limiterKinds) {
      process.stderr.write(`budget: ${plan.requestsPerMinute} a minute, ${kind}, ${shortened.hours} h\n`);
      figures.push(...figuresOf(kind, plan, await servedOn(kind, shortened)));
    }
  }
  return figures;
}
