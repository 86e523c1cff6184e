// Groups, on the page and as JSON; incidents; the order of the fleet.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTags } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { minuteMs } from '../../src/core/time.ts';
import { rankedOf, type Sorting, selectPage, worstFirst } from '../../src/web/overview/fleet.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
import { commandLine } from '../support/command-line.ts';
import { account, alert, bareMailbox, exampleFleet, mailbox, now, verdict } from './example-fleet.ts';
import { ask, jsonAt, serve, stillWorld } from './running-server.ts';

const tagged = (fleet: Fleet, of: (mailbox: { readonly id: string }) => readonly string[]) =>
  Object.assign(fleet, { tags: { ...noTags, all: () => ['vip'], of } });

test('/api/groups counts the fleet as the page does, the groups that need attention first', async () => {
  await using server = await serve(tagged(exampleFleet(), ({ id }) => (id === 'm1' ? ['vip', 'pilot'] : [])));
  const byAccount = await jsonAt(server, '/api/groups');
  expect(byAccount).toMatchObject({ by: 'account', total: 2, next_cursor: null });
  expect(byAccount.groups.map((one: { name: string }) => one.name)).toEqual(['acme', 'northwind']);
  const [acme, northwind] = byAccount.groups;
  expect([acme.alerts_firing, northwind.alerts_firing]).toEqual([1, 0]);
  expect([northwind.mailboxes, northwind.states.not_judged, northwind.states.near_limit, northwind.states.ok]).toEqual([
    2, 1, 1, 0,
  ]);
  expect([acme.mailboxes, acme.states.paused_by_guard, acme.states.recovering, acme.states.ok]).toEqual([10, 1, 1, 8]);
  expect(acme.rate_percent).toBeCloseTo((acme.bounced * 100) / acme.sent);
  const byTag = await jsonAt(server, '/api/groups?by=tag');
  const counts = byTag.groups.map((one: Record<string, unknown>) => `${one['name']} ${one['mailboxes']}`);
  expect(counts.sort()).toEqual(['null 11', 'pilot 1', 'vip 1']);
  const ids = async (path: string) => (await jsonAt(server, path)).mailboxes.map(({ id }: { id: string }) => id);
  expect(await ids('/api/fleet?tag=vip')).toEqual(['m1']);
  expect(await ids('/api/fleet?tag=p*&q=nothing')).toEqual([]);
  expect((await jsonAt(server, '/api/alerts?tag=vip')).total).toBeLessThan((await jsonAt(server, '/api/alerts')).total);
  expect(await jsonAt(server, '/api/groups?by=colour')).toMatchObject({ status: 400, error: 'bad_request' });
});

test("/api/groups counts the alerts of a group's domains, ips and accounts once, and orders by them", async () => {
  const fleet = new Fleet();
  for (const name of ['calm', 'acme']) fleet.putAccount(account(name));
  fleet.putMailbox(bareMailbox('m0', 'z@calm.example', 'calm'));
  fleet.putMailbox(mailbox('m1', 'a@acme.example'));
  fleet.putMailbox(mailbox('m2', 'b@acme.example'));
  fleet.putMailbox(mailbox('m3', 'c@other.example', { dns: null }));
  fleet.putAlert(alert({ rule: 'stale_data', mailboxId: 'm1' }));
  fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', object: 'acme.example' }));
  fleet.putAlert(alert({ rule: 'shared_bounces', severity: 'warning', object: 'elsewhere.example' }));
  fleet.putAlert(alert({ rule: 'budget_too_small', severity: 'warning' }));
  const held = alert({ rule: 'guard_held', account: '', severity: 'critical', object: 'https://api.example' });
  fleet.putAlert({ ...held, facts: { ...held.facts, accounts: ['acme'] } });
  fleet.putAlert(alert({ rule: 'store_failing', account: '', severity: 'critical' }));
  await using server = await serve(tagged(fleet, ({ id }) => (id < 'm3' ? ['vip'] : [])));
  const counts = async (by: string) => {
    const { groups } = await jsonAt(server, `/api/groups?by=${by}`);
    return groups.map((one: { name: string; alerts_firing: number }) => `${one.name} ${one.alerts_firing}`).join(', ');
  };
  expect(await counts('account')).toBe('acme 4, calm 0');
  expect(await counts('domain')).toBe('acme.example 4, other.example 2, calm.example 0');
  expect(await counts('tag')).toBe('null 2, vip 4');
  fleet.putAlert(alert({ rule: 'blacklisted', severity: 'warning', object: '192.0.2.1' }));
  expect(await counts('domain')).toContain('other.example 3');
});

test('/api/groups has every configured account, also one without a mailbox, and those that cannot be read first', async () => {
  const fleet = new Fleet();
  fleet.putMailbox(mailbox('m1', 'a@acme.example'));
  fleet.putMailbox(bareMailbox('m2', 'b@stored.example', 'stored'));
  fleet.putAccount(account('acme'));
  fleet.putAccount(account('empty'));
  fleet.putAccount(account('gone', { listed: false, lastSuccessAt: null, failingSince: now - minuteMs }));
  fleet.putAccount(account('wrong', { listed: false, lastSuccessAt: null, failingSince: now, keyRejected: true }));
  const guarding = { startingSince: null };
  fleet.putGuarding(['acme', 'empty', 'gone', 'later', 'wrong'].map((name) => ({ account: name, ...guarding })));
  fleet.putAlert(alert({ rule: 'not_guarded', account: 'wrong', severity: 'critical' }));
  await using server = await serve(fleet);
  const { groups, total } = await jsonAt(server, '/api/groups');
  const seen = groups.map(
    (one: Record<string, unknown>) => `${one['name']} ${one['mailboxes']} ${one['alerts_firing']}`,
  );
  expect(seen.join(', ')).toBe('wrong null 1, gone null 0, later null 0, stored 1 0, acme 1 0, empty 0 0');
  expect(total).toBe(6);
  const first = async () => (await jsonAt(server, '/api/groups')).groups[0].name;
  const silence = { by: 'ann', reason: 'known', from: now - 1, until: now + minuteMs };
  expect(await first()).toBe('wrong');
  fleet.putSilence({ id: 's1', match: { rule: ['not_guarded'] }, ...silence });
  expect(await first()).toBe('gone');
  const { body } = await ask(`${server.url}/groups`, { accept: 'text/html' });
  expect(body.toString()).toContain('6 accounts, the ones that need attention first.');
  expect(body.toString().match(/>unknown</g)).toHaveLength(3);
  expect((await jsonAt(server, '/api/groups?by=domain')).total).toBe(2);
});

const held = verdict({ action: 'hold', reason: 'circuit_breaker', wanted: 'pause', bounced: 9 });

test('an alert that a person silenced does not raise its mailbox, until the silence ends', async () => {
  const fleet = new Fleet();
  fleet.putMailbox(mailbox('m1', 'silenced@one.example'));
  fleet.putMailbox({ ...mailbox('m2', 'held@one.example'), verdict: { at: now, answer: held } });
  fleet.putAlert(alert({ rule: 'mailbox_unwell', mailboxId: 'm1', severity: 'critical', status: 'firing' }));
  const world = stillWorld();
  const ranked = () => rankedOf({ fleet, world, policyOf: () => defaultPolicy });
  const order = () =>
    ranked()
      .toSorted(worstFirst)
      .map((one) => one.mailbox.id);
  expect(order()).toEqual(['m1', 'm2']);
  const match = { rule: ['mailbox_unwell'] };
  fleet.putSilence({ id: 's1', match, by: 'ann', reason: 'known', from: now, until: now + 1_000 });
  expect(order()).toEqual(['m2', 'm1']);
  await world.clock.advance(1_000);
  fleet.putMailbox(mailbox('m3', 'other@one.example'));
  expect(order()).toEqual(['m1', 'm2', 'm3']);
});

const title =
  'Provider google: 16 mailboxes on 5 domains over their bounce limits since 20 March 10:02 UTC, mostly block (policy_block) bounces';

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

test('the alerts and the fleet name the incidents that go on, and what was done there', async () => {
  const fleet = exampleFleet();
  fleet.putIncident(sampleIncident(4, { id: 'inc_over', endedAt: 1 }));
  fleet.putIncident(sampleIncident(200));
  await using server = await serve(fleet);
  for (const path of ['/api/alerts', '/api/fleet'])
    expect(await jsonAt(server, path)).toMatchObject({
      incidents: [{ id: 'inc_sample', mailboxes: 200, severity: 'critical' }],
    });
  const { stdout } = await commandLine(['alerts', 'list', '--url', server.url]);
  expect(stdout).toMatch(/^Incident, critical: .*\n( {2}.*\n)*? {2}The circuit breaker holds \d+ mailbox/);
});

test.each<[Sorting, string]>([
  ['worst', 'm1 m3 m2'],
  ['address', 'm2 m3 m1'],
  ['account', 'm1 m2 m3'],
  ['rate', 'm1 m2 m3'],
  ['left', 'm1 m2 m3'],
  ['health', 'm2 m1 m3'],
  ['age', 'm3 m1 m2'],
])('the table is sorted by %s as its column says, what is not known last', (sort, order) => {
  const fleet = new Fleet();
  const judged = (answer: Parameters<typeof verdict>[0]) => ({ at: now, answer: verdict(answer) });
  fleet.putMailbox(mailbox('m1', 'c@one.example', { verdict: judged({ ...held, bouncesUntilBreach: 0 }) }));
  const healthy = { entry: { at: now, answer: { ...mailbox('m2', 'a@one.example').entry.answer, healthScore: 10 } } };
  const read = { ...mailbox('m2', 'a@one.example', healthy), warmup: null, detail: null };
  fleet.putMailbox({ ...read, stats: { at: now, answer: { rows: [] } }, verdict: judged({}) });
  fleet.putMailbox({ ...mailbox('m3', 'b@one.example', { verdict: null, stats: null }), account: 'beta' });
  const ranked = rankedOf({ fleet, world: stillWorld(), policyOf: () => defaultPolicy });
  const { rows } = selectPage({ ranked }, { sort }, { fleet });
  expect(rows.map((one) => one.mailbox.id).join(' ')).toBe(order);
});
