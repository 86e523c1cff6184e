// How old each kind of data will get with a cadence and a budget, and what would mend it.
import type { Route } from './answers.ts';

/** Kinds of answers with a limit of their own that is below what the cadence needs. */
export interface NarrowRoutes {
  readonly routes: readonly Route[];
  /** Requests a minute that the API allows for them. */
  readonly perMinute: number;
  readonly needsPerMinute: number;
}

export interface Forecast {
  readonly mailboxes: number;
  /** Requests a minute that may be made at present. */
  readonly allowedPerMinute: number;
  /** The API lets nothing start for most of the time, although more is allowed. */
  readonly isHeldBack: boolean;
  /** Requests a minute that the cadence asks for. */
  readonly asksPerMinute: number;
  /** Requests a minute that are made at most, with spare ones, in the long run. Absent in what an earlier version stored. */
  readonly usedPerMinute?: number;
  /** The kinds that the API allows too few requests for; null, or absent as above: none. */
  readonly narrow?: NarrowRoutes | null;
  readonly fits: boolean;
  /** How old each kind of data gets, milliseconds. */
  readonly oldestMs: Readonly<Record<Route, number>>;
  /** How old the statistics of the calmest mailboxes get where the others' are read sooner, milliseconds; as a rule the same. */
  readonly calmestMs: number;
  /** How long a first sweep of all of them takes until each can be judged, milliseconds. */
  readonly firstSweepMs: number;
  /** What would hold the cadence; null when it fits. */
  readonly mend: {
    /** A limit of the key, requests a minute, headroom included. */
    readonly requestsPerMinute: number;
    /** A cadence that this budget holds, milliseconds. */
    readonly statsMs: number;
    readonly warmupMs: number;
  } | null;
}
