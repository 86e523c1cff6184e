// A process that npx or `npm start` started notices their end: npm passes neither SIGHUP nor SIGKILL on, and SIGTERM only to a shell between them.
import { readFileSync } from 'node:fs';
import { systemClock } from '../../world/world.ts';

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
