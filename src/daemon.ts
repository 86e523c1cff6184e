// The composition root: makes the rooms, introduces them to one another, and takes them down in reverse order.
import { userInfo } from 'node:os';
import { storeSubject } from './alert/store-rule.ts';
import { explainVerdict } from './alert/wording.ts';
import type { ChannelConfig } from './config/config.ts';
import { LiveConfig } from './config/live.ts';
import { policyOf } from './config/mailbox-rules.ts';
import type { Fleet } from './fleet/fleet.ts';
import { fingerprintOf } from './model/alert.ts';
import type { DaemonHands, HandOutcome, ReloadRequest } from './model/hand.ts';
import type { MailboxState } from './model/mailbox.ts';
import type { RecipeService } from './model/recipe.ts';
import { createChannel } from './notify/channels.ts';
import { createNotifier } from './notify/notifier.ts';
import { openRecipes } from './recipes/open.ts';
import { Duties, endForgotten, fleetOf } from './reload/duties.ts';
import { type ConfigSource, Reloader } from './reload/reloader.ts';
import { SecretRotation } from './reload/secret-rotation.ts';
import type { MetricsSettings } from './serve/fleet-series.ts';
import { type HandsServer, startHands } from './serve/hands.ts';
import { createMetrics } from './serve/metrics.ts';
import { callersOf } from './serve/recipes/callers.ts';
import { createRecipeRoutes } from './serve/recipes/recipe-routes.ts';
import { fleetAnswer, type PictureParts } from './serve/routes.ts';
import { startServer } from './serve/server.ts';
import { Store } from './store/store.ts';
import { version } from './version.ts';
import { createHands } from './watch/hands.ts';
import { Turns } from './watch/turns.ts';
import { systemClock, type World } from './world.ts';

export interface Daemon {
  /** Where the page and the metrics are; without a slash at the end. */
  readonly url: string;
  readonly fleet: Fleet;
  /** Takes the configuration anew. What is refused changes nothing. */
  reload(request: ReloadRequest): Promise<HandOutcome>;
  /** Ends everything, last started first. What was begun is in the store. */
  stop(): Promise<void>;
}

interface Teardown {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** A part that does not end within this is left behind, with a line in the log. Real time: sockets are slow in it. */
const stopDeadlineMs = 12_000;

/** Starts the daemon. Rejects with one sentence when the store or the address can't be had; nothing is left running then. */
export async function startDaemon(source: ConfigSource, world: World): Promise<Daemon> {
  const teardowns: Teardown[] = [];
  const stop = () => takeDown(teardowns, world);
  const { config } = source.started;
  const live = new LiveConfig(config);
  try {
    const store = await Store.open(config.store.path, world.clock.now());
    teardowns.push({ name: 'store', stop: () => store.close() });
    const left = await store.loadPicture();
    await endForgotten(store, left, { accounts: config.accounts, now: world.clock.now() });
    const fleet = fleetOf(left, config.accounts);
    const metrics = createMetrics({
      fleet,
      version,
      world,
      settings: metricsSettings(live, fleet, world),
    });
    let reloader: Reloader | null = null;
    const reload = async (request: ReloadRequest): Promise<HandOutcome> =>
      reloader?.reload(request) ?? { done: false, said: ['The daemon is starting: ask again in a moment.'] };
    let hands: DaemonHands | null = null;
    const ready = () => {
      const unwritable = fleet.alert(fingerprintOf(storeSubject)) !== undefined;
      const reasons = [
        ...(reloader ? [] : ['the first sweep has not begun']),
        ...(unwritable ? ['the store can not be written'] : []),
      ];
      return { ready: reasons.length === 0, reasons };
    };
    const nearLimitPpmOf = (mailbox: MailboxState) => live.policyOf(mailbox).nearLimitPpm;
    const recipes = await openRecipes({
      world,
      store,
      fleet,
      nearLimitPpmOf,
      storePath: config.store.path,
      folder: () => live.config.recipes.directory,
      retentionMs: () => live.config.retention.runsMs,
      hands: () => hands,
    });
    teardowns.push({ name: 'recipes', stop: () => recipes.stop() });
    const server = await startServer({
      host: config.server.host,
      port: config.server.port,
      auth: () => live.config.server.auth,
      fleet,
      metrics,
      world,
      ready,
      decisions: (account, id, limit) => store.decisionsOf(account, id, limit),
      deliveries: (limit) => store.recentDeliveries(limit),
      explain: explainVerdict,
      nearLimitPpmOf,
      reload,
      hands: () => hands,
      recipes: { service: recipes.book, world, callerOf: callersOf(() => live.config.recipes.apiKeys) },
      version,
    });
    teardowns.push({ name: 'server', stop: () => server.close() });
    const pageUrl = config.server.publicUrl ?? server.url;
    const { tally } = metrics;
    const channelOf = (one: ChannelConfig) => createChannel(one, { world, pageUrl });
    const channels = config.alerts.channels.map(channelOf);
    const notifier = createNotifier({
      world,
      store,
      fleet,
      tally,
      channels,
      settings: config.alerts,
      pageUrl,
    });
    notifier.start();
    teardowns.push({ name: 'notifier', stop: () => notifier.stop() });
    const turns = new Turns();
    const rooms = { world, store, fleet, tally, turns, onTransitions: () => notifier.wake() };
    const duties = new Duties(live, rooms, pageUrl);
    for (const account of config.accounts) duties.begin(account);
    teardowns.push({ name: 'accounts', stop: () => duties.stop() });
    const resend: DaemonHands['resend'] = (request) => notifier.resend(request);
    hands = { ...createHands(duties.watches, rooms), reload, resend };
    const picture = { fleet, world, ready, explain: explainVerdict, nearLimitPpmOf };
    const handsServer = await openHands(config.store.path, hands, picture, recipes.book);
    if (handsServer) teardowns.push({ name: 'hands', stop: () => handsServer.close() });
    const rotation = new SecretRotation({ world, files: () => reloader?.secretFiles ?? [], reload });
    reloader = new Reloader({
      source,
      live,
      duties,
      notifier,
      channels,
      channelOf,
      rooms,
      taken: () => {
        metrics.configured(metricsSettings(live, fleet, world));
        rotation.follow();
      },
      refused: () => metrics.configRefused(),
    });
    await reloader.begin();
    rotation.start();
    teardowns.push({ name: 'secrets', stop: () => rotation.stop() });
    teardowns.push({ name: 'reloads', stop: () => reloader?.stop() ?? Promise.resolve() });
    return { url: server.url, fleet, reload, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function metricsSettings(live: LiveConfig, fleet: Fleet, { clock }: World): MetricsSettings {
  return {
    nearLimitPpmOf: (mailbox) => live.policyOf(mailbox).nearLimitPpm,
    ...live.config.metrics,
    enforcing: (name) =>
      policyOf(live.account(name)?.guard ?? {}).enforce && fleet.writesAllowed(name, null, clock.now()),
  };
}

/** A daemon without hands still guards: the reason is said, and the rest goes on. */
async function openHands(
  storePath: string,
  hands: DaemonHands,
  picture: PictureParts,
  service: RecipeService,
): Promise<HandsServer | null> {
  const { world } = picture;
  // Who reaches the socket is the owner of the process, and may do what the process may.
  const owner = { name: userInfo().username, role: 'operator' as const, plan: null };
  const questions = {
    fleet: (query: Readonly<Record<string, string>>) => fleetAnswer(picture, query),
    recipes: createRecipeRoutes({ service, world, callerOf: () => owner }).fetch,
  };
  try {
    return await startHands(storePath, hands, questions);
  } catch (error) {
    world.log.warn(error instanceof Error ? error.message : String(error));
    return null;
  }
}

async function takeDown(teardowns: Teardown[], world: World): Promise<void> {
  for (let part = teardowns.pop(); part; part = teardowns.pop()) {
    const waiting = new AbortController();
    const late = systemClock()
      .sleep(stopDeadlineMs, waiting.signal)
      .then(() => 'late');
    const ended = part.stop().then(
      () => 'ended',
      (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    const outcome = await Promise.race([ended, late]);
    waiting.abort();
    if (outcome !== 'ended') world.log.warn({ part: part.name, outcome }, 'a part did not stop as it should');
  }
}
