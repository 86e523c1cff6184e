// What signals do to a running daemon: the first SIGTERM or SIGINT stops it, SIGHUP reloads its configuration.
import type { Daemon } from '../../daemon/daemon.ts';
import { systemClock } from '../../world/world.ts';
import { exitFailed } from '../errors.ts';
import { afterParent } from './parent.ts';

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

/** A process that starts, or stands by, has nothing to end in order. The result stops listening. Without it, init ignores SIGTERM. */
export function endOnSignal(): () => void {
  const end = () => process.exit(0);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  return () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, end);
  };
}

/** npm passes on the Ctrl-C that the terminal sent to both: it comes twice, and is one signal. */
const echoMs = 500;

/** The first SIGTERM or SIGINT stops gracefully, as does the end of npx; a second one at once. SIGHUP reloads. */
export function handleSignals(daemon: Pick<Daemon, 'reload' | 'stop'>, say: (text: string) => void): void {
  const clock = systemClock();
  let stoppedAt: number | undefined;
  const stop = (cause: string) => {
    if (stoppedAt !== undefined) {
      if (process.env['npm_lifecycle_event'] && clock.monotonic() - stoppedAt < echoMs) return;
      process.exit(exitFailed);
    }
    stoppedAt = clock.monotonic();
    say(`${cause}: stopping; a second signal stops at once`);
    void daemon.stop().then(() => {
      say('stopped');
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void daemon.reload(bySignal));
  afterParent(() => stop('npx ended'));
}
