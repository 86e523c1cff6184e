// `npm run bench -- scrape`: what a scrape costs, against prom-client on the same data; PERFORMANCE.md section 6 is the target.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type Figure, ratioOf, rounded } from './figure.ts';
import type { Measured, Order } from './scrape/orders.ts';

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

const tenth = { cpu_ms: 1 / 10, wall_ms: 1 / 10, block_ms: 1 / 50 };
/** Prometheus asks for gzip; text is for people, and is inflated for them. */
const fifth = { cpu_ms: 1 / 5, wall_ms: 1 / 5, block_ms: 1 / 5 };
const half = { cpu_ms: 1 / 2, wall_ms: 1 / 2, block_ms: 1 / 2 };
const settings: readonly Setting[] = [
  { size: 1_000, encodings: ['identity', 'gzip'], rounds: 3, limits: { identity: half, gzip: fifth } },
  { size: 10_000, encodings: ['identity', 'gzip'], rounds: 3, limits: { identity: fifth, gzip: tenth } },
  {
    size: 100_000,
    encodings: ['gzip'],
    rounds: 1,
    limits: { identity: {}, gzip: { ...tenth, peak_mb: 1 / 4 } },
  },
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

  async round(encoding: Encoding): Promise<Record<Measure, number>> {
    await this.#order('change');
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

/** The median of each measure over the rounds; the first scrape of all is not counted. */
async function measure(side: 'ours' | 'peer', setting: Setting): Promise<Map<Encoding, Record<Measure, number>>> {
  await using server = await Side.start(side, setting.size);
  const results = new Map<Encoding, Record<Measure, number>>();
  // prom-client is as slow the second time; its 100,000 take long enough once.
  if (side === 'ours' || setting.rounds > 1) await server.round('gzip');
  for (const encoding of setting.encodings) {
    const rounds: Record<Measure, number>[] = [];
    for (let n = 0; n < setting.rounds; n += 1) rounds.push(await server.round(encoding));
    const median = (name: Measure) =>
      rounds.map((round) => round[name]).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0;
    results.set(encoding, {
      cpu_ms: median('cpu_ms'),
      wall_ms: median('wall_ms'),
      block_ms: median('block_ms'),
      peak_mb: median('peak_mb'),
    });
  }
  return results;
}

async function figuresOf(setting: Setting): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const ours = await measure('ours', setting);
  const peer = await measure('peer', setting);
  for (const encoding of setting.encodings) {
    for (const [measure, limit] of Object.entries(setting.limits[encoding])) {
      const name = measure as Measure;
      const [mine, theirs] = [ours.get(encoding)?.[name] ?? Number.NaN, peer.get(encoding)?.[name] ?? Number.NaN];
      const bounded = name === 'block_ms' && setting.size <= boundedUpTo;
      const target = Math.min(theirs * limit, bounded ? longestBlockMs : Number.POSITIVE_INFINITY);
      figures.push({
        bench,
        figure: `${setting.size}/${encoding}/${name}`,
        ours: rounded(mine),
        peer: rounded(theirs),
        ratio: ratioOf(mine, theirs),
        target: rounded(target),
        holds: mine <= target,
      });
    }
  }
  return figures;
}

/** The benchmark: our server and prom-client's, one after the other. Takes about two minutes. */
export async function scrapeBenchmark(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const setting of settings) {
    process.stderr.write(`scrape: ${setting.size} mailboxes\n`);
    figures.push(...(await figuresOf(setting)));
  }
  return figures;
}
