// Lets people operate the daemon: the operator commands, the socket that takes them, and reloads of the configuration.
import { configDigest } from '../config/secrets.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { errorText } from '../core/nearest.ts';
import type { DaemonCommands, ReloadRequest } from '../core/operator-command.ts';
import { pathOf } from '../core/store-failure.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import { Answering } from '../operations/answering.ts';
import { Asking } from '../operations/asking.ts';
import { auditing, endInterrupted, News } from '../operations/audit.ts';
import { createOperatorCommands, judgingAgain, resendCommand, writesRooms } from '../operations/commands.ts';
import { commandsEverywhere } from '../operations/everywhere.ts';
import { reloadCommand } from '../operations/reload.ts';
import { SharedState } from '../operations/shared-state.ts';
import { type CommandSocket, startCommandSocket } from '../operations/socket.ts';
import { userName } from '../operations/user-name.ts';
import { watchWrites } from '../operations/writes.ts';
import type { LeftBy } from '../store/moves.ts';
import { accountScope, type Membership } from '../store/replicas/membership.ts';
import { jsonAnswer } from '../web/json/json-routes.ts';
import { createRecipeRoutes } from '../web/recipes/recipe-routes.ts';
import { startLoops, type Teardowns } from '../world/loop.ts';
import { version } from '../world/version.ts';
import type { Clock } from '../world/world.ts';
import { scopesOf } from './following.ts';
import type { Guarded } from './guard.ts';
import type { Opened } from './open.ts';
import { type ConfigSource, Reloader } from './reload/reloader.ts';
import { ReplicaWatch } from './reload/replica-watch.ts';
import { SecretRotation } from './reload/secret-rotation.ts';
import type { Served } from './serve.ts';
import type { Startup } from './startup.ts';

// Whose work is to be ended because they died: their commands in the audit log, and their runs of recipes.

/** Whoever joined so long ago is seen by all. */
const knownAfterMs = minuteMs;

/** What was left by all but the living; null: that is not this replica's to end. */
function leftBehind(membership: Membership, clock: Clock): LeftBy | null {
  const living = membership.replicas().map(({ id }) => id);
  // Who does not see itself sees nobody yet.
  if (!membership.holds('clock') || membership.self === null || !living.includes(membership.self)) return null;
  return { living, before: clock.now() - knownAfterMs };
}

interface OperateParts {
  readonly opened: Opened;
  readonly served: Served;
  readonly guarded: Guarded;
  readonly startup: Startup;
}

/** Resolves when the start is over. Commands that an earlier process began and did not end are ended first. */
export async function operate(source: ConfigSource, parts: OperateParts, teardowns: Teardowns): Promise<Reloader> {
  const { opened, served, guarded, startup } = parts;
  const { world, live, metrics, metricsSettings } = opened;
  const rotation = new SecretRotation(world);
  const { membership } = opened.store;
  const report = (reloadFailure: string | null) =>
    membership.report({ configDigest: configDigest(live.config), reloadFailure });
  report(null);
  const reloader = new Reloader({
    ...guarded,
    source,
    live,
    taken: ({ config, secretFiles }) => {
      served.renew(config.server.tls);
      metrics.configured(metricsSettings());
      rotation.follow(secretFiles);
      report(null);
    },
    refused: (problems) => {
      metrics.configRefused();
      report(problems[0] ?? null);
    },
    alertsItself: membership.self === null,
  });
  const reload = (request: ReloadRequest) => reloader.reload(request);
  const commands = await startCommands(parts, reload, teardowns);
  const socket = await openSocket(pathOf(source.started.config.store), commands, parts);
  if (socket) teardowns.add('operator commands', () => socket.close());
  rotation.start(reloader.secretFiles, reload);
  teardowns.add('secrets', () => rotation.stop());
  teardowns.add('reloads', () => reloader.stop());
  await reloader.begin();
  // Last: whoever reads that it is ready may send it a signal.
  startup.finish(commands);
  return reloader;
}

async function startCommands(
  { opened, served, guarded }: OperateParts,
  reload: DaemonCommands['reload'],
  teardowns: Teardowns,
): Promise<DaemonCommands> {
  const { duties, notifying } = guarded;
  const { live, store, world, fleet, loops } = opened;
  const { membership, requests } = store;
  const guards = (account: string) => membership.self === null || membership.holds(accountScope(account));
  const rules = () => live.config.alerts.rules;
  const rooms = { ...guarded.rooms, rules, guards, pageUrl: served.pageUrl };
  // Of several replicas, the others carry out theirs.
  if (membership.self === null) await endInterrupted(rooms, null);
  const [ofWrites, isMine] = [writesRooms(duties.watches, rooms), () => membership.holds('notify')];
  startLoops([loops.create('checking the emergency stop', () => watchWrites(ofWrites, isMine))], teardowns);
  const audited = auditing(rooms);
  const local = {
    ...createOperatorCommands(duties.watches, rooms),
    reload: reloadCommand(reload, audited),
    channelsResend: resendCommand(notifying.undelivered, audited),
  };
  if (membership.self === null) return local;
  const replicaWatch = new ReplicaWatch({ membership, rules, rooms });
  const endLeft = async () => {
    const left = leftBehind(membership, world.clock);
    if (left === null) return;
    await endInterrupted(rooms, left);
    await opened.endRuns(left);
  };
  const passing = { world, membership, requests, news: new News() };
  const answering = new Answering({ ...passing, scopes: () => scopesOf(live), commands: local, loops });
  answering.start();
  teardowns.add('commands of other replicas', () => answering.stop());
  const shared = new SharedState({
    ...rooms,
    judgeAgain: judgingAgain(duties.watches, world.log),
    isOwn: notifying.isOwn,
  });
  const looking = [
    loops.every(2 * secondMs, 'watching the replicas', () => replicaWatch.look()),
    loops.every(30 * secondMs, 'ending what dead replicas left behind', endLeft),
    loops.every(secondMs, 'reading what people changed on other replicas', () => shared.look()),
  ];
  startLoops(looking, teardowns);
  const learn = (name: string) =>
    rooms.turns.take(async () => {
      const isForeign = ({ account }: MailboxState) => live.account(account) !== undefined && !guards(account);
      for (const mailbox of (await store.mailboxesCalled(name)).filter(isForeign)) fleet.putMailbox(mailbox);
    });
  return commandsEverywhere({ local, fleet, membership, asking: new Asking(passing), learn });
}

/** A daemon without its command socket still guards: the log says why there is none. */
async function openSocket(
  storePath: string,
  commands: DaemonCommands,
  { opened, served }: OperateParts,
): Promise<CommandSocket | null> {
  const { world, recipes } = opened;
  // Who reaches the socket is the owner of the process, and may do what the process may.
  const owner = { name: userName(), role: 'operator' as const, plan: null };
  const questions = {
    json: async (name: string, query: URLSearchParams) =>
      name === 'version' ? { status: 200, body: { version } } : jsonAnswer(name, query, served.answers),
    recipes: createRecipeRoutes({ service: recipes, world, callerOf: () => owner }, null).fetch,
  };
  try {
    return await startCommandSocket(storePath, commands, questions);
  } catch (error) {
    world.log.warn(errorText(error));
    return null;
  }
}
