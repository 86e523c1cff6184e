// `npm run bench -- NAME`: runs one benchmark, or all of them; one JSON line a figure; exit 1 when one fails. --small: as for CI.
import { blocksBenchmark } from './blocks.ts';
import { budgetBenchmark } from './budget.ts';
import { dutyBenchmark } from './duty.ts';
import { type Benchmark, type BenchOptions, type Figure, failsOf } from './figure.ts';
import { guardBenchmark } from './guard.ts';
import { lagBenchmark } from './lag.ts';
import { memoryBenchmark } from './memory.ts';
import { noiseBenchmark } from './noise.ts';
import { pageBenchmark } from './page.ts';
import { pollBenchmark } from './poll.ts';
import { scrapeBenchmark } from './scrape.ts';
import { storeBenchmark } from './store.ts';

const benchmarks: Readonly<Record<string, Benchmark>> = {
  blocks: blocksBenchmark,
  budget: budgetBenchmark,
  duty: dutyBenchmark,
  guard: guardBenchmark,
  lag: lagBenchmark,
  memory: memoryBenchmark,
  noise: noiseBenchmark,
  page: pageBenchmark,
  poll: pollBenchmark,
  scrape: scrapeBenchmark,
  store: storeBenchmark,
};

const exitMissed = 1;
const exitUsage = 2;

/** Runs the named benchmarks in turn and prints their figures; true when none fails. */
async function runAll(names: readonly string[], options: BenchOptions): Promise<boolean> {
  let passes = true;
  for (const name of names) {
    const figures: readonly Figure[] = (await benchmarks[name]?.(options)) ?? [];
    for (const figure of figures) process.stdout.write(`${JSON.stringify(figure)}\n`);
    const missed = figures.filter((figure) => !figure.holds);
    process.stderr.write(`${name}: ${figures.length - missed.length} of ${figures.length} figures hold\n`);
    for (const figure of missed) {
      const { ours, peer, ratio, target } = figure;
      const beside = peer === null ? '' : ` beside ${peer} (ratio ${ratio})`;
      const said = failsOf(figure) ? 'missed' : 'target not met';
      process.stderr.write(`${name}: ${said}: ${figure.figure}: ${ours}${beside}, wanted ${target}\n`);
    }
    passes &&= figures.length > 0 && !figures.some(failsOf);
  }
  return passes;
}

// Their processes end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(exitMissed));

const known = Object.keys(benchmarks);
const smallFlag = '--small';
const asked = process.argv.slice(2).filter((word) => word !== smallFlag);
const options = { small: process.argv.includes(smallFlag) };
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`unknown benchmark ${unknown.join(', ')}; known here: ${known.join(', ')}\n`);
  process.exitCode = exitUsage;
} else if (!(await runAll(asked.length > 0 ? asked : known, options))) {
  process.exitCode = exitMissed;
}
