// `npm run bench -- NAME`: runs one benchmark, or all of them; one JSON line a figure; exit 1 when a target is missed.
import { budgetBenchmark } from './budget.ts';
import type { Benchmark, Figure } from './figure.ts';
import { guardBenchmark } from './guard.ts';
import { lagBenchmark } from './lag.ts';
import { pollBenchmark } from './poll.ts';
import { scrapeBenchmark } from './scrape.ts';

const benchmarks: Readonly<Record<string, Benchmark>> = {
  budget: budgetBenchmark,
  guard: guardBenchmark,
  lag: lagBenchmark,
  poll: pollBenchmark,
  scrape: scrapeBenchmark,
};

const exitMissed = 1;
const exitUsage = 2;

/** Runs the named benchmarks in turn and prints their figures; true when every target holds. */
async function runAll(names: readonly string[]): Promise<boolean> {
  let holds = true;
  for (const name of names) {
    const figures: readonly Figure[] = (await benchmarks[name]?.()) ?? [];
    for (const figure of figures) process.stdout.write(`${JSON.stringify(figure)}\n`);
    const missed = figures.filter((figure) => !figure.holds);
    process.stderr.write(`${name}: ${figures.length - missed.length} of ${figures.length} figures hold\n`);
    for (const { figure, ours, peer, ratio, target } of missed) {
      const beside = peer === null ? '' : ` beside ${peer} (ratio ${ratio})`;
      process.stderr.write(`${name}: missed ${figure}: ${ours}${beside}, wanted ${target}\n`);
    }
    holds &&= figures.length > 0 && missed.length === 0;
  }
  return holds;
}

const known = Object.keys(benchmarks);
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`unknown benchmark ${unknown.join(', ')}; known here: ${known.join(', ')}\n`);
  process.exitCode = exitUsage;
} else if (!(await runAll(asked.length > 0 ? asked : known))) {
  process.exitCode = exitMissed;
}
