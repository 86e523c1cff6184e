// Replicas that ended without a normal stop, and that none has replaced since.

/** So long a replica is missed; then a smaller number of replicas counts as wanted. */
export const missedForMs = 24 * 3_600_000;

/** One that was marked dead while it wanted work, and for which no other one joined. */
export interface EndedReplica {
  /** For people: its host and process. */
  readonly name: string;
  /** Its last heartbeat, by the clock of the database, epoch milliseconds. */
  readonly beatAt: number;
}
