// Keeps the store small while the daemon is on duty: in small steps, so that nothing ever waits for it.
import type { Retention } from '../model/retention.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import type { StoredUpkeep } from '../store/upkeep/upkeep.ts';
import type { World } from '../world.ts';

interface UpkeepParts {
  readonly world: World;
  readonly store: { readonly upkeep: Pick<StoredUpkeep, 'duties'> };
  /** As configured now; as the next. */
  readonly retention: () => Retention;
  /** The names of the channels. */
  readonly channels: () => readonly string[];
}

/** The start, with its first polls, is over by then. */
const beginAfterMs = minuteMs;
const everyMs = 6 * hourMs;
/** Between two steps, so that a tick never waits for long. */
const pauseMs = 20;

/** Begins after a minute; `stop` resolves when the step that is under way has ended. */
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

async function keepSmall({ world, store, retention, channels }: UpkeepParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = world;
  await clock.sleep(beginAfterMs, signal);
  while (!signal.aborted) {
    const plan = { now: clock.now(), retention: retention(), channels: channels() };
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
