// Debian's Alertmanager as a process of its own: one route that groups as our messages do, and sends to a webhook.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** An alert as GET /api/v2/alerts shows it, as far as tests read it. */
export interface HeldAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly fingerprint: string;
}

export class Alertmanager implements AsyncDisposable {
  readonly url: string;
  readonly #program: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'warmwarden-alertmanager-'));
  readonly #port: number;
  #child: ChildProcess | null = null;
  #output = '';

  private constructor(program: string, port: number, webhook: string) {
    this.#program = program;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    const route = { receiver: 'hook', group_by: ['account', 'alertname'], group_wait: '1s', group_interval: '1s' };
    const receivers = [{ name: 'hook', webhook_configs: [{ url: webhook, send_resolved: true }] }];
    writeFileSync(
      join(this.#folder, 'alertmanager.yml'),
      stringify({ route: { ...route, repeat_interval: '1h' }, receivers }),
    );
  }

  /** Starts it and waits until it answers. */
  static async start(program: string, webhook: string): Promise<Alertmanager> {
    const alertmanager = new Alertmanager(program, await freePort(), webhook);
    await alertmanager.start();
    return alertmanager;
  }

  /** Starts it again, on the same port and storage. */
  async start(): Promise<void> {
    const options = [
      `--config.file=${join(this.#folder, 'alertmanager.yml')}`,
      `--storage.path=${join(this.#folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${this.#port}`,
      '--cluster.listen-address=',
    ];
    this.#child = spawn(this.#program, options, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    await until('Alertmanager to be ready', async () => {
      if (this.#child?.exitCode !== null) throw new Error(`Alertmanager ended:\n${this.#output}`);
      return fetch(`${this.url}/-/ready`).then(
        (answer) => answer.ok,
        () => false,
      );
    });
  }

  /** kill -9: what it held in memory is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async alerts(): Promise<readonly HeldAlert[]> {
    return (await (await fetch(`${this.url}/api/v2/alerts`)).json()) as readonly HeldAlert[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
