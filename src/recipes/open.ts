// The recipes of a daemon. Runs act through its operator commands, and its store keeps them.
import type { Fleet } from '../core/fleet/fleet.ts';
import { type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { defaultPolicy, type Ppm } from '../core/policy.ts';
import type { Recipe, RecipeSchedule } from '../core/recipe.ts';
import type { StorePlace } from '../core/store-failure.ts';
import { type EpochMs, hourMs, minuteMs } from '../core/time.ts';
import { momentText } from '../core/wording/phrases.ts';
import type { RunStore } from '../store/runs.ts';
import type { Loop, Loops } from '../world/loop.ts';
import { cronSchedule, isSameLocalMinute } from '../world/schedule.ts';
import type { World } from '../world/world.ts';
import { type Catalogue, readCatalogue } from './catalogue.ts';
import { type CommandAccess, usualLimits } from './execution.ts';
import { RecipeRunner } from './runner.ts';
import type { ProgramFacts } from './sandbox.ts';

interface RecipeParts {
  readonly world: World;
  readonly loops: Loops;
  readonly store: { readonly runs: RunStore };
  readonly fleet: Fleet;
  readonly nearLimitPpmOf: (mailbox: MailboxState) => Ppm;
  readonly place: StorePlace;
  /** A reload may change the folder. */
  readonly folder: () => string;
  readonly retentionMs: () => number;
  readonly operate: () => CommandAccess['operate'] | null;
}

export interface OpenRecipes {
  readonly runner: RecipeRunner;
  readonly loops: readonly Loop[];
}

/** The pause between two deletions of old runs leaves the store to others. */
const pruneStepMs = 20;

export async function openRecipes(parts: RecipeParts): Promise<OpenRecipes> {
  const { world, loops, store, fleet, nearLimitPpmOf, place, folder, retentionMs, operate } = parts;
  const { runs } = store;
  const catalogue = () => readCatalogue(folder());
  const runner = new RecipeRunner({
    world,
    catalogue,
    runs,
    place,
    facts: () => programFacts(fleet, nearLimitPpmOf, world.clock.now()),
    commandAccess: () => {
      const there = operate();
      return there && { operate: there, mailbox: (account, id) => fleet.mailbox(account, id) };
    },
    limits: usualLimits,
  });
  await runner.endLeftBehind();
  const prune = async () => ((await runs.pruneOne(world.clock.now() - retentionMs())) ? pruneStepMs : hourMs);
  return {
    runner,
    loops: [
      loops.create('starting scheduled recipes', scheduling(world, runner, catalogue, runs)),
      loops.create('deleting old runs of recipes', prune),
    ],
  };
}

const scheduleName = 'schedule';
const lookEveryMs = minuteMs;
/** A scheduled change is not made later than this: the fleet has changed since. */
const lateChangeMs = hourMs;

function scheduling(
  { clock, log }: World,
  runner: RecipeRunner,
  catalogue: () => Promise<Catalogue>,
  runs: RunStore,
): () => Promise<number> {
  let lookedAt = clock.now();
  let isFirst = true;
  let hasLooked = false;
  const looked = new Map<string, EpochMs>();
  const lastScheduled = async (recipe: string) => (await runs.newest(recipe, 1, { by: scheduleName }))[0]?.createdAt;
  /** Starts the run that is due. Returns the time from which the next look begins. */
  const start = async ({ id, operation }: Recipe, { cron, timeZone, apply }: RecipeSchedule, since: EpochMs) => {
    const now = clock.now();
    const due = cronSchedule(cron, timeZone).newestRun(since, now);
    if (due === null) return now;
    // On the night when clocks go back, an hour occurs twice and has one run.
    const last = await lastScheduled(id);
    if (last !== undefined && due - last > minuteMs && isSameLocalMinute(last, due, timeZone)) return now;
    const request = { recipe: id, apply, by: scheduleName } as const;
    if (apply && operation !== null && now - due > lateChangeMs) {
      log.warn({ recipe: id, due: new Date(due).toISOString() }, 'a scheduled change was missed, and is not made late');
      const missed = `It was due at ${momentText(due, timeZone)} and was not started then. A change is not made more than an hour late.`;
      await runner.recordMissed(request, `${missed} If you still want it, run the recipe yourself.`);
      return now;
    }
    const run = await runner.start({ ...request, parameters: {}, scheduled: true, role: 'operator' });
    if ('refused' in run) log.warn({ recipe: id, reason: run.said }, 'a scheduled run was not started');
    return 'refused' in run && run.refused === 'busy' ? since : now;
  };
  const look = async () => {
    const { definitions } = await catalogue();
    const now = clock.now();
    // A schedule that comes back later is new: nothing is made up for.
    for (const id of looked.keys()) if (!definitions.get(id)?.recipe.schedule) looked.delete(id);
    for (const { recipe } of definitions.values()) {
      if (!recipe.schedule) continue;
      // A run that fell into a downtime is made up for once.
      const downSince = hasLooked ? undefined : await lastScheduled(recipe.id);
      const since = looked.get(recipe.id) ?? downSince ?? lookedAt;
      looked.set(recipe.id, await start(recipe, recipe.schedule, since));
    }
    [lookedAt, hasLooked] = [now, true];
  };
  return async () => {
    if (!isFirst) await look();
    isFirst = false;
    return lookEveryMs - (clock.now() % lookEveryMs);
  };
}

function programFacts(fleet: Fleet, nearLimitPpmOf: (mailbox: MailboxState) => Ppm, now: EpochMs): ProgramFacts {
  const usual = defaultPolicy.nearLimitPpm;
  const others: Record<string, Ppm> = {};
  const tags: Record<string, readonly string[]> = {};
  const stale: string[] = [];
  const statsAt: Record<string, EpochMs> = {};
  for (const mailbox of fleet.mailboxes()) {
    const key = mailboxKey(mailbox.account, mailbox.id);
    const ppm = nearLimitPpmOf(mailbox);
    if (ppm !== usual) others[key] = ppm;
    const own = fleet.tags.of(mailbox);
    if (own.length > 0) tags[key] = own;
    if (fleet.isStale(mailbox)) stale.push(key);
    if (mailbox.stats) statsAt[key] = mailbox.stats.at;
  }
  return { now, nearLimitPpm: { usual, others }, tags, stale, statsAt };
}
