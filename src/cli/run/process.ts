// Signals, the end of npx, and the start after a crash: how the process of a daemon ends and begins again.

import { readFileSync } from 'node:fs';
import { env, execArgv, execPath, execve, pid } from 'node:process';
import type { Daemon } from '../../daemon/daemon.ts';
import { systemClock } from '../../world/world.ts';
import { exitFailed } from '../errors.ts';

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

const lookEveryMs = 1_000;
/** npm, its shell, and the older Node.js that started this one. */
const farthest = 3;

/** Calls back once when the process that started this one for npx, `npm start` or an older Node.js is gone. The result stops looking. */
export function afterParent(then: () => void): () => void {
  const ended = new AbortController();
  if (started !== null) void look(then, ended.signal);
  return () => ended.abort();
}

async function look(then: () => void, ended: AbortSignal): Promise<void> {
  const clock = systemClock();
  for (;;) {
    await clock.sleep(lookEveryMs, ended);
    if (ended.aborted) return;
    if (lineage() !== started) return then();
  }
}

/**
 * The lineage at the start of the program, before it announces anything: whoever ends npx then may do so before the first look. null if
 * no npx, `npm start` or older Node.js started the process.
 */
const started = startedByNpm() ? lineage() : null;

function startedByNpm(): boolean {
  const { npm_lifecycle_event: event = '', WARMWARDEN_STOPS_WITH_PARENT: stops } = process.env;
  return ['npx', 'start'].includes(event) || stops !== undefined;
}

/** The parent and those above it, up to npm; only the parent where the system does not say who they are. */
function lineage(): string {
  const pids = [process.ppid];
  for (const pid of pids) {
    const { title, parent } = processOf(pid);
    if (/^np[mx] /.test(title)) return pids.join();
    if (parent === undefined || pids.length === farthest) break;
    pids.push(parent);
  }
  return String(process.ppid);
}

function processOf(pid: number): { title: string; parent?: number } {
  try {
    const [, parent] = /.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { title: readFileSync(`/proc/${pid}/cmdline`, 'utf8'), parent: Number(parent) };
  } catch {
    return { title: '' };
  }
}
