// `warmwarden run`: the daemon, until a signal ends it.
import { Command } from 'commander';
import { KnownSecrets } from '../config/hiding.ts';
import { loadConfigInTurns } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { type Daemon, startDaemon } from '../daemon/daemon.ts';
import { exitFailed } from '../terminal/exit-codes.ts';
import { goOnWithoutOutputs } from '../terminal/outputs.ts';
import { systemClock, type World, worldOn } from '../world.ts';
import { HeapRoom } from './heap.ts';
import { loadConfigured } from './loading.ts';
import { configOption } from './options.ts';

export function runCommand(): Command {
  return new Command('run')
    .description('guard the configured mailboxes until SIGTERM or SIGINT; a second signal stops it at once')
    .addOption(configOption('the configuration file'))
    .action(({ config }: { config: string }) => run(config));
}

/** Resolves when the daemon is up. Rejects with one sentence when it does not come up. */
async function run(file: string): Promise<void> {
  const reloadAsked = keepReloads();
  const heap = new HeapRoom();
  const loaded = loadConfigured(file);
  goOnWithoutOutputs();
  const { config } = loaded;
  const secrets = new KnownSecrets();
  secrets.learn(loaded.settings);
  const hiding = worldOn(systemClock(), config.log, (line) => secrets.hide(line));
  const world: World = { ...hiding, secrets: () => secrets.secrets };
  for (const warning of loaded.warnings) world.log.warn({ file }, formatProblem(file, warning));
  const load = async () => {
    const again = await loadConfigInTurns(file, process.env);
    if (again.ok) secrets.learn(again.settings);
    return again;
  };
  const daemon = await startDaemon({ file, started: loaded, load }, world);
  void heap.follow(world.clock);
  const mailboxes = daemon.fleet.mailboxCount();
  world.log.info({ url: daemon.url, accounts: config.accounts.length, mailboxes, pid: process.pid }, 'on duty');
  heedSignals(daemon, (text) => world.log.info(text));
  if (reloadAsked()) void daemon.reload(bySignal);
}

const bySignal = { by: 'SIGHUP', force: false, dryRun: false } as const;

/** Requests for `work` that come while it is in progress lead to one more run, however many come. `work` never rejects. */
export function oneWaiting(work: () => Promise<unknown>): () => void {
  let [goesOn, again] = [false, false];
  const begin = async () => {
    goesOn = true;
    do {
      again = false;
      await work();
    } while (again);
    goesOn = false;
  };
  return () => {
    if (goesOn) again = true;
    else void begin();
  };
}

/** From now on, SIGHUP does not end the starting process. The result stops listening, and says whether a SIGHUP came. */
function keepReloads(): () => boolean {
  let asked = false;
  const ask = () => {
    asked = true;
  };
  process.on('SIGHUP', ask);
  return () => {
    process.off('SIGHUP', ask);
    return asked;
  };
}

/** The first SIGTERM or SIGINT stops gracefully, a second one at once. SIGHUP reloads. */
export function heedSignals(daemon: Pick<Daemon, 'reload' | 'stop'>, say: (text: string) => void): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(exitFailed);
    stopping = true;
    say(`${signal}: stopping; a second signal stops at once`);
    void daemon.stop().then(() => {
      say('stopped');
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on(
    'SIGHUP',
    oneWaiting(() => daemon.reload(bySignal)),
  );
}
