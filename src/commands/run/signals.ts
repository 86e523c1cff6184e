// What signals do to a running daemon: the first SIGTERM or SIGINT stops it, SIGHUP reloads its configuration.
import type { Daemon } from '../../daemon/daemon.ts';
import { exitFailed } from '../../terminal/exit-codes.ts';

export const bySignal = { by: 'SIGHUP', force: false, dryRun: false } as const;

/** From now on, SIGHUP does not end the starting process. The result stops listening, and says whether a SIGHUP came. */
export function keepReloads(): () => boolean {
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
export function handleSignals(daemon: Pick<Daemon, 'reload' | 'stop'>, say: (text: string) => void): void {
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
  process.on('SIGHUP', () => void daemon.reload(bySignal));
}
