// A real Prometheus on a free port: scrapes every two seconds, evaluates rules, and is asked through its API.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** One series of an instant query. */
export interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export class Prometheus implements AsyncDisposable {
  readonly #folder: string;
  readonly #url: string;
  readonly #process: ChildProcess;
  #said = '';

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#url = `http://127.0.0.1:${port}`;
    const args = [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    this.#process = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process.stderr?.on('data', (text: Buffer) => {
      this.#said += text.toString();
    });
  }

  /** `rules`: texts of rule files. It has no target yet. */
  static async start(rules: readonly string[]): Promise<Prometheus> {
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warmwarden-prometheus-'));
    const names = rules.map((text, index) => {
      writeFileSync(join(folder, `rules-${index}.yaml`), text);
      return `rules-${index}.yaml`;
    });
    const job = { job_name: 'warmwarden', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] };
    const often = { scrape_interval: '2s', evaluation_interval: '1s', scrape_timeout: '2s' };
    writeFileSync(
      join(folder, 'prometheus.yaml'),
      stringify({ global: often, rule_files: names, scrape_configs: [job] }),
    );
    writeFileSync(join(folder, 'targets.json'), '[]');
    const prometheus = new Prometheus(folder, await freePort());
    await until('Prometheus to be ready', async () => {
      if (prometheus.#process.exitCode !== null) throw new Error(`Prometheus ended:\n${prometheus.#said}`);
      return (await fetch(`${prometheus.#url}/-/ready`).catch(() => null))?.ok;
    });
    return prometheus;
  }

  /** Scrapes this address from now on. */
  watch(url: string): void {
    const file = join(this.#folder, 'targets.json');
    writeFileSync(`${file}.new`, JSON.stringify([{ targets: [new URL(url).host] }]));
    renameSync(`${file}.new`, file);
  }

  /** An instant query, now. Throws with Prometheus' own words when the query is wrong. */
  async query(expression: string): Promise<readonly Found[]> {
    return (await this.#ask('/api/v1/query', { query: expression })) as readonly Found[];
  }

  /** The values of a label over the series that fit. */
  async labelValues(label: string, selector: string): Promise<readonly string[]> {
    return (await this.#ask(`/api/v1/label/${label}/values`, { 'match[]': selector })) as readonly string[];
  }

  /** The names of the alerts that fire. */
  async firing(): Promise<ReadonlySet<string>> {
    const found = await this.query('ALERTS{alertstate="firing"}');
    return new Set(found.map(({ metric }) => metric['alertname'] ?? ''));
  }

  async #ask(path: string, parameters: Record<string, string>): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}?${new URLSearchParams(parameters)}`);
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${answer.error}: ${Object.values(parameters).join()}`);
    return Array.isArray(answer.data) ? answer.data : (answer.data as { result: unknown }).result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      this.#process.kill('SIGKILL');
      await once(this.#process, 'exit');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
