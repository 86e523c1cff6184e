// What every benchmark hands back: figures with their peer and target, one JSON line each.

/** One measured number. Key order is the order of the printed line (docs/performance.md). */
export interface Figure {
  readonly bench: string;
  /** What was measured, with its unit at the end. */
  readonly figure: string;
  readonly ours: number;
  /** The same measure of what it is compared with; null without a peer. */
  readonly peer: number | null;
  /** ours / peer; null where that says nothing. */
  readonly ratio: number | null;
  /** Infinity, which JSON writes as null, if nothing is wanted of it. */
  readonly target: number;
  readonly holds: boolean;
  /** Whether the command ends with 1 for it; without it: unless it holds. */
  readonly fails?: boolean;
}

export const failsOf = ({ holds, fails = !holds }: Figure) => fails;

/** What the user of the command wants of it. */
export interface BenchOptions {
  /** Shorter runs, as for CI. */
  readonly small: boolean;
  /** Rows of the duty benchmark that are asked for; empty: all but the largest. */
  readonly rows: readonly string[];
}

/** A benchmark: works, may tell people what it does on stderr, and hands back its figures. */
export type Benchmark = (options: BenchOptions) => Promise<readonly Figure[]>;

/** Four significant digits: more would be noise. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** ours / peer, rounded; null without a peer, or where it is 0. */
export function ratioOf(ours: number, peer: number | null): number | null {
  return peer === null || peer === 0 ? null : rounded(ours / peer);
}
