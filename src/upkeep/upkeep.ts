// Keeps the store small while the daemon is on duty: in small steps, so that nothing ever waits for it.
import { hourMs, minuteMs } from '../model/time.ts';
import type { Store } from '../store/store.ts';
import type { World } from '../world.ts';

interface UpkeepParts {
  readonly world: World;
  readonly store: Pick<Store, 'upkeep'>;
}

/** One step of a duty; false when nothing is left to do. */
type Step = () => Promise<boolean>;

/** The start, with its first polls, is over by then. */
const beginAfterMs = minuteMs;
const everyMs = hourMs;
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

async function keepSmall({ world, store }: UpkeepParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = world;
  const duties: Readonly<Record<string, Step>> = {
    'decisions of an earlier version': () => store.upkeep.foldDecisions(),
  };
  await clock.sleep(beginAfterMs, signal);
  while (!signal.aborted) {
    for (const [what, step] of Object.entries(duties)) {
      try {
        while (!signal.aborted && (await clock.busy(step))) await clock.sleep(pauseMs, signal);
      } catch (error) {
        log.error({ err: error }, `${what} could not be cleared`);
      }
    }
    await clock.sleep(everyMs, signal);
  }
}
