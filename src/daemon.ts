// The composition root: makes the rooms, introduces them to one another, and takes them down in reverse order.
import type { ChannelConfig, Config } from './config/config.ts';
import { LiveConfig } from './config/live.ts';
import { policyOf } from './config/mailbox-rules.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { MetricsSettings } from './metrics/fleet-series.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { MailboxState } from './model/mailbox.ts';
import type { CommandOutcome, DaemonCommands, ReloadRequest } from './model/operator-command.ts';
import type { RecipeService } from './model/recipe.ts';
import { createChannel } from './notify/channels.ts';
import { createNotifier, type Notifier } from './notify/notifier.ts';
import { auditing, endInterrupted } from './operator/audit.ts';
import type { CommandRooms } from './operator/command-rooms.ts';
import { createOperatorCommands, writesRooms } from './operator/commands.ts';
import { failed } from './operator/plan.ts';
import { reloadCommand } from './operator/reload.ts';
import { resendCommand } from './operator/resend.ts';
import { type CommandSocket, startCommandSocket } from './operator/socket.ts';
import { userName } from './operator/user-name.ts';
import { WritesWatch } from './operator/writes-watch.ts';
import { openRecipes } from './recipes/open.ts';
import type { RecorderRooms } from './record/guarded-account.ts';
import { Turns } from './record/turns.ts';
import { Duties, endForgotten, fleetOf } from './reload/duties.ts';
import { type ConfigSource, Reloader } from './reload/reloader.ts';
import { SecretRotation } from './reload/secret-rotation.ts';
import { Supervisor } from './reload/supervisor.ts';
import { callersOf } from './serve/recipes/callers.ts';
import { createRecipeRoutes } from './serve/recipes/recipe-routes.ts';
import { type AnswerParts, jsonAnswer, type Readiness } from './serve/routes.ts';
import { startServer } from './serve/server.ts';
import { Store } from './store/store.ts';
import { Teardowns } from './teardowns.ts';
import { version } from './version.ts';
import { explainVerdict } from './wording/explain.ts';
import { momentText } from './wording/phrases.ts';
import type { World } from './world.ts';

export interface Daemon {
  /** Where the page and the metrics are; without a slash at the end. */
  readonly url: string;
  readonly fleet: Fleet;
  /** Takes the configuration anew. What is refused changes nothing. */
  reload(request: ReloadRequest): Promise<CommandOutcome>;
  /** Ends everything, last started first. What was begun is in the store. */
  stop(): Promise<void>;
}

/** Starts the daemon. Rejects with one sentence when the store or the address can't be had; nothing is left running then. */
export async function startDaemon(source: ConfigSource, world: World, openStore = Store.open): Promise<Daemon> {
  const teardowns = new Teardowns(world.log);
  try {
    return await wire({ source, openStore }, world, teardowns);
  } catch (error) {
    await teardowns.takeDown();
    throw error;
  }
}

/** What is made late, and asked for by what is made before it. */
interface Later {
  reloader: Reloader | null;
  commands: DaemonCommands | null;
}

interface Origins {
  readonly source: ConfigSource;
  readonly openStore: typeof Store.open;
}

async function wire({ source, openStore }: Origins, world: World, teardowns: Teardowns): Promise<Daemon> {
  const { config } = source.started;
  const live = new LiveConfig(config);
  const later: Later = { reloader: null, commands: null };
  const reload = async (request: ReloadRequest): Promise<CommandOutcome> =>
    later.reloader?.reload(request) ?? failed('The daemon is starting. Try again in a moment.');
  const store = await openStore(config.store.path, world.clock.now());
  teardowns.add('store', () => store.close());
  for (const warning of store.warnings) world.log.warn(warning);
  const fleet = await loadFleet(store, config, world);
  const metrics = createMetrics({ fleet, version, world, settings: metricsSettings(live, fleet, world) });
  const nearLimitPpmOf = (mailbox: MailboxState) => live.policyOf(mailbox).nearLimitPpm;
  const ready = () => readinessOf(fleet, later.reloader !== null);
  const picture = { fleet, world, ready, explain: explainVerdict, nearLimitPpmOf, history: store };
  const recipes = await openRecipes({
    ...picture,
    store,
    storePath: config.store.path,
    folder: () => live.config.recipes.directory,
    retentionMs: () => live.config.retention.runsMs,
    commands: () => later.commands,
  });
  teardowns.add('recipes', () => recipes.stop());
  const server = await startServer({
    ...picture,
    host: config.server.host,
    port: config.server.port,
    auth: () => live.config.server.auth,
    metrics,
    decisions: (account, id, limit) => store.decisionsOf(account, id, limit),
    deliveries: (limit) => store.recentDeliveries(limit),
    reload: async (request) => later.commands?.reload(request) ?? reload(request),
    commands: () => later.commands,
    recipes: { service: recipes.runner, world, callerOf: callersOf(() => live.config.recipes.apiKeys) },
    version,
  });
  teardowns.add('server', () => server.close());
  const { tally } = metrics;
  const pageUrl = config.server.publicUrl ?? server.url;
  const channelOf = (one: ChannelConfig) => createChannel(one, { world, pageUrl });
  const channels = config.alerts.channels.map(channelOf);
  const notifier = createNotifier({ world, store, fleet, tally, channels, settings: config.alerts, pageUrl });
  notifier.start();
  teardowns.add('notifier', () => notifier.stop());
  const rooms = { world, store, fleet, tally, turns: new Turns(world.clock), onTransitions: () => notifier.wake() };
  const duties = await guardAccounts(live, rooms, pageUrl, teardowns);
  const operating = { ...rooms, rules: () => live.config.alerts.rules, pageUrl };
  const commands = await takeCommands(operating, { duties, notifier, reload }, teardowns);
  later.commands = commands;
  const commandSocket = await openCommandSocket(config.store.path, commands, picture, recipes.runner);
  if (commandSocket) teardowns.add('operator commands', () => commandSocket.close());
  const rotation = new SecretRotation({ world, files: () => later.reloader?.secretFiles ?? [], reload });
  const taken = () => {
    metrics.configured(metricsSettings(live, fleet, world));
    rotation.follow();
  };
  const refused = () => metrics.configRefused();
  const reloader = new Reloader({ source, live, duties, notifier, channels, channelOf, rooms, taken, refused });
  later.reloader = reloader;
  await reloader.begin();
  rotation.start();
  teardowns.add('secrets', () => rotation.stop());
  teardowns.add('reloads', () => reloader.stop());
  return { url: server.url, fleet, reload, stop: () => teardowns.takeDown() };
}

/** Begins every configured account, and sees to it that each goes on. */
async function guardAccounts(
  live: LiveConfig,
  rooms: RecorderRooms,
  pageUrl: string,
  teardowns: Teardowns,
): Promise<Duties> {
  const duties = new Duties(live, rooms, pageUrl);
  teardowns.add('accounts', () => duties.stop());
  await duties.withdrawUnguarded().catch((error: unknown) => {
    rooms.world.log.error({ err: error }, 'the state of the circuit breaker could not be recorded');
  });
  for (const account of live.config.accounts) duties.begin(account);
  const supervisor = new Supervisor({ live, duties, rooms });
  supervisor.start();
  teardowns.add('supervisor', () => supervisor.stop());
  return duties;
}

/** What people may do, from now on; what they began with the process before is ended. */
async function takeCommands(
  rooms: CommandRooms,
  { duties, notifier, reload }: { duties: Duties; notifier: Notifier; reload: DaemonCommands['reload'] },
  teardowns: Teardowns,
): Promise<DaemonCommands> {
  await endInterrupted(rooms);
  const writesWatch = new WritesWatch(writesRooms(duties.watches, rooms));
  writesWatch.start();
  teardowns.add('emergency stop', () => writesWatch.stop());
  const audited = auditing(rooms);
  return {
    ...createOperatorCommands(duties.watches, rooms),
    reload: reloadCommand(reload, audited),
    channelsResend: resendCommand(notifier.undelivered, audited),
  };
}

/** The picture as the last process left it; alerts of accounts that are no longer configured end. */
async function loadFleet(store: Store, { accounts }: Config, { clock }: World): Promise<Fleet> {
  const left = await store.loadPicture();
  await endForgotten(store, left, { accounts, now: clock.now() });
  return fleetOf(left, accounts);
}

function readinessOf(fleet: Fleet, begun: boolean): Readiness {
  const reasons = [
    ...(begun ? [] : ['the first sweep has not begun']),
    ...(fleet.storeFailure ? ['the store is failing'] : []),
    ...fleet.guarding().flatMap(({ account, unguarded }) => {
      if (unguarded === null) return [];
      return [`account ${account} is not guarded since ${momentText(unguarded.since)}: ${unguarded.why}`];
    }),
  ];
  return { ready: reasons.length === 0, reasons };
}

function metricsSettings(live: LiveConfig, fleet: Fleet, { clock }: World): MetricsSettings {
  return {
    nearLimitPpmOf: (mailbox) => live.policyOf(mailbox).nearLimitPpm,
    ...live.config.metrics,
    enforcing: (name) =>
      policyOf(live.account(name)?.guard ?? {}).enforce && fleet.writesAllowed(name, null, clock.now()),
  };
}

/** A daemon without its command socket still guards: the reason is said, and the rest goes on. */
async function openCommandSocket(
  storePath: string,
  commands: DaemonCommands,
  picture: AnswerParts,
  service: RecipeService,
): Promise<CommandSocket | null> {
  const { world } = picture;
  // Who reaches the socket is the owner of the process, and may do what the process may.
  const owner = { name: userName(), role: 'operator' as const, plan: null };
  const questions = {
    json: (name: string, query: Readonly<Record<string, string>>) => jsonAnswer(name, query, picture),
    recipes: createRecipeRoutes({ service, world, callerOf: () => owner }, null).fetch,
  };
  try {
    return await startCommandSocket(storePath, commands, questions);
  } catch (error) {
    world.log.warn(error instanceof Error ? error.message : String(error));
    return null;
  }
}
