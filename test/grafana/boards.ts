// The dashboards and rules of grafana/, as tests read them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const folder = join(import.meta.dirname, '../../grafana');

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly datasource: { readonly uid: string };
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly noValue?: string } };
  readonly targets?: readonly Target[];
}

export interface Variable {
  readonly type: string;
  readonly query: string;
}

export interface Board {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly expr: string; readonly datasource: { uid: string } }[];
  };
}

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly annotations?: { readonly runbook_url?: string };
}

export function boards(): readonly (readonly [string, Board])[] {
  const files = readdirSync(join(folder, 'dashboards'));
  return files.map((file) => [file, JSON.parse(readFileSync(join(folder, 'dashboards', file), 'utf8')) as Board]);
}

export const ruleFiles = ['recording.yaml', 'alerts.yaml', 'mailbox-alerts.yaml'] as const;

export function ruleText(file: (typeof ruleFiles)[number]): string {
  return readFileSync(join(folder, 'prometheus', file), 'utf8');
}

export function rules(file: (typeof ruleFiles)[number]): readonly Rule[] {
  const { groups } = parse(ruleText(file)) as { groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap((group) => group.rules);
}

/** Everything that is asked of Prometheus, with the place where it stands. */
export function expressions(): readonly { readonly place: string; readonly expr: string }[] {
  const ofBoards = boards().flatMap(([file, { panels, annotations }]) => [
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ refId, expr }) => ({ place: `${file}: ${title} ${refId}`, expr })),
    ),
    ...annotations.list.map(({ name, expr }) => ({ place: `${file}: annotation ${name}`, expr })),
  ]);
  const ofRules = ruleFiles.flatMap((file) =>
    rules(file).map(({ alert, record, expr }) => ({ place: `${file}: ${alert ?? record}`, expr })),
  );
  return [...ofBoards, ...ofRules];
}

/** The expression as Grafana would send it with everything chosen. */
export function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '10s').replace(/\$(?:job|instance|account|mailbox)\b/g, '.+');
}
