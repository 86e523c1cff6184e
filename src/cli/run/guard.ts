// The daemon in this process, until a signal ends it.
import { KnownSecrets } from '../../config/hiding.ts';
import { loadConfig } from '../../config/load.ts';
import { pathOf } from '../../core/store-failure.ts';
import { startDaemon } from '../../daemon/daemon.ts';
import { livingHolder } from '../../store/file/lock.ts';
import { mustBeFree } from '../../web/server.ts';
import { formatProblem } from '../../world/schema/problem.ts';
import { systemClock, type World, worldOn } from '../../world/world.ts';
import { loadConfigured } from '../configuration.ts';
import { goOnWithoutOutputs } from '../terminal.ts';
import { bySignal, endOnSignal, endOrRestart, handleSignals, waitForStart } from './process.ts';

/**
 * Resolves when the daemon is up. Rejects with one sentence if it does not come up. `reloadAsked`: the result of
 * keepReloads.
 */
export async function guard(file: string, reloadAsked: () => boolean): Promise<void> {
  const endEarly = endOnSignal();
  await waitForStart();
  const loaded = loadConfigured(file);
  goOnWithoutOutputs();
  const { config } = loaded;
  // Before the store: a second start by mistake leaves nothing behind.
  await mustBeFree(config.server).catch((error: unknown) => {
    // The store names the daemon that holds it, and says since when.
    if (livingHolder(pathOf(config.store)) === null) throw error;
  });
  const secrets = new KnownSecrets();
  secrets.learn(loaded.secrets);
  const hiding = worldOn(systemClock(), config.log, (line) => secrets.hide(line));
  const world: World = { ...hiding, secrets: () => secrets.secrets };
  for (const warning of loaded.warnings) world.log.warn({ file }, formatProblem(file, warning));
  const load = async () => {
    const again = await loadConfig(file, process.env);
    if (again.ok) secrets.learn(again.secrets);
    return again;
  };
  const daemon = await startDaemon({ file, started: loaded, load }, world, { end: endOrRestart });
  process.on('uncaughtException', (error) => daemon.crash('an error that no part expected', error));
  const mailboxes = daemon.fleet.mailboxCount();
  world.log.info({ url: daemon.url, accounts: config.accounts.length, mailboxes, pid: process.pid }, 'on duty');
  endEarly();
  handleSignals(daemon, (text) => world.log.info(text));
  if (reloadAsked()) void daemon.reload(bySignal);
}
