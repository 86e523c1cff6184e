// What a recipe's SELECT is given, and its rows.
import { runSelect, type SelectRequest } from '../../src/recipes/select.ts';
import { now } from '../store/records.ts';

/** Facts of a fleet without tags, in which nothing is stale. */
export const noFacts = {
  now,
  nearLimitPpm: { usual: 800_000, others: {} },
  tags: {},
  stale: [],
  statsAt: {},
};

/** Runs a SELECT over a store as a recipe does. */
export async function selected(place: SelectRequest['place'], select: string, changes: Partial<SelectRequest> = {}) {
  const rows: unknown[][] = [];
  const end = await runSelect({
    place,
    select,
    parameters: { now: new Date(now).toISOString() },
    integers: [],
    facts: noFacts,
    maxRows: 1_000,
    maxBytes: 1_000_000,
    // It ends a test that hangs: the process is nice, and starves on a busy machine.
    timeLimitMs: 200_000,
    signal: new AbortController().signal,
    onRows: async (chunk) => void rows.push(...JSON.parse(chunk.rows)),
    ...changes,
  });
  return { ...end, rows };
}
