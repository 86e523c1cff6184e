// The dashboards keep the rules of grafana/dashboard-linter, and everything in grafana/ uses only metrics that exist, which docs/metrics.md has.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { isOwnHost } from '../../src/web/access/auth.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { Scrape } from '../support/scrape.ts';
import { exampleFleet, now } from '../web/example-fleet.ts';
import { metricsOf, stillWorld, textOf } from '../web/running-server.ts';
import { boards, expressions, folder, rules } from './boards.ts';

const dataSource = ['$datasource', ['$', '{datasource}'].join('')];

test('each alert leads to a section that exists', () => {
  const alerts = [...rules('alerts.yaml'), ...rules('mailbox-alerts.yaml')].filter(({ alert }) => alert !== undefined);
  expect(alerts).toHaveLength(28);
  for (const { alert, annotations } of alerts) {
    const [, page = '', anchor = ''] =
      /\/blob\/main\/(docs\/[a-z]+\.md)#([a-z_-]+)$/.exec(annotations?.runbook_url ?? '') ?? [];
    expect(page, alert).not.toBe('');
    const headings = [...readFileSync(join(folder, '..', page), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(headings, alert).toContain(anchor);
  }
});

describe.each(boards())('%s', (file, board) => {
  test('asks the data source that is chosen, and each panel has a title, a unit and words for when it is empty', () => {
    const panels = board.panels.filter(({ type }) => type !== 'row');
    const poor = panels.filter(
      ({ title, description, datasource, fieldConfig }) =>
        !(title && description && fieldConfig?.defaults.unit && fieldConfig.defaults.noValue) ||
        !dataSource.includes(datasource?.uid ?? ''),
    );
    expect(poor.map(({ title }) => title)).toEqual([]);
    const targets = panels.flatMap(({ targets: asked = [] }) => asked);
    expect(targets.filter(({ datasource }) => !dataSource.includes(datasource.uid))).toEqual([]);
    expect(targets.filter(({ expr }) => !expr.includes('job=~"$job", instance=~"$instance"'))).toEqual([]);
  });

  test('has a stable uid of its own, ids that are used once, and panels that do not overlap', () => {
    expect(board.uid).toBe(`warmwarden-${file.replace('.json', '')}`);
    const ids = board.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = board.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, cell) => `${x + (cell % w)}/${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...board.panels.map(({ gridPos: { w, x } }) => x + w))).toBe(24);
  });
});

const ofPrometheus = ['up', 'scrape_duration_seconds', 'scrape_samples_scraped'];

/** The exposition of a fleet that has each of them. */
function everyMetric(): Promise<string> {
  const fleet = exampleFleet();
  fleet.putBreaker('https://api.example', closedBreaker);
  fleet.putGuarding([{ account: 'acme', startingSince: null }]);
  for (const channel of [...fleet.channels()]) fleet.putChannel({ ...channel, oldestPendingAt: now });
  const metrics = metricsOf(fleet, stillWorld(), { tagsOf: () => ['client=north'] });
  metrics.tally.request({ account: 'acme', route: 'stats', code: '200' }, 0.1);
  return textOf(metrics);
}

test('every metric is in docs/metrics.md with its labels, and nothing else is', async () => {
  const exposed = new Map<string, string>();
  for (const { name, labels } of new Scrape(await everyMetric()).samples) {
    if (!name.startsWith('warmwarden_')) continue;
    const ofFamily = Object.keys(labels).filter((label) => label !== 'le');
    exposed.set(name.replace(/_(bucket|sum|count)$/, ''), ofFamily.sort().join(', '));
  }
  const rows = readFileSync(join(folder, '../docs/metrics.md'), 'utf8').matchAll(
    /^\| `(warmwarden_\w+)` \|([^|]*)\|/gm,
  );
  const documented = new Map(
    [...rows].map(([, name = '', labels = '']) => [
      name,
      labels
        .split(',')
        .map((label) => label.trim())
        .sort()
        .join(', '),
    ]),
  );
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(exposed));
  expect(exposed.size).toBeGreaterThan(45);
});

/** Queries that the pages print. */
const printed = readdirSync(join(folder, '../docs'))
  .filter((file) => file.endsWith('.md'))
  .flatMap((place) =>
    [...readFileSync(join(folder, '../docs', place), 'utf8').matchAll(/^```promql\n(.*?)```/gms)].map(
      ([, expr = '']) => ({ place, expr }),
    ),
  );

test('every metric that a dashboard, a rule or a page asks for exists', async () => {
  expect(printed.length).toBeGreaterThan(10);
  const text = await everyMetric();
  const exposed = new Set([...text.matchAll(/^(\w+)(?:\{| )/gm)].map(([, name]) => name));
  const recorded = rules('recording.yaml').map(({ record }) => record ?? '');
  const known = new Set([...exposed, ...recorded, ...ofPrometheus]);
  const unknown = [...expressions(), ...printed].flatMap(({ place, expr }) =>
    [...expr.matchAll(/\b(?:\w+:)?(?:warmwarden|process|nodejs|scrape)_\w+(?::\w+)?|\bup\b/g)]
      .map(([name]) => name)
      .filter((name) => !known.has(name))
      .map((name) => `${place}: ${name}`),
  );
  expect(unknown).toEqual([]);
  expect(exposed.size).toBeGreaterThan(60);
});

describe('what stands beside them', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
  const read = (file: string) => parse(readFileSync(join(folder, file), 'utf8'));

  test('is YAML', () => {
    expect(files.length).toBeGreaterThan(9);
    for (const file of files) expect(() => read(file), file).not.toThrow();
  });

  test('fits together: every file that compose.yaml mounts is there, the key is the simulator’s', () => {
    const { services } = read('compose.yaml') as { services: Record<string, { volumes?: string[] }> };
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.filter((one) => one.startsWith('./')),
    );
    const top = readdirSync(folder);
    for (const volume of mounted) expect(top).toContain(volume.slice(2, volume.indexOf(':')));
    expect(mounted).toHaveLength(5);
    const { accounts, server } = read('warmwarden.yaml');
    expect(accounts[0].api_key).toBe(demoKey);
    // Prometheus asks by the name of the service: without tokens, the daemon refuses other names than its own.
    const [{ targets }] = read('prometheus/prometheus.yaml').scrape_configs[0].static_configs;
    expect([targets, server.auth]).toEqual([[server.listen], 'none']);
    expect(isOwnHost(targets[0], server.listen.split(':')[0])).toBe(true);
  });
});
