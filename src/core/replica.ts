// Processes that share one store, as people see them.
import type { EpochMs } from './time.ts';

/** One that ended without a word. */
export interface MissingReplica {
  readonly name: string;
  /** Its last heartbeat. */
  readonly beatAt: EpochMs;
}

export interface ReplicaState {
  readonly id: string;
  /** Its host and process. */
  readonly name: string;
  /** Of Warmwarden. */
  readonly version: string;
  readonly startedAt: EpochMs;
  /** Nothing was heard of it for longer than usual. */
  readonly silent: boolean;
  /** The accounts that it guards. */
  readonly accounts: readonly string[];
  /** The accounts of its configuration. */
  readonly configured: readonly string[];
  /** It sends the messages. */
  readonly notifies: boolean;
  /** Differs where the configuration does; empty: not known yet. */
  readonly configDigest: string;
  /** Why its newest configuration was refused; null: it was not. */
  readonly reloadFailure: string | null;
  /** Whoever asked reached this one. */
  readonly isSelf: boolean;
}
