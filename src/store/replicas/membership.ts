// Which work is this replica's: what the daemon asks before it begins something, and hears when that changes. A process with a
// SQLite store has no other beside it, and all of the work.

import type { StoreFailure } from '../../core/store-failure.ts';
import type { EndedReplica } from './missing.ts';

/** Work that one replica does at a time: an account; `notify`: messages, digest and heartbeat; `clock`: schedules and retention. */
export type Scope = `account:${string}` | 'notify' | 'clock';

export function accountScope(account: string): Scope {
  return `account:${account}`;
}

/** null: it is not the work of one account. */
export function accountOf(scope: Scope): string | null {
  return scope.startsWith('account:') ? scope.slice('account:'.length) : null;
}

/** What a replica says of itself with each beat. */
export interface ReplicaReport {
  /** Differs where the configuration in force does. */
  readonly configDigest: string;
  /** Why its last reload was refused; null: it was not. */
  readonly reloadFailure: string | null;
  /** What is wrong with the store, as it sees it; null: nothing. */
  readonly storeFailure: StoreFailure | null;
}

/** A replica that is not dead, as it was last seen. */
export interface Replica extends ReplicaReport {
  /** New at each start. */
  readonly id: string;
  /** For people: its host and process. */
  readonly name: string;
  /** Of Warmwarden. */
  readonly version: string;
  /** Epoch milliseconds, on its own clock. */
  readonly startedAt: number;
  /** Since a beat of it was seen to change, milliseconds. */
  readonly silentMs: number;
  readonly scopes: readonly Scope[];
  /** What its configuration asks for: what no living replica wants is forgotten. */
  readonly wants: readonly Scope[];
}

/** `free`: nobody had it. `handed_over`: its holder gave it away, with all done. `inherited`: its holder died, perhaps within an action. */
export type Taking = 'free' | 'handed_over' | 'inherited';

/** Who begins and ends the work. One call at a time a scope. Nothing rejects. */
export interface Follower {
  taken(scope: Scope, how: Taking): Promise<void>;
  /** To be ended in good order: the lease is given away afterwards. */
  release(scope: Scope): Promise<void>;
  /** The lease is no longer this replica's. Nothing of it can be written any more: it ends at once, also what is being released. */
  abandon(scope: Scope): Promise<void>;
  /** This replica was taken for dead. Nothing can be written any more: all work ends at once. Afterwards it may take scopes again. */
  lost(): Promise<void>;
}

export interface Membership {
  /** The id of this replica; null: there is no other, ever. It changes when a replica was taken for dead. */
  readonly self: string | null;
  /** Whether the work is this replica's now: it has the lease, and the deadline is not over. */
  holds(scope: Scope): boolean;
  /** Whether a POST that begins now ends while the leases are this replica's. */
  mayPost(): boolean;
  /** Those that live, this one among them; none where there is no other, ever. */
  replicas(): readonly Replica[];
  /** Those that ended without a word, and that none has replaced since; none where there is no other, ever. */
  missing(): readonly EndedReplica[];
  /**
   * What the configuration in force asks for. Called at the start, and after each reload. Resolves when what this replica
   * takes at once has begun, and what it held beyond that has ended; what others hold is taken later, or never.
   */
  want(scopes: readonly Scope[]): Promise<void>;
  /**
   * Why this replica can't have its work: heartbeats fail, once the deadline is over and more than one has failed in a row, or
   * work that nobody has could not be taken for a while. null: it can.
   */
  readonly overdue: Error | null;
  /** What others see of this replica from the next beat on; what is absent stays as it is. */
  report(report: Partial<ReplicaReport>): void;
  /** This replica can't do the work: another one may try, at most every 15 minutes. It is released and given away, or nothing happens. */
  offer(scope: Scope): void;
  /** From now on work is taken and given. There is one follower. */
  follow(follower: Follower): void;
  /** Releases all, and leaves. */
  stop(): Promise<void>;
}
