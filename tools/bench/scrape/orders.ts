// What the scrape benchmark and its servers say to one another.

/** change, scatter: take in the next polls, of mailboxes behind one another or at random places; CPU counts from here. watch: the event loop's delay counts from here. tell: the sums. */
export type Order = 'change' | 'scatter' | 'watch' | 'tell';

export interface Measured {
  readonly cpuMs: number;
  /** The longest work for which the event loop did nothing else, in CPU time. */
  readonly blockMs: number;
  /** Of the process so far. */
  readonly peakMb: number;
}
