// A change at the mailbox API that the guard wants, from the plan to its outcome.
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';
import type { RunState, Verdict } from './verdict.ts';

/** restore: back from recovery to the mode before. */
export const actionKinds = ['recovery', 'pause', 'restore'] as const;
export type ActionKind = (typeof actionKinds)[number];

/**
 * planned: wanted, nothing sent. open: the intent is recorded, a POST may be under way.
 * confirmed: read back. refused: the API said no. unconfirmed: not (yet) visible.
 * dropped: before any POST the mailbox had changed, or the verdict no longer stood.
 */
export type ActionState = 'planned' | 'open' | 'confirmed' | 'refused' | 'unconfirmed' | 'dropped';

/** The outcomes that an action that was sent can have; also the metric's label. */
export const outcomes = ['confirmed', 'refused', 'unconfirmed'] as const;
export type Outcome = (typeof outcomes)[number];

/** What the look before the POST saw. */
export interface Before {
  readonly mode: string | null;
  readonly status: string | null;
  readonly run: RunState;
}

export interface Action {
  /** Unique for ever; sorts by time. */
  readonly id: string;
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly kind: ActionKind;
  /** The mode that it sets; null for a pause. */
  readonly targetMode: WarmupMode | null;
  readonly state: ActionState;
  readonly verdict: Verdict;
  readonly before: Before;
  /** POSTs sent or about to be sent. All tries are one intervention. */
  readonly attempts: number;
  readonly plannedAt: EpochMs;
  readonly openedAt: EpochMs | null;
  readonly settledAt: EpochMs | null;
  /** When the next try is due; null when there is none. */
  readonly nextTryAt: EpochMs | null;
  /** What came back, in a sentence. */
  readonly detail: string | null;
}
