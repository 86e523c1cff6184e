// `npm run bench -- NAME`: runs one benchmark, or all of them; one JSON line a figure; exit 1 when one fails. --small: as for CI.
import { budgetBenchmark } from './budget.ts';
import { diskBenchmark } from './disk.ts';
import { dutyBenchmark, dutyRows } from './duty.ts';
import { type Benchmark, type BenchOptions, failsOf } from './figure.ts';
import { guardBenchmark } from './guard.ts';
import { lagBenchmark } from './lag.ts';
import { noiseBenchmark } from './noise.ts';
import { scrapeBenchmark } from './scrape.ts';

const benchmarks: Readonly<Record<string, Benchmark>> = {
  budget: budgetBenchmark,
  disk: diskBenchmark,
  duty: dutyBenchmark,
  guard: guardBenchmark,
  lag: lagBenchmark,
  noise: noiseBenchmark,
  scrape: scrapeBenchmark,
};

const exitMissed = 1;
const exitUsage = 2;

/** Runs the named benchmarks in turn and prints their figures; true when none fails. */
async function runAll(names: readonly string[], options: BenchOptions): Promise<boolean> {
  let passes = true;
  for (const name of names) {
    const figures = (await benchmarks[name]?.(options)) ?? [];
    for (const figure of figures) process.stdout.write(`${JSON.stringify(figure)}\n`);
    const missed = figures.filter((figure) => !figure.holds);
    process.stderr.write(`${name}: ${figures.length - missed.length} of ${figures.length} figures hold\n`);
    for (const { figure, ours, peer, ratio, target } of missed.filter(failsOf)) {
      const beside = peer === null ? '' : ` beside ${peer} (ratio ${ratio})`;
      process.stderr.write(`${name}: missed: ${figure}: ${ours}${beside}, wanted ${target}\n`);
    }
    passes &&= !figures.some(failsOf);
  }
  return passes;
}

const longMs = 2 ** 31 - 1;
/** Keeps this process alive: what a benchmark in virtual time waits for, such as the thread of a store, does not. */
const awake = setInterval(() => {}, longMs);

// Their processes end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(exitMissed));

const known = Object.keys(benchmarks);
const smallFlag = '--small';
const words = process.argv.slice(2).filter((word) => word !== smallFlag);
const rows = words.includes('duty') ? words.filter((word) => dutyRows.includes(word)) : [];
const asked = words.filter((word) => !rows.includes(word));
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  const rowsText = `duty has the rows ${dutyRows.join(', ')}`;
  process.stderr.write(`unknown benchmark ${unknown.join(', ')}; known here: ${known.join(', ')}; ${rowsText}\n`);
  process.exitCode = exitUsage;
} else if (!(await runAll(asked.length > 0 ? asked : known, { small: process.argv.includes(smallFlag), rows }))) {
  process.exitCode = exitMissed;
}
clearInterval(awake);
