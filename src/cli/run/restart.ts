// Starts this program again after a crash, where nobody else does: the same process goes on with a new image of it.
import { env, execArgv, execPath, execve, pid } from 'node:process';
import { systemClock } from '../../world/world.ts';
import { exitFailed } from '../errors.ts';

/** When this process may start, epoch milliseconds: set by the process that crashed. */
const startAtVariable = 'WARMWARDEN_START_AT';
const everyMs = 60_000;

/** Whether this process was started by one that crashed: then a start that fails is tried again, too. */
export function isRestarted(): boolean {
  return env[startAtVariable] !== undefined;
}

/** Resolves when this process may start: at once, unless it crashed twice within a minute. */
export async function waitForStart(): Promise<void> {
  const clock = systemClock();
  const waitMs = Number(env[startAtVariable] ?? 0) - clock.now();
  if (waitMs <= 0) return;
  process.stderr.write(
    `warmwarden: ended twice within a minute, so it starts again in ${Math.ceil(waitMs / 1_000)} s\n`,
  );
  await clock.sleep(Math.min(waitMs, everyMs));
}

/** Ends this process, or starts it again, at most once a minute. */
export function endOrRestart(): void {
  if (isSupervised() || !execve) process.exit(exitFailed);
  const startAt = Math.max(systemClock().now(), Number(env[startAtVariable] ?? 0) + everyMs);
  const next = { ...env, [startAtVariable]: String(startAt) };
  execve(execPath, [execPath, ...execArgv, ...process.argv.slice(1)], next);
}

/** systemd and Kubernetes start again what ended with an error. */
function isSupervised(): boolean {
  return env['SYSTEMD_EXEC_PID'] === String(pid) || env['KUBERNETES_SERVICE_HOST'] !== undefined;
}
