// Follows a run at a recipe service to its end: patient with what comes late, and with words that nobody documented.
import type { Failure } from '../../api/http/failure.ts';
import { minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import type { RunRecord } from './answers.ts';
import type { RecipeApi, RunPage } from './client.ts';

/** The first wait; each next one is twice as long. At the longest a run takes 12 of the 60 requests of the smallest plan. */
const firstWaitMs = 250;
const longestWaitMs = 5 * secondMs;
/** A 429 without Retry-After: to the end of the minute (docs/faults.md H10). */
const throttledWaitMs = minuteMs;
/** A service may know a fresh run only a moment later; so many 404 in a row mean that it is not there. */
const missingTries = 4;
/** Rows that are not there when the run has succeeded are waited for this long. */
const lateRowsMs = 15 * secondMs;

/**
 * ended: the run is over; `rows` is still null when a succeeded run never showed any. unfinished: the time was up, or the
 * signal came; `run` is what was seen last. lost: the service does not know the run, or not us.
 */
export type Followed =
  | { readonly kind: 'ended'; readonly page: RunPage }
  | { readonly kind: 'unfinished'; readonly run: RunRecord | null; readonly detail: string }
  | { readonly kind: 'lost'; readonly failure: Failure };

export interface FollowOptions {
  readonly withinMs: number;
  readonly signal?: AbortSignal;
  /** Called with each record that was read. */
  readonly onProgress?: (run: RunRecord) => void;
}

/** Reads the run until it has ended. Never rejects; a failure that may pass is waited out. */
export async function followRun(api: RecipeApi, id: string, options: FollowOptions, world: World): Promise<Followed> {
  const { clock } = world;
  const { withinMs, signal, onProgress } = options;
  const deadline = clock.monotonic() + withinMs;
  // A request that hangs must not keep the caller longer; real time, as for all that is about sockets.
  const patience = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])]);
  let seen: RunRecord | null = null;
  let detail = 'it was not read in time';
  let missing = 0;
  let succeededAt: number | null = null;
  for (let wait = firstWaitMs; ; wait = Math.min(2 * wait, longestWaitMs)) {
    const read = await api.run(id, null, patience);
    let atLeastMs = 0;
    if (read.ok) {
      const { run } = read.value;
      seen = run;
      missing = 0;
      detail = `its status is ${run.stateSaid ?? 'not given'}`;
      onProgress?.(run);
      if (run.state === 'succeeded') succeededAt ??= clock.monotonic();
      const late = succeededAt !== null && clock.monotonic() - succeededAt < lateRowsMs && rowsAreLate(run);
      if (hasEnded(run) && !late) return { kind: 'ended', page: read.value };
    } else {
      const { failure } = read;
      detail = failure.detail;
      missing = failure.kind === 'missing' ? missing + 1 : 0;
      const final = failure.kind === 'unauthorized' || failure.kind === 'refused' || missing >= missingTries;
      if (final && !signal?.aborted) return { kind: 'lost', failure };
      if (failure.kind === 'throttled') atLeastMs = failure.retryAfterMs ?? throttledWaitMs;
    }
    const left = deadline - clock.monotonic();
    const next = Math.max(atLeastMs, wait * (0.5 + world.random() / 2));
    if (left <= atLeastMs || signal?.aborted) return { kind: 'unfinished', run: seen, detail };
    await clock.sleep(Math.min(next, left), signal);
  }
}

/** Whether the service's word for the run's state is an end that we know. */
export function hasEnded(run: RunRecord): boolean {
  return run.state === 'succeeded' || run.state === 'failed' || run.state === 'cancelled';
}

/** No rows at all, or none where some were counted. */
function rowsAreLate({ rows, rowCount }: RunRecord): boolean {
  return rows === null || (rows.length === 0 && (rowCount ?? 0) > 0);
}
