// Incidents where people look: the headline, the page, and the JSON of the API.
import { expect, test } from 'vitest';
import { sampleIncident } from '../alerts/incident-samples.ts';
import { exampleFleet } from './example-fleet.ts';
import { ask, jsonAt, serve } from './running-server.ts';

const title =
  'Provider google: 16 mailboxes on 5 domains over their bounce limits since 20 March 10:02 UTC: block (policy_block)';

test('one that goes on leads the headline, and stands on the page with its worst five', async () => {
  const fleet = exampleFleet();
  fleet.putIncident(sampleIncident(16));
  fleet.putIncident(sampleIncident(4, { id: 'inc_over', endedAt: 1 }));
  await using server = await serve(fleet);
  const page = (await ask(server.url)).body.toString();
  expect(page).toMatch(new RegExp(`<h1>[^<]*${title.replace(/[()]/g, '\\$&')}`));
  const [, section = ''] = /<section class="panel" aria-labelledby="incidents">(.*?)<\/section>/s.exec(page) ?? [];
  expect(section.match(/href="\/mailboxes\//g)).toHaveLength(5);
  expect(section).toContain('11 more mailboxes are in it');
  expect(section).toContain('The circuit breaker holds 1 mailbox');
  expect(section).not.toContain('inc_over');
});

test('/api/incidents has those that go on and those that ended; the alerts and the fleet name those that go on', async () => {
  const fleet = exampleFleet();
  fleet.putIncident(sampleIncident(4, { id: 'inc_over', endedAt: 1 }));
  fleet.putIncident(sampleIncident(200));
  await using server = await serve(fleet);
  const { incidents } = await jsonAt(server, '/api/incidents');
  expect(incidents).toMatchObject([
    {
      id: 'inc_sample',
      cause: { attribute: 'provider', value: 'google' },
      bounce_kind: 'block (policy_block)',
      mailboxes: 200,
      domains: 5,
      states: { held: 1, recovery: 199 },
      ended_at: null,
    },
    { id: 'inc_over', mailboxes: 4, ended_at: '1970-01-01T00:00:00.001Z' },
  ]);
  expect([incidents[0].members.length, incidents[0].members[0].state]).toEqual([100, 'held']);
  const named = [{ id: 'inc_sample', mailboxes: 200, severity: 'critical' }];
  expect(await jsonAt(server, '/api/alerts')).toMatchObject({ incidents: named });
  expect(await jsonAt(server, '/api/fleet')).toMatchObject({ incidents: named });
  expect((await ask(`${server.url}/api/incidents?x=1`)).status).toBe(400);
});
