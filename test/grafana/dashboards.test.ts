// The dashboards keep the rules of grafana/dashboard-linter, and everything in grafana/ uses only metrics that exist.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { isOwnHost } from '../../src/web/access/auth.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { exampleFleet } from '../web/example-fleet.ts';
import { metricsOf, stillWorld, textOf } from '../web/running-server.ts';
import { type Board, boards, expressions, folder, type Panel, rules } from './boards.ts';

const dataSource = ['$datasource', ['$', '{datasource}'].join('')];
/** Those of Grafana's units that the dashboards use. */
const units = ['none', 'percentunit', 's', 'bytes', 'cps', 'reqps', 'bool_yes_no'];

/** What the linter would complain of: template-*, panel-*, target-* and uneditable-dashboard. */
function complaintsOf(board: Board): readonly string[] {
  const { list } = board.templating;
  const panels = board.panels.filter(({ type }) => type !== 'row');
  return [
    ...(board.editable ? ['is editable'] : []),
    ...(list.filter(({ type }) => type === 'datasource').length === 1 ? [] : ['has no data source to choose']),
    ...list.flatMap(variableComplaints),
    ...['job', 'instance'].filter((name) => !list.some((one) => one.name === name)).map((name) => `lacks ${name}`),
    ...panels.flatMap((panel) => panelComplaints(panel).map((complaint) => `${panel.title}: ${complaint}`)),
  ];
}

function variableComplaints({
  name,
  label,
  type,
  query,
  datasource,
  multi,
  allValue,
  refresh,
}: Board['templating']['list'][number]) {
  if (type === 'datasource') return name === 'datasource' && label === 'Data source' ? [] : ['is called otherwise'];
  const complaints = [];
  if (!dataSource.includes(datasource?.uid ?? '')) complaints.push('another data source');
  if (refresh !== 2) complaints.push('does not follow the time range');
  if (!/^label_values\(\w+(\{.*\})?, \w+\)$/.test(query)) complaints.push('no label_values');
  if (name === 'job' || name === 'instance') {
    if (!multi || allValue !== '.+') complaints.push('can not be all');
    if (label.toLowerCase() !== name) complaints.push('is labelled otherwise');
  }
  return complaints.map((complaint) => `${name}: ${complaint}`);
}

function panelComplaints({ title, description, datasource, fieldConfig, targets = [] }: Panel): readonly string[] {
  const complaints = [];
  if (!title || !description) complaints.push('no title or description');
  if (!dataSource.includes(datasource?.uid ?? '')) complaints.push('another data source');
  if (!units.includes(fieldConfig?.defaults.unit ?? '')) complaints.push('no unit');
  // A panel without data says why, and one that is empty when all is well says that.
  if (!fieldConfig?.defaults.noValue) complaints.push('no text for an empty panel');
  if (/^No (?!data)/.test(fieldConfig?.defaults.noValue ?? '') && !description?.endsWith('Empty on a healthy fleet.'))
    complaints.push('does not say that it is empty on a healthy fleet');
  if (targets.length === 0) complaints.push('no query');
  for (const { expr, datasource: of } of targets) {
    if (!dataSource.includes(of.uid)) complaints.push('a query of another data source');
    const selectors = [...expr.matchAll(/\b(?:warmwarden|process|nodejs|scrape)_\w+(\{[^}]*\})?|\bup(\{[^}]*\})/g)];
    if (selectors.length === 0) complaints.push(`nothing is selected: ${expr}`);
    for (const [selector] of selectors) {
      if (!selector.includes('job=~"$job", instance=~"$instance"')) complaints.push(`not of its target: ${selector}`);
      const counted = /_(total|bucket)\{/.test(selector);
      const at = expr.indexOf(selector);
      const ranged = expr.startsWith('[$__rate_interval]', at + selector.length);
      if (counted && !(ranged && /\b(rate|irate|increase)\($/.test(expr.slice(0, at))))
        complaints.push(`a counter without rate or increase: ${selector}`);
    }
    if (/\b(rate|irate)\([^[]*\[(?!\$__rate_interval\])/.test(expr)) complaints.push(`another interval: ${expr}`);
  }
  return complaints;
}

test('each alert leads to a section that exists', () => {
  const alerts = [...rules('alerts.yaml'), ...rules('mailbox-alerts.yaml')].filter(({ alert }) => alert !== undefined);
  expect(alerts).toHaveLength(27);
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
  test('keeps the linter rules', () => {
    expect(complaintsOf(board)).toEqual([]);
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

  test('marks what Warmwarden did', () => {
    const action = board.annotations.list.find(({ expr }) => expr.includes('warmwarden_guard_actions_total'));
    expect(dataSource).toContain(action?.datasource.uid);
  });
});

test('the linter rules are no empty words: planted mistakes are found', () => {
  const [[, board] = []] = boards();
  if (!board) throw new Error('there is no dashboard');
  const planted = structuredClone(board) as { editable: boolean; panels: Panel[] } & Board;
  planted.editable = true;
  const [, panel] = planted.panels;
  const target = {
    refId: 'A',
    expr: 'sum(warmwarden_guard_actions_total) + rate(warmwarden_x{}[5m])',
    datasource: { uid: 'mine' },
  };
  planted.panels[1] = { ...panel, title: '', fieldConfig: { defaults: {} }, targets: [target] } as Panel;
  expect(complaintsOf(planted)).toHaveLength(8);
});

const ofPrometheus = ['up', 'scrape_duration_seconds'];
/** Metrics of a live process that the fleet of the example does not have right now. */
const sometimes = ['warmwarden_outbox_oldest_timestamp_seconds', 'nodejs_eventloop_lag_p99_seconds'];

test('every metric that a dashboard or a rule asks for exists', async () => {
  const fleet = exampleFleet();
  fleet.putBreaker('https://api.example', closedBreaker);
  fleet.putGuarding([{ account: 'acme', startingSince: null }]);
  const metrics = metricsOf(fleet, stillWorld());
  metrics.tally.request({ account: 'acme', route: 'stats', code: '200' }, 0.1);
  const text = await textOf(metrics);
  const exposed = new Set([...text.matchAll(/^(\w+)(?:\{| )/gm)].map(([, name]) => name));
  const recorded = rules('recording.yaml').map(({ record }) => record ?? '');
  const known = new Set([...exposed, ...recorded, ...ofPrometheus, ...sometimes]);
  const unknown = expressions().flatMap(({ place, expr }) =>
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
