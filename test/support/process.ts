// The command as a child process, as a user starts it: its output is kept, and it is always ended.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { until } from './until.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const node = process.execPath;
export const bin = join(root, 'src/bin.js');
/** Whether the system says what other processes have open: not on macOS, and not in every container. */
export const hasProc = existsSync('/proc/self/fd');

/** What a child process gets of our environment: where programs are, and where compiled sources are kept. */
export function inherited(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, TZ: 'UTC' };
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A line of the daemon's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [key: string]: unknown;
}

/** `warmwarden ...args` under way. Disposing it kills it. */
export class Running implements AsyncDisposable {
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  readonly child: ChildProcessWithoutNullStreams;
  #over = false;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(node, [bin, ...args], { cwd: root, env: { ...inherited(), ...env } });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // close, not exit: then all output is here.
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        this.#over = true;
        resolve({ code, signal });
      });
    });
  }

  get over(): boolean {
    return this.#over;
  }

  /** Of the process. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Everything that it wrote. */
  get output(): string {
    return this.stdout + this.stderr;
  }

  /** Its log as JSON; lines that are none are left out. */
  get log(): readonly LogLine[] {
    return this.stdout
      .split('\n')
      .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []));
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** SIGKILL, and waits until it is gone. */
  async killNow(): Promise<void> {
    this.kill('SIGKILL');
    await this.ended;
  }

  /** The address of the page, once the daemon is on duty. Rejects when it ends before. */
  async onDuty(): Promise<string> {
    const line = await this.said('on duty');
    return String(line['url']);
  }

  /** The first log line whose message holds `text`. Rejects when the process ends without it. */
  async said(text: string): Promise<LogLine> {
    return until(`"${text}" in the log`, () => {
      const line = this.log.find(({ msg }) => msg.includes(text));
      if (!line && this.#over) throw new Error(`it ended without saying "${text}":\n${this.output}`);
      return line;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over) await this.killNow();
  }
}

/** A folder of its own for configuration and store, removed at the end. */
export class Workplace implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'warmwarden-scenario-'));

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a configuration, as YAML unless it is text already; its path. */
  configure(config: object | string, name = 'config.yaml'): string {
    writeFileSync(this.path(name), typeof config === 'string' ? config : stringify(config));
    return this.path(name);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** `warmwarden run --config FILE`. */
export function runDaemon(config: string, env: NodeJS.ProcessEnv = {}): Running {
  return new Running(['run', '--config', config], env);
}
