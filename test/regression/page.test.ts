// A page with every alert of a fleet that fails at once: thousands of items that nobody reads. FAULTS.md O17.
import { expect, test } from 'vitest';
import { alert, exampleFleet, now } from '../serve/example-fleet.ts';
import { ask, serve } from '../serve/running-server.ts';

test('of 2,000 firing alerts the page shows the gravest and newest 100, and the number of all', async () => {
  const fleet = exampleFleet();
  for (const fired of [...fleet.alerts()]) fleet.removeAlert(fired.fingerprint);
  for (let index = 0; index < 2_000; index += 1) {
    const facts = { title: `<b>trouble ${index}</b>`, sentences: [], numbers: {} };
    fleet.putAlert(alert({ rule: 'stale_data', object: `box${index}`, since: now - index * 1_000, facts }));
  }
  const facts = { title: 'the gravest', sentences: [], numbers: {} };
  fleet.putAlert(alert({ rule: 'mailbox_disconnected', severity: 'critical', since: 0, facts }));
  await using server = await serve(fleet);
  const body = (await ask(`${server.url}/`, { accept: 'text/html' })).body.toString();
  const shown = [...body.matchAll(/trouble (\d+)/g)].map(([, index]) => Number(index));
  expect(shown).toEqual(Array.from({ length: 99 }, (_, index) => index));
  expect(body).toContain('the gravest');
  expect(body).toContain('>2001</span>');
  expect(body).toContain(
    '1,901 further alerts fire, none of them more severe than these: see <a href="/api/alerts">/api/alerts</a>',
  );
});
