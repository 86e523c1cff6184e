// Keeps the store small while the daemon is on duty: in small steps, so that nothing ever waits for it.
import type { AccountState } from '../core/mailbox.ts';
import type { Retention } from '../core/store-failure.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import type { World } from '../world/world.ts';
import type { StoredUpkeep } from './upkeep/upkeep.ts';

interface UpkeepParts {
  readonly world: World;
  readonly store: { readonly upkeep: Pick<StoredUpkeep, 'duties'> };
  /** As configured now; as the next. */
  readonly retention: () => Retention;
  /** The names of the channels. */
  readonly channels: () => readonly string[];
  /** How far our clock is ahead of the APIs', milliseconds; null while none of them was reached (clock-ahead.ts). */
  readonly aheadMs: () => number | null;
}

/** The start, with its first polls, is over by then, and the times of the APIs are known. */
const beginAfterMs = 5 * minuteMs;
const everyMs = 6 * hourMs;
/** Between two steps, so that a tick never waits for long. */
const pauseMs = 20;

/** Begins after five minutes, once an API was reached; `stop` resolves when the step that is under way has ended. */
export function startUpkeep(parts: UpkeepParts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loop = keepSmall(parts, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}

async function keepSmall(
  { world, store, retention, channels, ...clocks }: UpkeepParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = world;
  await clock.sleep(beginAfterMs, signal);
  while (!signal.aborted) {
    // A clock that is ahead by years would make all history old.
    const aheadMs = clocks.aheadMs();
    if (aheadMs === null) {
      await clock.sleep(minuteMs, signal);
      continue;
    }
    const plan = { now: clock.now() - aheadMs, retention: retention(), channels: channels() };
    for (const duty of store.upkeep.duties(plan)) {
      try {
        while (!signal.aborted && (await clock.busy(() => duty.step()))) await clock.sleep(pauseMs, signal);
      } catch (error) {
        log.error({ err: error, part: duty.what }, 'old history could not be deleted');
      }
    }
    await clock.sleep(everyMs, signal);
  }
}

// How far our clock is ahead, as the mailbox APIs tell it: history that a wrong clock deletes does not come back.

/**
 * The least by which our clock is ahead of an API's, milliseconds; 0 when it is not, or none tells the time. null: no account
 * was reached yet, as with a clock by which all certificates have expired.
 */
export function clockAheadMs(accounts: Iterable<Pick<AccountState, 'apiHealth' | 'lastSuccessAt'>>): number | null {
  const all = [...accounts];
  if (all.length > 0 && all.every(({ lastSuccessAt }) => lastSuccessAt === null)) return null;
  const ahead = all.map(({ apiHealth }) => apiHealth.clockAheadMs).filter((ms) => typeof ms === 'number');
  return ahead.length === 0 ? 0 : Math.max(0, Math.min(...ahead));
}
