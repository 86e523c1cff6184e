// Signals, the end of npx, and the start after a crash: how the process of a daemon ends and begins again.

import { env, execArgv, execPath, execve, pid } from 'node:process';
import type { Daemon } from '../../daemon/daemon.ts';
import { systemClock } from '../../world/world.ts';
import { exitFailed } from '../errors.ts';

export const bySignal = { by: 'SIGHUP', force: false } as const;

/** Keeps SIGHUP from ending the process while it starts. The result stops listening, and is true if a SIGHUP came. */
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

/**
 * Exits at once on a signal while the process starts or is a standby, when it has nothing to shut down. Without this,
 * init ignores SIGTERM. The result stops listening.
 */
export function endOnSignal(): () => void {
  const end = () => process.exit(0);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  return () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, end);
  };
}

/**
 * Time within which a second SIGINT is npm's copy of a Ctrl-C that the terminal sent to both: the two count as one
 * signal.
 */
const echoMs = 500;

/**
 * Stops gracefully at the first SIGTERM or SIGINT or at the end of npx, and at once at the second signal. SIGHUP
 * reloads.
 */
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

/** Earliest start of this process, in epoch milliseconds, set by the process that crashed. */
const startAtVariable = 'WARMWARDEN_START_AT';
const everyMs = 60_000;

/** True if a process that crashed started this one: a failed start is then retried as well. */
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

/** Ends this process, or restarts it at most once a minute. */
export function endOrRestart(): void {
  if (isSupervised() || !execve) process.exit(exitFailed);
  const startAt = Math.max(systemClock().now(), Number(env[startAtVariable] ?? 0) + everyMs);
  const next = { ...env, [startAtVariable]: String(startAt) };
  execve(execPath, [execPath, ...execArgv, ...process.argv.slice(1)], next);
}

/** True under systemd or Kubernetes, which restart a process that ended with an error. */
function isSupervised(): boolean {
  return env['SYSTEMD_EXEC_PID'] === String(pid) || env['KUBERNETES_SERVICE_HOST'] !== undefined;
}

const lookEveryMs = 1_000;

/** Calls back once when the shell of npx or `npm start`, or the older Node.js, that started this process is gone. The result stops watching. */
export function afterParent(then: () => void): () => void {
  const ended = new AbortController();
  if (isForNpm()) void look(then, ended.signal);
  return () => ended.abort();
}

async function look(then: () => void, ended: AbortSignal): Promise<void> {
  const clock = systemClock();
  for (;;) {
    await clock.sleep(lookEveryMs, ended);
    if (ended.aborted) return;
    if (process.ppid !== parent) return then();
  }
}

/** Parent at the start of the program, read before the program announces anything: a user may then end npx at once. */
const parent = process.ppid;

function isForNpm(): boolean {
  const { npm_lifecycle_event: event = '', WARMWARDEN_STOPS_WITH_PARENT: stops } = process.env;
  return ['npx', 'start'].includes(event) || stops !== undefined;
}
