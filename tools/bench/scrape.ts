// `npm run bench -- scrape`: what a scrape costs, against prom-client on the same data; docs/performance.md has the targets.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type BenchOptions, type Figure, ratioOf, rounded } from './figure.ts';
import { liveScrapeMs } from './scrape/live.ts';
import type { Measured, Order } from './scrape/orders.ts';
import { measured, tableOf } from './targets.ts';

const bench = 'scrape';
const script = fileURLToPath(new URL('./scrape/server.ts', import.meta.url));
/** prom-client at 100,000 mailboxes needs more than Node.js takes by itself. */
const heapMb = 14_000;

type Encoding = 'identity' | 'gzip';
type Measure = 'cpu_ms' | 'wall_ms' | 'block_ms' | 'peak_mb';

interface Setting {
  readonly size: number;
  readonly encodings: readonly Encoding[];
  readonly rounds: number;
  /** The most that ours may be of prom-client's. */
  readonly limits: Readonly<Record<Encoding, Readonly<Partial<Record<Measure, number>>>>>;
}

/** Prometheus asks for gzip. */
const tenth = { cpu_ms: 1 / 10, wall_ms: 1 / 10, block_ms: 1 / 50 };
/** Guards against a slide where nothing is promised: small fleets, and text, which is inflated for people. */
const half = { cpu_ms: 1 / 2, wall_ms: 1 / 2, block_ms: 1 / 2 };
const settings: readonly Setting[] = [
  { size: 1_000, encodings: ['identity', 'gzip'], rounds: 5, limits: { identity: half, gzip: half } },
  { size: 10_000, encodings: ['identity', 'gzip'], rounds: 5, limits: { identity: half, gzip: tenth } },
  { size: 100_000, encodings: ['gzip'], rounds: 1, limits: { identity: {}, gzip: { ...tenth, peak_mb: 1 / 4 } } },
];
/** A scrape must not hold up a poll or a pause for longer, however many mailboxes there are up to 10,000. */
const longestBlockMs = 20;
const boundedUpTo = 10_000;

/** One server and its measurements. */
class Side implements AsyncDisposable {
  readonly #child: ChildProcess;
  #port = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(side: 'ours' | 'peer', size: number): Promise<Side> {
    const started = new Side(fork(script, [side, String(size)], { execArgv: [`--max-old-space-size=${heapMb}`] }));
    started.#port = (await started.#answer()) as number;
    return started;
  }

  async round(encoding: Encoding, change: 'change' | 'scatter' = 'change'): Promise<Record<Measure, number>> {
    await this.#order(change);
    await this.#order('watch');
    const began = performance.now();
    await this.#scrape(encoding);
    const wall = performance.now() - began;
    const { cpuMs, blockMs, peakMb } = (await this.#order('tell')) as Measured;
    return { cpu_ms: cpuMs, wall_ms: wall, block_ms: blockMs, peak_mb: peakMb };
  }

  async #scrape(encoding: Encoding): Promise<void> {
    const url = { host: '127.0.0.1', port: this.#port, path: '/metrics', headers: { 'accept-encoding': encoding } };
    const [response] = await once(get(url), 'response');
    if (response.statusCode !== 200) throw new Error(`the scrape was answered with ${response.statusCode}`);
    for await (const _ of response);
  }

  #order(order: Order): Promise<unknown> {
    const answer = this.#answer();
    this.#child.send(order);
    return answer;
  }

  #answer(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`a server of the benchmark ended with ${code}`));
      this.#child.once('exit', ended);
      this.#child.once('message', (message) => {
        this.#child.off('exit', ended);
        resolve(message);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

type Round = Readonly<Record<'ours' | 'peer', Readonly<Record<Measure, number>>>>;

interface Rounds {
  readonly contiguous: ReadonlyMap<Encoding, readonly Round[]>;
  /** With gzip; none where a round takes too long. */
  readonly scattered: readonly Round[];
}

/** Rounds of both sides in turn, so that a busy machine is busy for both. The first scrape of all is not counted. */
async function roundsOf({ size, encodings, rounds }: Setting): Promise<Rounds> {
  await using ours = await Side.start('ours', size);
  await using peer = await Side.start('peer', size);
  await ours.round('gzip');
  // prom-client is as slow the second time; its 100,000 take long enough once.
  if (rounds > 1) await peer.round('gzip');
  const inTurn = async (encoding: Encoding, change: 'change' | 'scatter') => {
    const all: Round[] = [];
    for (let n = 0; n < rounds; n += 1)
      all.push({ peer: await peer.round(encoding, change), ours: await ours.round(encoding, change) });
    return all;
  };
  const contiguous = new Map<Encoding, readonly Round[]>();
  for (const encoding of encodings) contiguous.set(encoding, await inTurn(encoding, 'change'));
  return { contiguous, scattered: rounds > 1 ? await inTurn('gzip', 'scatter') : [] };
}

/** The round with the median ratio. */
function medianOf(rounds: readonly Round[], measure: Measure): { readonly ours: number; readonly peer: number } {
  const pairs = rounds.map(({ ours, peer }) => ({ ours: ours[measure], peer: peer[measure] }));
  pairs.sort((a, b) => a.ours / a.peer - b.ours / b.peer);
  return pairs[Math.floor(pairs.length / 2)] ?? { ours: Number.NaN, peer: Number.NaN };
}

async function figuresOf(setting: Setting): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const { contiguous, scattered } = await roundsOf(setting);
  for (const [encoding, rounds] of contiguous) {
    for (const [measure, limit] of Object.entries(setting.limits[encoding]) as [Measure, number][]) {
      const { ours, peer } = medianOf(rounds, measure);
      const bounded = measure === 'block_ms' && setting.size <= boundedUpTo;
      const target = Math.min(peer * limit, bounded ? longestBlockMs : Number.POSITIVE_INFINITY);
      figures.push({
        bench,
        figure: `${setting.size}/${encoding}/${measure}`,
        ours: rounded(ours),
        peer: rounded(peer),
        ratio: ratioOf(ours, peer),
        target: rounded(target),
        holds: ours <= target,
      });
    }
  }
  if (scattered.length === 0) return figures;
  const figure = `${setting.size}/gzip/changes_at_random_places/cpu_ms`;
  return [...figures, measured({ bench, figure, ...medianOf(scattered, 'cpu_ms') })];
}

/** The installed daemon's scrape while it polls, beside prom-client's of the same size in the same run. */
async function liveFigure(figures: readonly Figure[], size: number): Promise<Figure> {
  const peer = figures.find(({ figure }) => figure === `${size}/gzip/cpu_ms`)?.peer ?? null;
  const figure = `${size}/gzip/live_daemon/cpu_ms`;
  return measured({ bench, figure, ours: await liveScrapeMs(), peer });
}

/** The benchmark: our server and prom-client's, in turn, then the daemon. Takes about six minutes; small: about three. */
export async function scrapeBenchmark({ small }: BenchOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const setting of settings.filter(({ size }) => !small || size <= boundedUpTo)) {
    process.stderr.write(`scrape: ${setting.size} mailboxes\n`);
    figures.push(...(await figuresOf(setting)));
  }
  process.stderr.write('scrape: the whole daemon\n');
  figures.push(await liveFigure(figures, boundedUpTo));
  process.stderr.write(`${tableOf(figures, 'prom-client')}\n`);
  return figures;
}
