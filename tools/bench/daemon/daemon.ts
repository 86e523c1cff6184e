// The daemon as users start it: its own process, its own folder on a real disk, the shipped defaults. The benchmarks look from outside.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { type BenchApi, keyOf } from './api.ts';
import { installedBin, mallocSettings, nodeFlags } from './package.ts';

const tmpfsType = 0x01021994;
const startLimitMs = 300_000;
const lookEveryMs = 5;
/** What it wrote last, for an error's sake. */
const keptLetters = 4_000;

/** What a user would write; whatever is left out has its default. accounts: what they have in common, else a plan. */
export type Settings = Readonly<Record<string, unknown>> & { readonly accounts?: Readonly<Record<string, unknown>> };

/** Variables besides those of this process. */
export type Environment = Readonly<Record<string, string>>;

/** A folder for configuration and store, on a disk; a file system in memory would write nothing. */
export class Workplace implements Disposable {
  readonly folder: string;

  constructor() {
    const inMemory = statfsSync(tmpdir()).type === tmpfsType;
    this.folder = mkdtempSync(join(inMemory ? '/var/tmp' : tmpdir(), 'warmwarden-bench-'));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Writes the configuration for the API's fleet: all keys but accounts, server, and what `settings` names have their defaults. */
export async function configure(place: Workplace, api: BenchApi, settings: Settings = {}): Promise<string> {
  const { accounts: limit = { plan: 'enterprise' }, ...others } = settings;
  const accounts = Array.from({ length: api.shape.accounts }, (_, account) => ({
    ...{ name: `agency-${account}`, base_url: api.url('daemon'), api_key: keyOf(account) },
    ...limit,
  }));
  const config = { accounts, server: { listen: `127.0.0.1:${await freePort()}` }, ...others };
  const file = join(place.folder, 'config.yaml');
  writeFileSync(file, stringify(config));
  return file;
}

export class BenchDaemon implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #url = '';
  /** A line of the log that is not complete yet. */
  #begun = '';
  #output = '';
  #over = false;
  /** It must not outlive the benchmark. */
  readonly #kill = () => this.signal('SIGKILL');

  private constructor(config: string, env: Environment) {
    this.#child = spawn(process.execPath, [...nodeFlags, installedBin(), 'run', '--config', config], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...mallocSettings, ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    process.once('exit', this.#kill);
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#over = true;
        process.off('exit', this.#kill);
        resolve();
      });
    });
  }

  /** Its process has begun, and it has done nothing yet. */
  static launch(config: string, env: Environment = {}): BenchDaemon {
    return new BenchDaemon(config, env);
  }

  /** Waits until it says that it is on duty. */
  async isOnDuty(): Promise<void> {
    await this.until('it is on duty', () => this.#url !== '', startLimitMs);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get url(): string {
    return this.#url;
  }

  /** Waits until it holds. Rejects when the daemon ends before, or after `limitMs`. */
  async until(what: string, holds: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    while (!(await holds())) {
      if (this.#over) throw new Error(`the daemon ended before ${what}:\n${this.#output}`);
      if (performance.now() > until) throw new Error(`not within ${limitMs / 1_000} s: ${what}\n${this.#output}`);
      await sleep(lookEveryMs);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** A graceful stop, as SIGTERM asks for it. */
  async stop(): Promise<void> {
    if (!this.#over) this.signal('SIGTERM');
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over) this.signal('SIGKILL');
    await this.#ended;
  }

  #read(text: string): void {
    this.#output = (this.#output + text).slice(-keptLetters);
    const lines = (this.#begun + text).split('\n');
    this.#begun = lines.pop() ?? '';
    for (const line of lines) {
      if (this.#url === '') this.#url = /"url":"([^"]+)".*"msg":"on duty"/.exec(line)?.[1] ?? '';
    }
  }
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
