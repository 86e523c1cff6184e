// docs/install/kubernetes/monitoring/prometheus-rule.yaml: the rules of grafana/prometheus as the Prometheus Operator takes them.
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { z } from 'zod';

const ruleFile = z.object({ groups: z.array(z.record(z.string(), z.unknown())) });

/** Of both files; ends with a line break. A group's name is that of its file: it must not occur twice. */
export function prometheusRuleText(): string {
  const groups = ['recording', 'alerts'].flatMap((name) => {
    const text = readFileSync(new URL(`../../grafana/prometheus/${name}.yaml`, import.meta.url), 'utf8');
    return ruleFile.parse(parse(text)).groups.map((group) => ({ ...group, name: `warmwarden-${name}` }));
  });
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'warmwarden' },
    spec: { groups },
  };
  return `# Written by \`npm run docs\` from grafana/prometheus/recording.yaml and alerts.yaml.\n${stringify(resource, { lineWidth: 120 })}`;
}
