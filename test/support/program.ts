// A server of Debian's as a process of its own, on a free port of loopback, with a folder that its end removes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from './until.ts';

export class Program implements AsyncDisposable {
  readonly url: string;
  readonly #name: string;
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #output = '';

  constructor(name: string, port: number) {
    this.#name = name;
    this.#folder = mkdtempSync(join(tmpdir(), `warmwarden-${name}-`));
    this.url = `http://127.0.0.1:${port}`;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Writes a file, as YAML unless it is text already. */
  write(name: string, content: object | string): void {
    writeFileSync(this.path(name), typeof content === 'string' ? content : stringify(content));
  }

  /** Starts it, or starts it again, and waits until it is ready. */
  async run(options: readonly string[]): Promise<void> {
    const child = spawn(this.#name, options, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    await until(`${this.#name} to be ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${this.#name} ended:\n${this.#output}`);
      return (await fetch(`${this.url}/-/ready`).catch(() => null))?.ok;
    });
  }

  /** kill -9: what it held in memory is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
