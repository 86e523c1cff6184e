// The schema's step that finds what was held in the last days: without it, a year of decisions would be read from end to end.
import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** The decisions of mailboxes that are called held. Written out: only then a query may use the index. */
export const isHeld = sql<boolean>`reason IN ('first_sight', 'circuit_breaker')`;

export async function heldDecisions({ schema }: Kysely<Tables>): Promise<void> {
  await schema.createIndex('decisions_held').on('decisions').columns(['until', 'id']).where(isHeld).execute();
}
