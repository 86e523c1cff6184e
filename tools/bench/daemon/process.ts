// What the kernel counts of a process: CPU time of all its threads, bytes handed to the disk, memory. Linux only.
import { readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second for programs, whatever the kernel's own tick is. */
const tickMs = 10;

export interface Counted {
  /** CPU time of all threads, those that have ended included, milliseconds. */
  readonly cpuMs: number;
  /** Bytes that it caused to be written to a disk; what stays in memory is not counted. */
  readonly writtenBytes: number;
  /** Physical memory at present. */
  readonly rssMegabytes: number;
}

export function counted(pid: number): Counted {
  const [user = 0, system = 0] = timesOf(pid);
  return {
    cpuMs: (user + system) * tickMs,
    writtenBytes: numberIn(read(pid, 'io'), /^write_bytes: (\d+)$/m),
    rssMegabytes: (numberIn(read(pid, 'status'), /^VmRSS:\s+(\d+) kB$/m) * 1_024) / 1e6,
  };
}

/** What stands behind the name of the program, which is in brackets and may hold anything. */
const statOf = (pid: number) => read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];

/** In ticks: of itself in user and system mode, then of its children that have ended. */
const timesOf = (pid: number) => statOf(pid).slice(11, 15).map(Number);

const read = (pid: number, name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`the kernel does not say ${pattern.source}`);
  return Number(found);
}
