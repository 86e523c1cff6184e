// What users would run instead: Debian's blackbox_exporter, and the Prometheus that makes it probe each mailbox once a minute.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchApi, keyOf, total } from '../daemon/api.ts';
import { idOf } from '../daemon/bodies.ts';
import { freePort } from '../daemon/daemon.ts';
import { counted } from '../daemon/process.ts';

const blackbox = '/usr/bin/prometheus-blackbox-exporter';
const prometheus = '/usr/bin/prometheus';
const asker = 'exporter';
const startTries = 300;

/** CPU milliseconds and answered probes so far. */
export interface Probed {
  readonly blackboxMs: number;
  readonly prometheusMs: number;
  readonly probes: number;
}

export class Exporter implements AsyncDisposable {
  readonly #api: BenchApi;
  readonly #folder = mkdtempSync(join(tmpdir(), 'warmwarden-exporter-'));
  readonly #children: ChildProcess[] = [];

  private constructor(api: BenchApi) {
    this.#api = api;
  }

  /** Both programs, which begin to probe the API's mailboxes; null, with a sentence, where they are not installed. */
  static async start(api: BenchApi): Promise<Exporter | null> {
    if (!existsSync(blackbox) || !existsSync(prometheus)) {
      process.stderr.write(
        'duty: without prometheus and prometheus-blackbox-exporter (Debian) nothing is said about them\n',
      );
      return null;
    }
    const exporter = new Exporter(api);
    const address = await exporter.#run(blackbox, 'blackbox.yml', {
      modules: { http_2xx: { prober: 'http', http: { headers: { Authorization: `Bearer ${keyOf(0)}` } } } },
    });
    const mailboxes = api.shape.accounts * api.shape.mailboxesPerAccount;
    const targets = Array.from(
      { length: mailboxes },
      (_, index) => `${api.url(asker)}/v1/stats?mailbox_id=${idOf(index)}&days=30`,
    );
    const probes = {
      ...{ job_name: 'probes', metrics_path: '/probe', params: { module: ['http_2xx'] } },
      static_configs: [{ targets }],
      relabel_configs: [
        { source_labels: ['__address__'], target_label: '__param_target' },
        { source_labels: ['__param_target'], target_label: 'instance' },
        { target_label: '__address__', replacement: address },
      ],
    };
    const config = { global: { scrape_interval: '60s' }, scrape_configs: [probes] };
    await exporter.#run(prometheus, 'prometheus.yml', config, `--storage.tsdb.path=${join(exporter.#folder, 'data')}`);
    return exporter;
  }

  async probed(): Promise<Probed> {
    const [blackboxMs = 0, prometheusMs = 0] = this.#children.map(({ pid = 0 }) => counted(pid).cpuMs);
    return { blackboxMs, prometheusMs, probes: total((await this.#api.notified(asker)).polls) };
  }

  /** Starts a program and returns its address when it answers there. */
  async #run(program: string, file: string, config: object, ...args: readonly string[]): Promise<string> {
    const address = `127.0.0.1:${await freePort()}`;
    const path = join(this.#folder, file);
    // JSON is YAML, too.
    writeFileSync(path, JSON.stringify(config));
    const own = [`--config.file=${path}`, `--web.listen-address=${address}`, '--log.level=error'];
    const child = spawn(program, [...own, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
    this.#children.push(child);
    process.once('exit', () => child.kill());
    const answers = () =>
      fetch(`http://${address}/-/healthy`).then(
        ({ ok }) => ok,
        () => false,
      );
    for (let tries = 0; !(await answers()); tries += 1) {
      if (tries > startTries) throw new Error(`${program} does not come up`);
      await sleep(100);
    }
    return address;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode === null && child.kill()) await once(child, 'exit');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
