// What goes wrong, and how it shows.
import { expect, test } from 'vitest';
import type { Incident } from '../../tools/simulator/scenario.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const email = 'ann@one.example';
const always = { mailbox: '*', from: 0 } as const;

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

test('a block refuses every email of one provider at once, and health falls', async () => {
  await using served = await serve(withIncidents({ kind: 'block', ...always, provider: 'google' }));
  const before = await served.warmup(email);
  await served.clock.advance(10 * hourMs);
  expect(await served.today(email)).toMatchObject({ sent: 40, bounced: 40, delivered: 0, bounce_rate: '100.00' });
  expect((await served.today('bob@two.example')).bounced).toBe(0);
  const after = await served.warmup(email);
  expect(after.recent_emails[0]).toMatchObject({ status: 'bounced', landed_in: 'none', bounce_type: 'block' });
  expect(after.health_score).toBeLessThan(before.health_score - 20);
});
