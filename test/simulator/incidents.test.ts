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

test('fifteen in a hundred bounces come half a day to a day and a half late, and count when they arrive', async () => {
  await using served = await serve(withIncidents({ kind: 'bounce', ...always, rate: 1, until: 12 * hourMs }));
  await served.clock.advance(12 * hourMs);
  const today = await served.today(email);
  expect(today.sent).toBe(40);
  expect(40 - today.bounced).toBeGreaterThanOrEqual(5);
  expect(40 - today.bounced).toBeLessThanOrEqual(7);
  expect(today.delivered).toBe(0);
  await served.act(email, 'pause');
  await served.clock.advance(2 * dayMs);
  const rows = await served.stats(email, 3);
  expect(rows[0]).toEqual(today);
  expect(total(rows, 'bounced')).toBe(40);
  // More bounced than sent on a day is legal.
  expect(rows[1]).toMatchObject({ sent: 0, bounce_rate: '0.00' });
  expect(rows[1].bounced + rows[2].bounced).toBe(40 - today.bounced);
});

test('recent emails show type and category of a bounce, and a late one only once it has come', async () => {
  await using served = await serve(withIncidents({ kind: 'bounce', ...always, rate: 1, until: 12 * hourMs }));
  await served.clock.advance(9 * hourMs);
  const emails = (await served.warmup(email)).recent_emails;
  const bounced = emails.filter((mail: Json) => mail.status === 'bounced');
  const pending = emails.filter((mail: Json) => mail.status === 'sent');
  expect(bounced.length).toBeGreaterThanOrEqual(8);
  expect(pending.length).toBeGreaterThanOrEqual(1);
  for (const mail of bounced) expect(mail).toMatchObject({ bounce_type: 'hard', bounce_category: 'invalid_recipient' });
  for (const mail of pending) expect(mail).toMatchObject({ landed_in: 'pending', bounce_type: null });
  await served.act(email, 'pause');
  await served.clock.advance(2 * dayMs);
  const later = (await served.warmup(email)).recent_emails;
  expect(later.map((mail: Json) => mail.status)).toEqual(Array(10).fill('bounced'));
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

test('broken DNS records fail in both answers, after the next measurement, until the incident ends', async () => {
  await using served = await serve(
    withIncidents({ kind: 'dns', mailbox: '*@one.example', records: ['spf', 'dkim'], from: hourMs, until: 3 * hourMs }),
  );
  const dns = async (refresh = false) =>
    (await served.ask(`/v1/dns?mailbox_id=${served.idOf(email)}${refresh ? '&refresh=true' : ''}`)).body;
  await served.clock.advance(hourMs);
  expect((await dns()).spf.status).toBe('pass');
  expect(await dns(true)).toMatchObject({ spf: { status: 'fail', record: null }, dmarc: { status: 'pass' } });
  const detail = (await served.ask(`/v1/mailboxes/${served.idOf(email)}`)).body;
  expect(detail.dns_status).toEqual({ spf: 'fail', dkim: 'fail', dmarc: 'pass' });
  await served.clock.advance(3 * hourMs);
  expect(await dns()).toMatchObject({ source: 'cached', spf: { status: 'pass' } });
});

test('a listing names the lists', async () => {
  const lists = ['zen.spamhaus.org', 'b.barracudacentral.org'];
  await using served = await serve(withIncidents({ kind: 'listing', mailbox: '*@two.example', lists, from: 0 }));
  const check = async (address: string) =>
    (await served.ask(`/v1/blacklist?mailbox_id=${served.idOf(address)}&refresh=true`)).body;
  expect(await check('bob@two.example')).toMatchObject({ listed: true, blacklists_found: lists });
  expect(await check(email)).toMatchObject({ listed: false, blacklists_found: [] });
});

test('a disconnected mailbox says so, sends nothing, and goes on when the login works again', async () => {
  const error = 'IMAP login failed';
  await using served = await serve(
    withIncidents({ kind: 'disconnect', mailbox: email, error, from: 2.5 * hourMs, until: 4.5 * hourMs }),
  );
  await served.clock.advance(3.5 * hourMs);
  const { mailboxes } = (await served.ask('/v1/mailboxes')).body;
  expect(mailboxes.map((one: Json) => one.status)).toEqual(['disconnected', 'active']);
  const detail = (await served.ask(`/v1/mailboxes/${served.idOf(email)}`)).body;
  expect(detail).toMatchObject({ status: 'disconnected', connection_error: error });
  expect((await served.today(email)).sent).toBe(10);
  await served.clock.advance(10 * hourMs);
  expect((await served.today(email)).sent).toBe(30);
  expect((await served.ask(`/v1/mailboxes/${served.idOf(email)}`)).body.connection_error).toBeNull();
});

test('an incident that is added later changes nothing that has happened', async () => {
  await using served = await serve();
  await served.clock.advance(4.5 * hourMs);
  const dns = async () => (await served.ask(`/v1/dns?mailbox_id=${served.idOf(email)}`)).body;
  const before = [await served.stats(email), await dns()];
  served.simulator.fleet.addIncident({ kind: 'block', ...always });
  served.simulator.fleet.addIncident({ kind: 'dns', ...always, records: ['spf'] });
  expect([await served.stats(email), await dns()]).toEqual(before);
  await served.clock.advance(10 * hourMs);
  expect(await served.today(email)).toMatchObject({ sent: 40, bounced: 20 });
  expect((await dns()).spf.status).toBe('fail');
});
