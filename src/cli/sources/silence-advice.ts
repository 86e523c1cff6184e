// What a daemon that says nothing may be doing, and what to do: a process that is stopped, or works on a busy machine, need not be ended.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/** So many processes that want each CPU make a daemon answer late. */
const busyFrom = 2;

/** `holder`: as the store names it; null: not known. */
export function silenceAdvice(holder: string | null): string {
  const pid = /^process (\d+) /.exec(holder ?? '')?.[1];
  const facts = { load: loadavg()[0] ?? 0, cpus: availableParallelism() };
  return adviceOn(pid === undefined ? null : { pid, isStopped: isStopped(pid) }, facts);
}

interface SilentProcess {
  readonly pid: string;
  readonly isStopped: boolean;
}

/** `load`: of the last minute. */
export function adviceOn(
  process: SilentProcess | null,
  { load, cpus }: { readonly load: number; readonly cpus: number },
): string {
  if (process?.isStopped)
    return `Its process is suspended, so its mailboxes are not guarded. Let it continue: \`kill -CONT ${process.pid}\`.`;
  const end = process === null ? 'end it' : `end it with \`kill -KILL ${process.pid}\``;
  const ended = `its mailboxes may not be guarded: ${end} and start it again.`;
  return load >= busyFrom * cpus
    ? `This machine is very busy (load ${Math.round(load)}, CPUs: ${cpus}), so the daemon may be working but too slow to answer. Try again when the machine is less busy. If it does not answer then, ${ended}`
    : `It may be starting, or busy. Try again in a few minutes. If it does not answer then, ${ended}`;
}

/** By SIGSTOP or a debugger, as /proc shows it; false where there is none. */
function isStopped(pid: string): boolean {
  try {
    // Its name, in parentheses, may contain anything.
    return /^\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*(?=\) )/s, ''));
  } catch {
    return false;
  }
}
