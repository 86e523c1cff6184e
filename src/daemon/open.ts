// Opens the parts that the others need: the store, the picture of the last process, the metrics, the recipes. Until the
// store opens, a process that stands by answers here.
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { alertsOfMoves } from '../account/record/rivals.ts';
import type { Config } from '../config/config.ts';
import { LiveConfig, policyOf } from '../config/mailbox-rules.ts';
import { noAccount } from '../core/alert.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { pathOf } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { MetricsSettings } from '../metrics/fleet-series.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { startCommandSocket } from '../operations/socket.ts';
import { type OpenRecipes, openRecipes } from '../recipes/open.ts';
import type { StoredPicture } from '../store/picture.ts';
import type { Store } from '../store/store.ts';
import { type StandbyState, startStandbyServer } from '../web/server.ts';
import { Loops, Teardowns } from '../world/loop.ts';
import { version } from '../world/program.ts';
import type { World } from '../world/world.ts';
import { fleetOf, notGuardedAnyMore } from './picture.ts';
import type { Startup } from './readiness.ts';
import { knownAccount, renamesOf } from './reload/changes.ts';

const processName = `process ${process.pid} on ${hostname()}`;

export interface DaemonRooms {
  readonly world: World;
  readonly loops: Loops;
  readonly live: LiveConfig;
  readonly store: Store;
  readonly fleet: Fleet;
  readonly metrics: Metrics;
  readonly metricsSettings: () => MetricsSettings;
  readonly recipes: OpenRecipes;
}

export interface Origins {
  readonly world: World;
  readonly startup: Startup;
  readonly openStore: typeof Store.open;
  readonly leaseLost: (why: string) => void;
}

/** Rejects with one sentence if the store is not available. */
export async function open(config: Config, origins: Origins, teardowns: Teardowns): Promise<DaemonRooms> {
  const { world, startup, openStore } = origins;
  const live = new LiveConfig(config);
  const { clock, log } = world;
  const standby = new Standby(config, world);
  const lease = {
    ...{ clock, log, version, name: processName, lost: origins.leaseLost },
    standingBy: (active: string, failure: Error | null) => standby.show(active, failure),
  };
  const opening = openStore(config.store, clock.now(), { clock, lease });
  const store = await opening.finally(() => standby.end());
  teardowns.add('store', () => store.close());
  for (const news of store.news) world.log.info(news);
  for (const warning of store.warnings) world.log.warn(warning);
  const fleet = await loadFleet(store, config, world);
  fleet.tags = live.tags;
  const metricsSettings = () => metricsSettingsOf(live, fleet, world);
  const metrics = createMetrics({ fleet, version, world, settings: metricsSettings() });
  const loops = new Loops(world);
  const recipes = await openRecipes({
    world,
    loops,
    store,
    fleet,
    nearLimitPpmOf: (mailbox) => live.policyOf(mailbox).nearLimitPpm,
    place: config.store,
    folder: () => live.config.recipes.directory,
    retentionMs: () => live.config.retention.messagesMs,
    operate: () => startup.operate,
  });
  teardowns.add('recipes', () => recipes.runner.close());
  return { world, loops, live, store, fleet, metrics, metricsSettings, recipes };
}

async function loadFleet(store: Store, { accounts }: Config, { clock, log }: World): Promise<Fleet> {
  const known = await store.knownAccounts();
  const configured = accounts.map(knownAccount);
  const moves = renamesOf(known, configured);
  let left = await store.loadPicture();
  if (moves.length > 0 || !configured.every((one) => known.some((was) => isDeepStrictEqual(was, one)))) {
    const before = fleetOf(
      left,
      known.map(({ name, api }) => ({ name, baseUrl: api })),
    );
    const alerts = alertsOfMoves(before, moves, known, clock.now());
    await store.recordAccounts({ accounts: configured, moves, alerts });
    if (moves.length > 0) left = await store.loadPicture();
    for (const { from, to } of moves) log.warn({ account: to, before: from }, 'the account had another name before');
  }
  await endForgotten(store, left, { names: accounts.map(({ name }) => name), now: clock.now() });
  return fleetOf(left, accounts);
}

/** Ends alerts of accounts that left the configuration while no daemon ran. `names` are the configured ones. */
export async function endForgotten(
  store: Store,
  { alerts }: Pick<StoredPicture, 'alerts'>,
  { names, now }: { readonly names: readonly string[]; readonly now: EpochMs },
): Promise<void> {
  const guarded = new Set([noAccount, ...names]);
  const forgotten = alerts.filter(({ account }) => !guarded.has(account));
  const ends = notGuardedAnyMore(forgotten, now);
  if (ends.changed.length + ends.dropped.length > 0) await store.recordAlerts(ends);
}

function metricsSettingsOf(live: LiveConfig, fleet: Fleet, { clock }: World): MetricsSettings {
  return {
    policyOf: (mailbox) => live.policyOf(mailbox),
    tagsOf: live.tags.of,
    ...live.config.metrics,
    enforcing: (name) =>
      policyOf(live.account(name)?.guard ?? {}).enforce && fleet.writesAllowed(name, null, clock.now()),
  };
}

class Standby {
  readonly #config: Pick<Config, 'server' | 'store'>;
  readonly #world: World;
  readonly #parts: Teardowns;
  #state: StandbyState | null = null;
  #starting: Promise<void> | null = null;

  constructor(config: Pick<Config, 'server' | 'store'>, world: World) {
    this.#config = config;
    this.#world = world;
    this.#parts = new Teardowns(world.log);
  }

  /** `active` holds the lease; `failure` says why the lease can't be read, or is null. */
  show(active: string, failure: Error | null): void {
    const { log } = this.#world;
    if (this.#state?.active !== active) log.info({ active }, 'standing by');
    this.#state = { active, failure: failure?.message ?? null };
    this.#starting ??= this.#start(() => this.#state ?? { active, failure: null });
  }

  /** Resolves when the address and the socket are free again. */
  async end(): Promise<void> {
    await this.#starting;
    await this.#parts.takeDown();
  }

  /** Serves, and never rejects: a process that can't show that it is a standby is one nonetheless. */
  async #start(state: () => StandbyState): Promise<void> {
    const { server, store } = this.#config;
    const { log } = this.#world;
    try {
      const running = await startStandbyServer(server, state);
      this.#parts.add('standby server', () => running.close());
      const socket = await startCommandSocket(pathOf(store), running.answer);
      this.#parts.add('standby commands', () => socket.close());
    } catch (error) {
      log.error({ err: error }, 'this standby cannot be asked which process is active');
    }
  }
}
