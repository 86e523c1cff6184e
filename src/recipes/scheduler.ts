// Starts scheduled runs of recipes, and deletes old runs.
import { hourMs, minuteMs } from '../model/time.ts';
import { cronSchedule } from '../schedule.ts';
import type { World } from '../world.ts';
import type { RecipeCatalogue } from './catalogue.ts';
import type { RunLedger } from './memory-runs.ts';
import type { RecipeRunner } from './runner.ts';

export interface SchedulerParts {
  readonly world: World;
  readonly runner: RecipeRunner;
  readonly catalogue: RecipeCatalogue;
  readonly runs: RunLedger;
  readonly retentionMs: () => number;
}

/** Who asks for a scheduled run. */
const scheduleName = 'schedule';
const pruneEveryMs = hourMs;
/** A schedule with a seconds field may be this late. */
const lookEveryMs = minuteMs;
/** Between two deletions, so that a tick never waits for long. */
const pruneStepMs = 20;

/** Starts the loops; `stop` resolves when they have ended. */
export function startScheduler(parts: SchedulerParts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loops = Promise.all([schedule(parts, stopping.signal), prune(parts, stopping.signal)]);
  return {
    async stop() {
      stopping.abort();
      await loops;
    },
  };
}

async function schedule({ world, runner, catalogue, runs }: SchedulerParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = world;
  const begun = clock.now();
  /** By recipe: until when its schedule was looked at. */
  const looked = new Map<string, number>();
  while (!signal.aborted) {
    await clock.sleep(lookEveryMs - (clock.now() % lookEveryMs), signal);
    if (signal.aborted) return;
    try {
      const { definitions } = await clock.busy(() => catalogue.recipes());
      for (const { recipe } of definitions.values()) {
        if (!recipe.schedule) continue;
        // A run that fell into our absence is caught up once.
        const since = looked.get(recipe.id) ?? (await lastScheduled(runs, recipe.id)) ?? begun;
        const now = clock.now();
        looked.set(recipe.id, now);
        const { cron, timeZone, apply } = recipe.schedule;
        if (!cronSchedule(cron, timeZone).dueBetween(since, now)) continue;
        const who = { by: scheduleName, scheduled: true, role: 'operator' } as const;
        const run = await runner.start({ recipe: recipe.id, parameters: {}, apply, ...who });
        if ('refused' in run) log.warn({ recipe: recipe.id, reason: run.said }, 'a scheduled run was not started');
      }
    } catch (error) {
      log.error({ err: error }, 'the schedules of recipes could not be checked');
    }
  }
}

const runsLookedAt = 20;

async function lastScheduled(runs: RunLedger, recipe: string): Promise<number | null> {
  const newest = await runs.newest(recipe, runsLookedAt);
  return newest.find(({ by }) => by === scheduleName)?.createdAt ?? null;
}

async function prune({ world, runs, retentionMs }: SchedulerParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = world;
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await runs.pruneOne(clock.now() - retentionMs()))) {
        await clock.sleep(pruneStepMs, signal);
      }
    } catch (error) {
      log.error({ err: error }, 'old runs could not be deleted');
    }
    await clock.sleep(pruneEveryMs, signal);
  }
}
