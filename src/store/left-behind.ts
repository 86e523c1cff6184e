// What a replica began and did not end is for others to end once it is dead.
import { sql } from 'kysely';
import type { EpochMs } from '../model/time.ts';

/** Whose work is left alone; of everybody else's, what began before a moment was left behind. */
export interface LeftBy {
  /** Ids of replicas. */
  readonly living: readonly string[];
  /** Late enough that whoever began something then is known to live. */
  readonly before: EpochMs;
}

/** Whether a row's replica is none of those that live. */
export function isNotOf({ living }: LeftBy) {
  return sql<boolean>`(replica IS NULL OR replica NOT IN (${sql.join(['', ...living])}))`;
}
