// What the protocol of several replicas needs of the database that they share. Each call is a transaction, and may reject: the
// database is away.
import type { ReplicaReport, Scope, Taking } from './membership.ts';
import type { EndedReplica } from './missing.ts';

/** What a replica is from its beginning to its end. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

export interface SeenReplica extends Entry, ReplicaReport {
  readonly beat: number;
  readonly wants: readonly Scope[];
}

export interface SeenLease {
  readonly scope: Scope;
  /** null: it was given away. One who is not among the replicas is dead. */
  readonly owner: string | null;
  /** Since a replica offered it that could not do the work, milliseconds; null: none ever did. */
  readonly offeredMsAgo: number | null;
}

/** What one look shows. */
export interface Sight {
  /** The clock of the database, epoch milliseconds. */
  readonly now: number;
  /** Those that live. */
  readonly replicas: readonly SeenReplica[];
  readonly leases: readonly SeenLease[];
  readonly missing: readonly EndedReplica[];
}

export interface Roster {
  enter(entry: Entry, wants: readonly Scope[], report: ReplicaReport): Promise<void>;
  /** `wants` null: as before. null: the replica is dead, and never beats again. */
  beat(id: string, wants: readonly Scope[] | null, report: ReplicaReport): Promise<Sight | null>;
  look(): Promise<Sight>;
  /** Only where its beat is still this one; waits for a transaction of it, a moment. Whether it is dead now. */
  markDead(id: string, beat: number): Promise<boolean>;
  /** null: it belongs to one that lives. What is ours already counts as inherited: the answer to an earlier try was lost. */
  take(id: string, scope: Scope): Promise<Taking | null>;
  /** Among the transactions of the replica, in their order. `offered`: because it can't do the work. */
  give(id: string, scope: Scope, offered: boolean): Promise<void>;
  /** Whatever it still has is inherited. */
  leave(id: string): Promise<void>;
}
