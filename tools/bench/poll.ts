// `npm run bench -- poll`: what a poll costs us, against global fetch and against Debian's blackbox_exporter.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Figure, ratioOf, rounded } from './figure.ts';
import { type Blackbox, startBlackbox } from './poll/blackbox.ts';
import type { PollCost, PollOrder } from './poll/poller.ts';

const bench = 'poll';
const rounds = 3;
const concurrency = 16;
const saturatedMs = 3_000;
/** One 500-a-minute key. */
const pacedEveryMs = 120;
const pacedMs = 12_000;
const restingMs = 6_000;

const child = (name: string) => fileURLToPath(new URL(`./poll/${name}.ts`, import.meta.url));

async function pollOnce(order: PollOrder): Promise<PollCost> {
  const poller = fork(child('poller'));
  poller.send(order);
  const failed = once(poller, 'exit').then(() => {
    throw new Error(`the poller (${order.by}) failed`);
  });
  const [cost] = (await Promise.race([once(poller, 'message'), failed])) as [PollCost];
  failed.catch(() => {});
  return cost;
}

const perSecond = ({ polls, cpuSeconds }: PollCost) => polls / cpuSeconds;
const microseconds = ({ polls, cpuSeconds }: PollCost) => (cpuSeconds / polls) * 1e6;

/** The pair whose ratio is the median of the rounds. */
function medianPair(pairs: readonly (readonly [number, number])[]): readonly [number, number] {
  const sorted = pairs.toSorted(([a, b], [c, d]) => a / b - c / d);
  return sorted[Math.floor(sorted.length / 2)] ?? [Number.NaN, Number.NaN];
}

interface Compared {
  readonly name: string;
  readonly ours: number;
  readonly peer: number;
  readonly target: number;
  /** Whether the ratio must reach the target, or stay within it. */
  readonly wanted: 'at least' | 'at most';
}

function figureOf({ name, ours, peer, target, wanted }: Compared): Figure {
  const ratio = ratioOf(ours, peer);
  const holds = ratio !== null && (wanted === 'at least' ? ratio >= target : ratio <= target);
  return { bench, figure: name, ours: rounded(ours), peer: rounded(peer), ratio, target: rounded(target), holds };
}

async function againstFetch(url: string): Promise<readonly Figure[]> {
  const pairs: [number, number][] = [];
  const order = { url, forMs: saturatedMs, concurrency, everyMs: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const [ours, theirs] = [await pollOnce({ ...order, by: 'ours' }), await pollOnce({ ...order, by: 'fetch' })];
    pairs.push([microseconds(ours), microseconds(theirs)]);
  }
  const [ours, peer] = medianPair(pairs);
  return [figureOf({ name: 'fetch/cpu_microseconds_per_poll', ours, peer, target: 1 / 2, wanted: 'at most' })];
}

async function againstBlackbox(url: string, blackbox: Blackbox): Promise<readonly Figure[]> {
  const target = `${url}/v1/stats?mailbox_id=a&days=7`;
  const saturated = { url, forMs: saturatedMs, concurrency, everyMs: 0 };
  const pairs: [number, number][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [ours, theirs] = [
      await pollOnce({ ...saturated, by: 'ours' }),
      await blackbox.probe({ ...saturated, target }),
    ];
    pairs.push([perSecond(ours), perSecond(theirs)]);
  }
  const [full, fullPeer] = medianPair(pairs);
  // Side by side, so that both meet the same neighbours on the machine.
  const paced = { url, forMs: pacedMs, concurrency: 1, everyMs: pacedEveryMs };
  const [slow, slowPeer] = await Promise.all([
    pollOnce({ ...paced, by: 'ours' }),
    blackbox.probe({ ...paced, target }),
  ]);
  const resting = await pollOnce({ ...paced, forMs: restingMs, by: 'ours', warmed: false });
  const megabytes = (cost: PollCost) => cost.rssBytes / 1e6;
  return [
    figureOf({
      name: 'blackbox/saturated_http_polls_per_cpu_second',
      ours: full,
      peer: fullPeer,
      // Measured: 10 once on a quiet machine, 4.9 to 8 since beside other work, on Node.js 24 and 26 alike.
      target: 4,
      wanted: 'at least',
    }),
    figureOf({
      name: 'blackbox/paced_500_a_minute_polls_per_cpu_second',
      ours: perSecond(slow),
      peer: perSecond(slowPeer),
      target: 1.2,
      wanted: 'at least',
    }),
    // We lose this one: a Node process against a Go binary.
    figureOf({
      name: 'blackbox/paced_rss_megabytes',
      ours: megabytes(resting),
      peer: megabytes(slowPeer),
      target: 6,
      wanted: 'at most',
    }),
  ];
}

async function apiPort(server: ChildProcess): Promise<number> {
  const [port] = (await once(server, 'message')) as [number];
  return port;
}

/** The benchmark; takes about a minute. Without the exporter its figures are left out, with a line on stderr. */
export async function pollBenchmark(): Promise<readonly Figure[]> {
  const server = fork(child('api-server'));
  try {
    const url = `http://127.0.0.1:${await apiPort(server)}`;
    await using blackbox = await startBlackbox(bench);
    const figures = await againstFetch(url);
    return blackbox ? [...figures, ...(await againstBlackbox(url, blackbox))] : figures;
  } finally {
    server.kill();
  }
}
