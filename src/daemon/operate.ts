// Lets people operate the daemon: commands, their socket, and reloads.
import { errorText } from '../core/nearest.ts';
import type { Operate, ReloadRequest } from '../core/operator-command.ts';
import { pathOf } from '../core/store-failure.ts';
import { writesAreOff } from '../core/write-scope.ts';
import { auditing, endInterrupted } from '../operations/audit.ts';
import { operating } from '../operations/command-requests.ts';
import { createOperatorCommands, writesRooms } from '../operations/commands.ts';
import { type CommandSocket, startCommandSocket } from '../operations/socket.ts';
import { watchWrites } from '../operations/writes.ts';
import { startLoops, type Teardowns } from '../world/loop.ts';
import { version } from '../world/program.ts';
import type { Guarded } from './guard.ts';
import type { DaemonRooms } from './open.ts';
import type { Startup } from './readiness.ts';
import { type ConfigSource, Reloader, SecretRotation } from './reload/reloader.ts';
import type { Served } from './serve.ts';

interface OperateParts {
  readonly opened: DaemonRooms;
  readonly served: Served;
  readonly guarded: Guarded;
  readonly startup: Startup;
  readonly crash: (why: string, error: unknown) => void;
}

/** Resolves when the start is complete. First ends the commands that an earlier process began and did not end. */
export async function operate(source: ConfigSource, parts: OperateParts, teardowns: Teardowns): Promise<Reloader> {
  const { opened, served, guarded, startup } = parts;
  const { world, live, metrics, metricsSettings } = opened;
  const rotation = new SecretRotation(world);
  const reloader = new Reloader({
    ...guarded,
    source,
    live,
    accepted: ({ config, secretFiles }) => {
      served.renew(config.server.tls);
      metrics.configured(metricsSettings());
      rotation.follow(secretFiles);
    },
    refused: () => metrics.configRefused(),
    crash: parts.crash,
  });
  const reload = (request: ReloadRequest) => reloader.reload(request);
  const answerCommands = await startCommands(parts, reload, teardowns);
  // The configuration of the start is in force, so an alert about one that an earlier process refused ends.
  await guarded.alerts.show([]);
  const socket = await openSocket(pathOf(source.started.config.store), parts);
  if (socket) teardowns.add('operator commands', () => socket.close());
  rotation.follow(source.started.secretFiles);
  startLoops([rotation.loop(opened.loops, reload)], teardowns);
  teardowns.add('reloads', () => reloader.stop());
  // Readiness comes last: a program that sees it may send a signal.
  startup.operate = answerCommands;
  return reloader;
}

async function startCommands(
  { opened, guarded }: OperateParts,
  reload: Reloader['reload'],
  teardowns: Teardowns,
): Promise<Operate> {
  const { duties, notifying, rooms: guarding } = guarded;
  const { live, loops } = opened;
  const rooms = { ...guarding, rules: () => live.config.alerts.rules };
  await endInterrupted(rooms);
  const ofWrites = writesRooms(duties.watchOf, rooms);
  startLoops([loops.create('checking the write stop', () => watchWrites(ofWrites))], teardowns);
  const commands = createOperatorCommands(duties.watchOf, rooms, { undelivered: notifying.undelivered, reload });
  return operating(commands, auditing(rooms));
}

/** Gives the command `connect` a slot of the rate limit for one request, unless the write stop is on. */
async function connectSlot(account: string, { duties, rooms: { fleet, world } }: Guarded): Promise<Response> {
  const refused = (message: string) => Response.json({ message }, { status: 409 });
  const watch = duties.watchOf(account);
  if (!watch) return refused(`This daemon does not guard the account ${account}.`);
  const off = fleet.writesOffOver(account, '', world.clock.now());
  if (off) return refused(writesAreOff(off));
  const granted = await watch.connectSlot();
  return granted ? Response.json({ granted }) : refused(`The loop of the account ${account} has ended.`);
}

/** Serves what the address serves, and two more answers. A daemon without the socket still guards: the log says why. */
async function openSocket(
  storePath: string,
  { opened: { world }, served, guarded }: OperateParts,
): Promise<CommandSocket | null> {
  try {
    return await startCommandSocket(storePath, (request, env) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/api/version') return Response.json({ version });
      if (pathname === '/api/slot') return connectSlot(searchParams.get('account') ?? '', guarded);
      return served.answer(request, env);
    });
  } catch (error) {
    world.log.warn(errorText(error));
    return null;
  }
}
