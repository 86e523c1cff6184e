// docs/metrics.md has every metric with its labels, and no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { Scrape } from '../support/scrape.ts';
import { exampleFleet, now } from '../web/example-fleet.ts';
import { metricsOf, stillWorld, textOf } from '../web/running-server.ts';

const document = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');

test('every metric is documented with its labels, and nothing else is', async () => {
  const fleet = exampleFleet();
  fleet.putBreaker('https://api.example', closedBreaker);
  fleet.putGuarding([{ account: 'acme', startingSince: null }]);
  for (const channel of [...fleet.channels()]) fleet.putChannel({ ...channel, oldestPendingAt: now });
  const metrics = metricsOf(fleet, stillWorld(), { tagsOf: () => ['client=north'] });
  metrics.tally.request({ account: 'acme', route: 'stats', code: '200' }, 0.1);
  const exposed = new Map<string, string>();
  for (const { name, labels } of new Scrape(await textOf(metrics)).samples) {
    if (!name.startsWith('warmwarden_')) continue;
    const ofFamily = Object.keys(labels).filter((label) => label !== 'le');
    exposed.set(name.replace(/_(bucket|sum|count)$/, ''), ofFamily.sort().join(', '));
  }
  const rows = document.matchAll(/^\| `(warmwarden_\w+)` \|([^|]*)\|/gm);
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
