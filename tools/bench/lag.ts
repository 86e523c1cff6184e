// `npm run bench -- lag`: how late a crossed limit is seen at the shipped defaults, in virtual time, beside round robin of the
// four endpoints.
import { type Figure, ratioOf, rounded } from './figure.ts';
import { createFleet } from './lag/fleet.ts';
import { othersDailyMs, ours, roundRobin, shippedMs, slotMsOf, statsShareOf } from './lag/race.ts';
import { lagTargets } from './targets.ts';

interface Fleet {
  readonly mailboxes: number;
  readonly requestsPerMinute: number;
  readonly seeds: readonly number[];
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

/**
 * The constants of src/api/poll (floor, patience, sharpness, armed) were tuned on seeds 1 to 3 of 1,000 mailboxes and 1 to
 * 36 of 100, both at 100 a minute. Not one of these fleets was looked at for it.
 */
const fleets: readonly Fleet[] = [
  { mailboxes: 100, requestsPerMinute: 100, seeds: range(100, 64) },
  { mailboxes: 1_000, requestsPerMinute: 100, seeds: range(100, 2) },
  { mailboxes: 5_000, requestsPerMinute: 100, seeds: range(100, 1) },
  // Fewer crossings than these leave its median off by some seconds.
  { mailboxes: 100, requestsPerMinute: 500, seeds: range(100, 24) },
  { mailboxes: 1_000, requestsPerMinute: 500, seeds: range(100, 1) },
];

type Score = keyof typeof lagTargets.ofRoundRobin;
const measures = ['p50', 'p95', 'max'] as const;

/** Lags of one fleet, milliseconds, and those of round robin on it. */
interface Lags {
  readonly lags: readonly number[];
  readonly peers: readonly number[];
}

/** `share`: of the requests, that read statistics. */
function figuresOf(name: string, score: Score, share: number, { lags, peers }: Lags): readonly Figure[] {
  return measures.map((measure) => {
    const part = { p50: 0.5, p95: 0.95, max: 1 }[measure];
    const [mine, peer] = [quantile(lags, part) / 1_000, quantile(peers, part) / 1_000];
    const wanted = Math.max((lagTargets.ofRoundRobin[score][measure] / share) * peer, lagTargets.ofInterval[measure]);
    return {
      bench: 'lag',
      figure: `${name}/${measure}_seconds`,
      ours: rounded(mine),
      peer: rounded(peer),
      ratio: ratioOf(mine, peer),
      target: rounded(wanted),
      holds: mine <= wanted,
    };
  });
}

/** The figures of one fleet, all its seeds together. */
function figuresOfFleet({ mailboxes, requestsPerMinute, seeds }: Fleet): readonly Figure[] {
  const slotMs = slotMsOf(requestsPerMinute);
  const worlds = seeds.map((seed) => createFleet(mailboxes, seed));
  const peers = worlds.flatMap((fleet) => roundRobin(fleet, slotMs));
  const name = `${mailboxes}_mailboxes/${requestsPerMinute}_a_minute`;
  const share = statsShareOf(mailboxes, slotMs);
  return (['score_still', 'score_moves'] as const).flatMap((score) => {
    const asking = { slotMs, scoreMoves: score === 'score_moves', cadenceMs: shippedMs };
    const lags = worlds.flatMap((fleet) => ours(fleet, asking));
    return figuresOf(`${name}/${score}`, score, share, { lags, peers });
  });
}

/** Why the targets go by that share: without the other kinds, the ratios hold as they are. */
function figuresOfStatsOnly(): readonly Figure[] {
  const slotMs = slotMsOf(100);
  const worlds = range(100, 2).map((seed) => createFleet(1_000, seed));
  const peers = worlds.flatMap((fleet) => roundRobin(fleet, slotMs));
  const asking = { slotMs, scoreMoves: false, cadenceMs: othersDailyMs };
  const lags = worlds.flatMap((fleet) => ours(fleet, asking));
  return figuresOf('1000_mailboxes/100_a_minute/other_kinds_daily', 'score_still', 1, { lags, peers });
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** Runs for 20 minutes: the queue scans every mailbox before each poll. */
export async function lagBenchmark(): Promise<readonly Figure[]> {
  const lags = fleets.flatMap((fleet) => {
    const figures = figuresOfFleet(fleet);
    process.stderr.write(`lag: ${fleet.mailboxes} mailboxes at ${fleet.requestsPerMinute} a minute\n`);
    return figures;
  });
  return [...lags, ...figuresOfStatsOnly()];
}
