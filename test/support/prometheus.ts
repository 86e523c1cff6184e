// A real Prometheus: scrapes every two seconds, evaluates rules, and is asked through its API.
import { renameSync } from 'node:fs';
import { freePort } from './free-port.ts';
import { Program } from './program.ts';

/** One series of an instant query. */
export interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export class Prometheus extends Program {
  /** `rules`: texts of rule files. It has no target yet. */
  static async start(rules: readonly string[]): Promise<Prometheus> {
    const prometheus = new Prometheus('prometheus', await freePort());
    const names = rules.map((_, index) => `rules-${index}.yaml`);
    for (const [index, text] of rules.entries()) prometheus.write(`rules-${index}.yaml`, text);
    const job = { job_name: 'warmwarden', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] };
    const often = { scrape_interval: '2s', evaluation_interval: '1s', scrape_timeout: '2s' };
    prometheus.write('prometheus.yaml', { global: often, rule_files: names, scrape_configs: [job] });
    prometheus.write('targets.json', '[]');
    await prometheus.run([
      `--config.file=${prometheus.path('prometheus.yaml')}`,
      `--storage.tsdb.path=${prometheus.path('data')}`,
      `--web.listen-address=${new URL(prometheus.url).host}`,
    ]);
    return prometheus;
  }

  /** Scrapes this address from now on. */
  watch(url: string): void {
    this.write('targets.json.new', JSON.stringify([{ targets: [new URL(url).host] }]));
    renameSync(this.path('targets.json.new'), this.path('targets.json'));
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
    const response = await fetch(`${this.url}${path}?${new URLSearchParams(parameters)}`);
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${answer.error}: ${Object.values(parameters).join()}`);
    return Array.isArray(answer.data) ? answer.data : (answer.data as { result: unknown }).result;
  }
}
