// The targets of the benchmarks of the whole daemon, in one table, and whether they are enforced yet.
import { type Figure, ratioOf, rounded } from './figure.ts';

export interface Target {
  readonly wanted: number;
  readonly is: 'at most' | 'at least';
  /** What has to reach it: the figure itself, or its ratio to the peer. */
  readonly of: 'ours' | 'ratio';
  /** false: not met yet, and said so; the command does not fail for it. */
  readonly enforced: boolean;
}

const kilobyte = 1_000;

export const targets = {
  saturatedCpu: { wanted: 2, is: 'at most', of: 'ratio', enforced: false },
  pacedCpu: { wanted: 1.8, is: 'at most', of: 'ratio', enforced: false },
  // Not enforced: another machine may be half as fast, and a busy one is.
  pollsASecond: { wanted: 4_000, is: 'at least', of: 'ours', enforced: false },
  diskBytesAPoll: { wanted: 2 * kilobyte, is: 'at most', of: 'ours', enforced: true },
  // The lists of the cadence count, too: in a short run they are most of it, so that only a full run says something.
  listBytes: { wanted: 1, is: 'at most', of: 'ratio', enforced: true },
  exporterCpu: { wanted: 1, is: 'at most', of: 'ratio', enforced: false },
  // 150 MB beside its 20: a Node process loses to a Go binary, and this is by how much at most.
  exporterMemory: { wanted: 7.5, is: 'at most', of: 'ratio', enforced: true },
  longestBlockOf10k: { wanted: 10, is: 'at most', of: 'ours', enforced: false },
  longestBlockOf100k: { wanted: 20, is: 'at most', of: 'ours', enforced: false },
  reload: { wanted: 0.3, is: 'at most', of: 'ours', enforced: true },
  stormFires: { wanted: 100, is: 'at least', of: 'ours', enforced: true },
  stormPageCpu: { wanted: 15, is: 'at most', of: 'ours', enforced: false },
  stormPageSize: { wanted: 150, is: 'at most', of: 'ours', enforced: true },
  viewTime: { wanted: 200, is: 'at most', of: 'ours', enforced: true },
  // What polling does without a reader stands beside it.
  longBlocks: { wanted: 1, is: 'at most', of: 'ratio', enforced: false },
  liveCpu: { wanted: 2, is: 'at most', of: 'ratio', enforced: false },
  flatHeap: { wanted: 1.1, is: 'at most', of: 'ratio', enforced: true },
  // Depends on the machine and its neighbours: nothing is wanted of it.
  said: { wanted: Number.POSITIVE_INFINITY, is: 'at most', of: 'ours', enforced: false },
  none: { wanted: 0, is: 'at most', of: 'ours', enforced: true },
  changes: { wanted: 1_000, is: 'at least', of: 'ours', enforced: false },
  growth: { wanted: 0.6 * kilobyte, is: 'at most', of: 'ours', enforced: true },
  firstPollOf10k: { wanted: 1.2, is: 'at most', of: 'ours', enforced: true },
  firstPollOf100k: { wanted: 4, is: 'at most', of: 'ours', enforced: true },
  memoryOf1k: { wanted: 150, is: 'at most', of: 'ours', enforced: true },
  memoryOf10k: { wanted: 250, is: 'at most', of: 'ours', enforced: true },
  memoryOf100k: { wanted: 900, is: 'at most', of: 'ours', enforced: true },
  // Of a healthy agency of 500 mailboxes, without digest, heartbeat and the guard's own actions.
  noiseOfHealthy: { wanted: 2, is: 'at most', of: 'ours', enforced: true },
  // The study's interventions on healthy mailboxes in 90 days, times 500 mailboxes, and a quarter more.
  noiseActionsInSlow: { wanted: 0.18 * 500 * 1.25, is: 'at most', of: 'ours', enforced: true },
  noiseActionsInBalanced: { wanted: 0.11 * 500 * 1.25, is: 'at most', of: 'ours', enforced: true },
  noiseActionsInAggressive: { wanted: 0.006 * 500 * 1.25, is: 'at most', of: 'ours', enforced: true },
  noiseOfIncident: { wanted: 3, is: 'at most', of: 'ours', enforced: true },
  noiseOfTroubles: { wanted: 0.25, is: 'at most', of: 'ratio', enforced: true },
  scatteredScrape: { wanted: 1 / 20, is: 'at most', of: 'ratio', enforced: false },
  liveScrape: { wanted: 1 / 20, is: 'at most', of: 'ratio', enforced: false },
} as const satisfies Readonly<Record<string, Target>>;

/** How late an excess is seen. */
export const lagTargets = {
  /** As a share of round robin's lag, where statistics have every request: divided by the share that they have. */
  ofRoundRobin: {
    score_still: { p50: 0.15, p95: 0.25, max: 0.5 },
    score_moves: { p50: 0.05, p95: 0.1, max: 0.5 },
  },
  /**
   * Seconds. No mailbox is read again within a minute, and each waits for its turn beside the other kinds: a small fleet has a
   * lag whatever its key allows, as with an interval of 66 s.
   */
  ofInterval: { p50: 34, p95: 66, max: 83 },
} as const;

/** Times and disks differ from machine to machine: a figure fails only beyond this many times its target. */
const tolerance = 2;

export interface Measured {
  readonly bench: string;
  readonly figure: string;
  readonly ours: number;
  readonly peer: number | null;
}

/** The figure, held against its target. */
export function heldAgainst({ wanted, is, of, enforced }: Target, { bench, figure, ours, peer }: Measured): Figure {
  const ratio = ratioOf(ours, peer);
  const isNothing = ours === 0 && peer === 0;
  const value = of === 'ours' || isNothing ? ours : ratio;
  const isWithin = (limit: number) => value !== null && (is === 'at most' ? value <= limit : value >= limit);
  return {
    bench,
    figure,
    ours: rounded(ours),
    peer: peer === null ? null : rounded(peer),
    ratio,
    target: wanted,
    holds: isWithin(wanted),
    fails: enforced && !isWithin(is === 'at most' ? wanted * tolerance : wanted / tolerance),
  };
}

/** The figures as a table for people. `peerName`: what they are compared with. */
export function tableOf(figures: readonly Figure[], peerName: string): string {
  const cells = figures.map(({ figure, ours, peer, ratio, target, holds }) => [
    ...[figure, String(ours), peer === null ? '' : String(peer), ratio === null ? '' : String(ratio), String(target)],
    holds ? 'met' : 'not met',
  ]);
  const rows = [['figure', 'ours', peerName, 'ratio', 'target', ''], ...cells];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return rows.map(line).join('\n');
}
