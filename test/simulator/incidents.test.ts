// What goes wrong, and how it shows.
import { expect, test } from 'vitest';
import type { Incident } from '../../tools/simulator/scenario.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const email = 'ann@one.example';
function withIncidents(...incidents: Incident[]) {
  return { scenario: scenarioOf([ann, bob], incidents) };
}

const total = (rows: Json[], count: string) => rows.reduce((sum, row) => sum + row[count], 0);

test('a bounce incident bounces its share of the emails that it meets, no others', async () => {
  const incident = {
    kind: 'bounce',
    mailbox: '*@one.example',
    rate: 0.5,
    from: 2.5 * hourMs,
    until: 4.5 * hourMs,
  } as const;
  await using served = await serve(withIncidents(incident));
  await served.clock.advance(2.5 * hourMs);
  expect((await served.today(email)).bounced).toBe(0);
  await served.clock.advance(3 * dayMs);
  // Ten emails fall into the two hours; late bounces have arrived two days later.
  expect(total(await served.stats(email, 4), 'bounced')).toBe(5);
  expect(total(await served.stats('bob@two.example', 4), 'bounced')).toBe(0);
});
