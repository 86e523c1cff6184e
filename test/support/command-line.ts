// The command line inside this process: what it writes, and how it ends; with a terminal that answers, or without one.
import { PassThrough } from 'node:stream';
import { vi } from 'vitest';
import { main } from '../../src/cli/main.ts';

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Who hears them before any command does: what overlapping commands add must not add up. */
const outputs = [process.stdout, process.stderr].map((stream) => ({ stream, heard: stream.listeners('error') }));

/** Runs `warmwarden ...argv`. `answers`: what a person types at a terminal, line by line; null: there is no terminal. */
export async function commandLine(argv: readonly string[], answers: readonly string[] | null = null): Promise<Said> {
  const said = { stdout: '', stderr: '' };
  const left = [...(answers ?? [])];
  const stdin = Object.assign(new PassThrough(), { isTTY: answers !== null });
  const noting = (name: keyof typeof said) => (text: unknown) => {
    said[name] += String(text);
    if (name === 'stderr' && /(\[y\/N\]|:) $/.test(String(text))) stdin.write(`${left.shift() ?? ''}\n`);
    return true;
  };
  const spies = [
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin),
    vi.spyOn(process.stdout, 'write').mockImplementation(noting('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(noting('stderr')),
  ];
  const before = process.exitCode;
  process.exitCode = 0;
  // Those that earlier test files left in this process would be warned about, on the very output that is looked at.
  for (const { stream } of outputs) stream.removeAllListeners('error');
  try {
    await main(['node', 'warmwarden', ...argv]);
    return { ...said, code: process.exitCode };
  } finally {
    for (const spy of spies) spy.mockRestore();
    // A command hears its outputs for as long as its process lives; here the next one begins in the same process.
    for (const { stream, heard } of outputs) {
      stream.removeAllListeners('error');
      for (const listener of heard) stream.on('error', listener as () => void);
    }
    process.exitCode = before;
  }
}
