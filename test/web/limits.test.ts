// A token with limits sees its own client: every route of the server is judged here, and a new one fails until it is.
import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { guardHeld } from '../../src/alerts/rules/breaker-rule.ts';
import { writesOffCondition } from '../../src/alerts/rules/protection-rule.ts';
import { type Alert, fingerprintOf } from '../../src/core/alert.ts';
import type { Severity } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { hourMs } from '../../src/core/time.ts';
import { usualLimits } from '../../src/web/live.ts';
import type { ServerOptions } from '../../src/web/server.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { sha256 } from '../support/sha256.ts';
import { account, action, alert, forecast, mailbox, now } from './example-fleet.ts';
import { registeredRoutes } from './registered-routes.ts';
import { serve, stillWorld } from './running-server.ts';

const api = 'https://api.example';
const clientOf = (email: string) => (email.includes('south') ? 'south' : 'north');
const own = mailbox('n1', 'amy@north.example', { account: 'north' });
const ownShared = mailbox('n2', 'ned@north.example', { account: 'shared' });
const others = mailbox('s1', 'bob@south.example', { account: 'south' });
const othersShared = mailbox('s2', 'sue@south.example', { account: 'shared' });
const all = [own, ownShared, others, othersShared];
const breaker = {
  ...closedBreaker,
  openSince: now,
  entries: all.map(({ account: of, id, email }) => ({
    ...{ key: `${of}/${id}`, account: of, email, domain: `${clientOf(email)}.example` },
    ...{ at: now, held: true, firstSight: false, weight: 1 },
  })),
};
const words = { zone: 'UTC', now };
const firing = ({ subject, severity, facts }: ReturnType<typeof guardHeld>): Alert =>
  alert({ ...subject, rule: subject.rule, fingerprint: fingerprintOf(subject), severity, facts, status: 'firing' });
const about = (one: typeof own, title: string) =>
  alert({
    ...{ rule: 'mailbox_unwell', account: one.account, mailboxId: one.id, email: one.email },
    ...{ fingerprint: title, facts: { title, sentences: [title], numbers: {} } },
  });
const stop = { scope: { kind: 'everything' }, since: now, until: null, by: 'jo', reason: 'south is burning' } as const;

/** Two clients: each has a key of its own, and both have mailboxes behind the key `shared`. Everything of the other one has `south` in it. */
function twoClients(): Fleet {
  const fleet = new Fleet();
  const tag = ({ email }: { email: string }) => [`client=${clientOf(email)}`];
  fleet.tags = {
    all: () => ['client=north', 'client=south'],
    of: tag,
    ofAccount: (name) => (name === 'shared' ? [] : [`client=${name}`]),
    choicesOf: (name) => (name === 'shared' ? [] : [[`client=${name}`]]),
  };
  fleet.putAccount(account('north', { guardedElsewhere: [others], forecast: forecast() }));
  fleet.putAccount(account('south', { failingSince: now - hourMs, lastFailure: 'south is down' }));
  const trouble = { since: now - hourMs, detail: 'the list has south' };
  const unlisted = ['x@south.example'];
  fleet.putAccount(account('shared', { unlisted, unjudged: trouble, listUnrecorded: trouble, forecast: forecast() }));
  fleet.putGuarding([{ account: 'south', startingSince: now }]);
  fleet.putSweep({ account: 'south', since: now, mailboxes: 900, read: 1, doneAt: null });
  for (const one of all) {
    fleet.putMailbox(one);
    fleet.putAction(action(`a-${one.id}`, one, { by: { name: 'jo', reason: 'for north and south' } }));
    fleet.putAlert(about(one, `${one.email} has no connection`));
  }
  fleet.putBreaker(api, breaker);
  const hold = { api, alert: undefined, windowMs: hourMs, verdictOf: () => undefined };
  fleet.putAlert(firing(guardHeld(breaker, { ...hold, ...words })));
  fleet.putAlert(firing(writesOffCondition(stop, null, 'UTC')));
  fleet.putAlert(alert({ rule: 'channel_failing', object: 'south-chat', fingerprint: 'channel' }));
  fleet.putAlert(alert({ rule: 'stale_data', account: 'south', fingerprint: 'stale' }));
  fleet.putWritesOff(stop);
  fleet.putWritesOff({ ...stop, scope: { kind: 'account', account: 'south' } });
  fleet.putWritesOff({ ...stop, scope: { kind: 'account', account: 'shared' } });
  const times = { by: 'jo', from: now - 1, until: now + hourMs };
  fleet.putSilence({ ...times, id: 'one', match: { tag: ['client=north'] }, reason: 'northern lights' });
  fleet.putSilence({ ...times, id: 'two', match: { rule: ['dns_*'] }, reason: 'the DNS of south moves' });
  fleet.putSilence({ ...times, id: 'three', match: { account: ['s*'] }, reason: 'south' });
  const severityOf = ({ email }: typeof own): Severity => (email.includes('south') ? 'critical' : 'warning');
  const [first] = sampleIncident(1).members;
  const members = first ? all.map((one) => ({ ...first, ...one, mailboxId: one.id, severity: severityOf(one) })) : [];
  fleet.putIncident(sampleIncident(1, { members, alerts: ['stale_data|south'] }));
  fleet.putIncident(
    sampleIncident(1, { id: 'i2', members: members.slice(2), cause: { attribute: 'domain', value: 'south.example' } }),
  );
  fleet.putStoreFailure({ said: '/data/south.db is full', remedy: 'Empty /data/south.', lasting: false }, now);
  fleet.putChannel({
    ...{ name: 'south-chat', type: 'slack', pending: 0, oldestPendingAt: null, lastSuccessAt: null },
    ...{ undelivered: 0, failingSince: now, lastFailure: 'south', refusesSetup: true },
  });
  return fleet;
}

const entry = { name: 'pause', account: null, end: 'done', endedAt: now, outcome: 'Done.', by: 'jo' } as const;
const command = (id: number, mailboxes: readonly (typeof own)[], reason: string, changes: object = {}) => ({
  ...{ ...entry, id, at: now - id, command: `pause ${mailboxes.map(({ email }) => email)}`, mailboxes, reason },
  ...changes,
});
const commands = [
  command(1, [own], 'northern pause'),
  command(2, [own, others], 'south and north'),
  command(3, [], 'the whole south', { command: 'writes off --account south', account: 'south' }),
  command(4, [], 'the DNS of south', { command: 'silence add --tag client=south' }),
  command(5, [], 'northern key', { command: 'writes off --account north', account: 'north' }),
];
const transitions = [...twoClients().alerts()].map((one, index) => ({
  id: 99 - index,
  transition: { kind: 'resolved' as const, at: now, alert: { ...one, status: 'resolved' as const, resolvedAt: now } },
}));

const tags = { name: 'tagged', role: 'viewer', sha256: sha256('tagged'), limits: { tag: ['client=north'] } } as const;
const named = { name: 'named', role: 'viewer', sha256: sha256('named'), limits: { account: ['north'] } } as const;
const ops = { name: 'ops', role: 'operator', sha256: sha256('ops') } as const;
const trusted = [{ address: '127.0.0.0', bits: 8, family: 'ipv4' }] as const;
const roles = [
  { group: 'ops', role: 'operator' },
  { group: 'north', role: 'viewer', limits: { tag: ['client=north'] } },
] as const;
const proxyHeader = { user: 'X-Forwarded-User', groups: 'X-Forwarded-Groups', roles, trusted };

function running(changes: Partial<ServerOptions> = {}, fleet = twoClients()) {
  const world = stillWorld();
  return serve(fleet, {
    auth: () => ({ tokens: [tags, named, ops], proxyHeader }),
    history: {
      commands: async ({ before, limit }) => commands.filter(({ at }) => at < (before?.at ?? now)).slice(0, limit),
      guardActions: async ({ before }) => (before ? [] : twoClients().recentActions()),
    },
    transitions: async (limit, before = 100) => transitions.filter(({ id }) => id < before).slice(0, limit),
    muteTimes: () => [{ name: 'south', timeZone: 'UTC', weekly: [] }],
    ready: () => ({ ready: false, reasons: ['account south is starting'] }),
    recipes: { service: recipeRunner(world), world, callerOf: () => null },
    ...changes,
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const visitors = {
  'a token by tag': bearer('tagged'),
  'a token by account': bearer('named'),
  'a user of a proxy': { 'x-forwarded-user': 'nora', 'x-forwarded-groups': 'staff, north' },
};

// The judgement on every route. One that fits nowhere, or twice, fails.

const shown = [
  ...['/', '/groups', '/alerts', '/activity', '/silences', '/runbooks', '/mailboxes/{account}/{id}'],
  ...['/api/fleet', '/api/groups', '/api/explain', '/api/alerts', '/api/silences', '/api/history'],
  ...['/metrics', '/events'],
].map((path) => `GET ${path}`);
const judgements: readonly (readonly [RegExp, 'refused' | 'for anybody' | 'for a key'])[] = [
  [/^GET \/(healthz|readyz|openapi\.json|assets\/[\w.-]+|sign-in)$/, 'for anybody'],
  [/^POST \/(sign-in|sign-out)$/, 'for anybody'],
  [/^\w+ \/v1\//, 'for a key'],
  [/^GET \/api\/deliveries$/, 'refused'],
  [/^GET \/(recipes|recipes\/\{id\}|runs\/\{id\}.*|commands\/\{id\}|writes|breaker|mailboxes|deliveries)$/, 'refused'],
  [/^POST \/(?!v1\/|sign-)/, 'refused'],
];

function judge(route: string): readonly string[] {
  const found = judgements.flatMap(([pattern, judgement]) => (pattern.test(route) ? [judgement] : []));
  return shown.includes(route) ? [...found, 'shown'] : found;
}

test.each(Object.entries(visitors))('%s gets no byte of another client from any route', async (_, headers) => {
  await using server = await running();
  const routes = registeredRoutes();
  expect(routes.filter((route) => judge(route).length !== 1)).toEqual([]);
  expect(shown.filter((route) => !routes.includes(route))).toEqual([]);
  for (const route of routes) {
    const [judgement] = judge(route);
    const [method = '', pattern = ''] = route.split(' ');
    const path = pattern.replace('{account}/{id}', 'north/n1').replace('{id}', 'at-risk');
    const query = path === '/api/explain' ? '?mailbox=amy@north.example' : '';
    const body = method === 'POST' ? { body: '{}', headers: { ...headers, 'content-type': 'application/json' } } : {};
    const over = new AbortController();
    const answer = await fetch(server.url + path + query, { method, headers, signal: over.signal, ...body });
    if (judgement === 'shown') expect([route, answer.status]).toEqual([route, 200]);
    if (judgement === 'refused') expect([route, answer.status]).toEqual([route, 403]);
    if (judgement === 'for a key') expect([route, answer.status]).toEqual([route, 401]);
    if (path !== '/events' && path !== '/readyz') expect([route, await answer.text()]).toEqual([route, withoutSouth]);
    over.abort();
  }
});

const withoutSouth = expect.not.stringMatching(/south|burning/i);

const asked = async (url: string, headers: Record<string, string>) => {
  const answer = await fetch(url, { headers, redirect: 'manual' });
  return { status: answer.status, text: await answer.text() };
};

test('what is its own is there, and counts and totals are of that alone', async () => {
  await using server = await running();
  const json = async (path: string) => JSON.parse((await asked(`${server.url}/api/${path}`, bearer('tagged'))).text);
  const picture = await json('fleet');
  expect(picture).toMatchObject({ total: 2, channels: [], not_enforced: 0 });
  expect(picture.mailboxes.map(({ email }: { email: string }) => email).sort()).toEqual([own.email, ownShared.email]);
  expect(picture.accounts.map(({ name }: { name: string }) => name)).toEqual(['north', 'shared']);
  expect(picture.not_guarded).toMatchObject([
    { account: 'shared', detail: 'the cause is not shown here' },
    { account: 'shared', detail: 'the cause is not shown here' },
  ]);
  expect(picture.writes_off).toMatchObject([
    { scope: 'everything', by: 'the people who run Warmwarden', reason: 'the reason is not shown here' },
    { scope: 'account', account: 'shared', reason: 'the reason is not shown here' },
  ]);
  expect(picture.store_failure).toMatchObject({ said: 'the store is failing' });
  const { alerts, silences, incidents } = await json('alerts');
  expect(alerts.map(({ title }: { title: string }) => title).sort()).toEqual([
    'amy@north.example has no connection',
    'ned@north.example has no connection',
    expect.stringMatching(/^north and shared \(api\.example\): NO ACTION on 2 mailboxes/),
    'writes are OFF for all accounts',
  ]);
  expect(alerts.flatMap(({ sentences }: { sentences: string[] }) => sentences)).toContainEqual(
    expect.stringMatching(/^Held: .*amy@north.*ned@north.*, and 2 mailboxes of others\.$/),
  );
  expect(silences).toMatchObject([
    { by: 'jo', match: { tag: ['client=north'] }, reason: 'northern lights' },
    { by: 'the people who run Warmwarden', match: { rule: ['dns_*'] }, reason: 'the reason is not shown here' },
    { by: 'the people who run Warmwarden', match: { account: ['shared'] }, reason: 'the reason is not shown here' },
  ]);
  expect(incidents).toMatchObject([{ mailboxes: 2, severity: 'warning' }]);
  const page = await asked(`${server.url}/alerts`, bearer('tagged'));
  expect(page.text.match(/>resolved</g)).toHaveLength(alerts.length);
  const reasons = (await json('history')).entries.map(({ reason }: { reason: string }) => reason);
  expect(reasons).toEqual(['northern pause', 'northern key']);
  expect((await json('history?guard=true&limit=1')).next_cursor).not.toBeNull();
  expect((await json('groups?by=tag')).groups).toMatchObject([{ name: 'client=north', mailboxes: 2 }]);
  const { text } = await asked(`${server.url}/metrics`, bearer('tagged'));
  expect([...new Set(text.match(/mailbox="[^"]+"/g))]).toEqual([
    'mailbox="amy@north.example"',
    'mailbox="ned@north.example"',
  ]);
});

test('a mailbox of another client answers as one that does not exist', async () => {
  await using server = await running();
  for (const path of [
    '/mailboxes/NAME',
    '/api/explain?mailbox=NAME',
    '/api/history?mailbox=NAME',
    '/activity?mailbox=NAME',
  ]) {
    const answers = await Promise.all(
      ['south/s1', 'south/s9'].map((name) => asked(server.url + path.replace('NAME', name), bearer('tagged'))),
    );
    const [there, nowhere] = answers.map(({ status, text }) => ({ status, text: text.replaceAll(/s[19]/g, 'NAME') }));
    expect([path, there]).toEqual([path, nowhere]);
    if (!path.startsWith('/activity')) expect([path, there?.status]).toEqual([path, 404]);
  }
});

test('filters find nothing of another client, and links to commands are refused', async () => {
  await using server = await running();
  const filters = ['fleet?q=bob', 'fleet?tag=client=s*', 'alerts?tag=*s*', 'history?by=jo&guard=true'];
  for (const path of filters) {
    const { text } = await asked(`${server.url}/api/${path}`, bearer('tagged'));
    expect([path, text]).toEqual([path, withoutSouth]);
  }
  for (const path of ['/alerts?do=ack&id=x', '/silences?do=add', '/activity?do=undo&since=1h'])
    expect([path, (await asked(server.url + path, bearer('tagged'))).status]).toEqual([path, 403]);
});

test('the headers of a proxy count from its address alone, and only for a user with a known group', async () => {
  const user = (name: string, groups: string) => ({ 'x-forwarded-user': name, 'x-forwarded-groups': groups });
  await using server = await running();
  const statusOf = async (headers: Record<string, string>) =>
    (await asked(`${server.url}/api/deliveries`, headers)).status;
  expect(await statusOf(user('ann', 'ops'))).toBe(200);
  expect(await statusOf({ ...user('ann', 'ops'), ...bearer('wrong') })).toBe(200);
  const names = ['Warmwarden', 'warmWarden', 'Warm\u200bwarden', 'ann\u00a0b', 'ann\u3164', 'OPS', 'eve, ann'];
  const asSent = (name: string) => Buffer.from(name).toString('latin1');
  const refused = [user('ann', 'others'), user('ann', ''), ...names.map((name) => user(asSent(name), 'ops'))];
  expect(await statusOf(user(asSent('Änne van Ø'), 'ops'))).toBe(200);
  const twice = { ...user('ann', ''), 'x-forwarded-groups': ['north', 'ops'] };
  const sent = request(`${server.url}/api/deliveries`, { headers: twice }).end();
  expect((await once(sent, 'response'))[0].statusCode).toBe(403);
  for (const headers of refused) expect([headers, await statusOf(headers)]).toEqual([headers, 403]);
  await using other = await running({
    auth: () => ({
      tokens: [ops],
      proxyHeader: { ...proxyHeader, trusted: [{ ...trusted[0], address: '192.0.2.0' }] },
    }),
  });
  expect((await asked(`${other.url}/api/fleet`, user('ann', 'ops'))).status).toBe(401);
  expect((await asked(`${other.url}/api/fleet`, { ...user('ann', 'ops'), ...bearer('ops') })).status).toBe(200);
});

test('its own newest action stands on the page beside a hundred newer ones of others', async () => {
  const fleet = twoClients();
  fleet.putMailbox({ ...own, action: action('a-n1', own) });
  for (let index = 0; index < 100; index += 1)
    fleet.putAction({ ...action(`s-${index}`, others), plannedAt: now + index });
  await using server = await running({}, fleet);
  const page = await (await fetch(server.url, { headers: { ...bearer('tagged'), accept: 'text/html' } })).text();
  expect([page.includes('has not changed a mailbox yet'), page.includes('bob@south')]).toEqual([false, false]);
});

test('a mailbox that moves to another client is gone with the next answer, and so is one that changes its tags', async () => {
  const fleet = twoClients();
  await using server = await running({}, fleet);
  const seen = async () => {
    const { text } = await asked(`${server.url}/api/fleet`, bearer('tagged'));
    return JSON.parse(text).mailboxes.map(({ email }: { email: string }) => email);
  };
  expect((await seen()).sort()).toEqual([own.email, ownShared.email]);
  fleet.putMailbox(mailbox(ownShared.id, 'ned@south.example', { account: 'shared' }));
  expect(await seen()).toEqual([own.email]);
  fleet.tags = { ...fleet.tags, of: () => ['client=south'] };
  expect(await seen()).toEqual([]);
});

test('its live page hears nothing of a change of others', async () => {
  const fleet = twoClients();
  const server = await running({ liveLimits: { ...usualLimits, tickMs: 5, beatMs: hourMs } }, fleet);
  const [all, limited] = await Promise.all(
    ['ops', 'tagged'].map((token) => fetch(`${server.url}/events`, { headers: bearer(token) })),
  );
  const told = all?.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await told?.read())?.value).toBe(': live\n\n');
  for (let change = 0; change < 3; change += 1) {
    fleet.putMailbox(others);
    expect((await told?.read())?.value).toBe('data: changed\n\n');
  }
  const heard = limited?.text();
  await server[Symbol.asyncDispose]();
  expect(await heard).toBe(': live\n\n');
});

test('while Warmwarden starts, it does not learn which accounts are awaited', async () => {
  const fleet = new Fleet();
  fleet.tags = twoClients().tags;
  fleet.putAccount(account('north', { listed: false, watchedSince: now }));
  await using server = await running({}, fleet);
  const page = async (token: string) =>
    (await asked(server.url, { ...bearer(token), accept: 'text/html' })).text.match(
      /Waiting for[^<]*|Wait a moment/,
    )?.[0];
  expect(await page('ops')).toBe('Waiting for: account south is starting.');
  expect(await page('tagged')).toBe('Wait a moment');
});

test('an alert that a silence over several clients mutes shows as silenced', async () => {
  const fleet = new Fleet();
  fleet.tags = twoClients().tags;
  for (const one of all) fleet.putMailbox(one);
  fleet.putAlert(about(own, 'amy'));
  const match = { account: ['north', 'south'], mailbox: ['*@north.example', 'bob@south.example'] };
  fleet.putSilence({ id: 'wide', match, by: 'jo', reason: 'the south', from: now - 1, until: now + hourMs });
  await using server = await running({}, fleet);
  const { text } = await asked(`${server.url}/api/alerts`, bearer('tagged'));
  expect(JSON.parse(text).alerts).toMatchObject([{ title: 'amy', silenced: { by: 'the people who run Warmwarden' } }]);
  expect(text).toEqual(withoutSouth);
});

test('of a shared key it sees no more while none of the mailboxes of others is there', async () => {
  const fleet = twoClients();
  fleet.removeMailbox(othersShared.account, othersShared.id);
  const missing = { rule: 'mailbox_missing', account: 'shared', email: 'x@south.example', fingerprint: 'x' } as const;
  fleet.putAlert(alert({ ...missing, facts: { title: 'x@south.example is missing', sentences: [], numbers: {} } }));
  const off = {
    scope: { kind: 'account', account: 'shared' },
    since: now,
    until: null,
    by: 'jo',
    reason: 'south',
  } as const;
  fleet.putAlert(firing(writesOffCondition(off, null, 'UTC')));
  const times = { by: 'jo', from: now - 1, until: now + hourMs };
  fleet.putSilence({ ...times, id: 'account', match: { account: ['shared'] }, reason: 'south moves' });
  const history = {
    commands: async () => [command(1, [], 'south', { account: 'shared' })],
    guardActions: async () => [],
  };
  const past = [...fleet.alerts()].map((one, id) => ({
    id,
    transition: { kind: 'resolved' as const, at: now, alert: one },
  }));
  await using server = await running({ history, transitions: async () => past }, fleet);
  for (const path of [
    '/',
    '/alerts',
    '/activity',
    '/api/fleet',
    '/api/alerts',
    '/silences',
    '/api/silences',
    '/api/history',
  ]) {
    const { status, text } = await asked(server.url + path, bearer('tagged'));
    expect([path, status, text]).toEqual([path, 200, withoutSouth]);
  }
});

test.each([
  [{ mailbox: [own.email, 'ceo@south.example'] }, { mailbox: [own.email] }],
  [{ account: ['north', 'old-south'] }, { account: ['north'] }],
  [{ tag: ['client=north', 'client=old-south'] }, { tag: ['client=north'] }],
  [{ domain: ['north.example', 'gone-south.example'] }, { domain: ['north.example'] }],
])(
  'a silence that names what fits none of its mailboxes shows the fitting names alone: %j',
  async (match, shownMatch) => {
    const fleet = new Fleet();
    fleet.tags = twoClients().tags;
    fleet.putAccount(account('north'));
    fleet.putMailbox(own);
    fleet.putSilence({ id: 's', match, by: 'jo', reason: 'the south', from: now - 1, until: now + hourMs });
    await using server = await running({}, fleet);
    for (const path of ['/silences', '/api/silences', '/api/alerts'])
      expect([path, (await asked(server.url + path, bearer('tagged'))).text]).toEqual([path, withoutSouth]);
    const { text } = await asked(`${server.url}/api/silences`, bearer('tagged'));
    expect(JSON.parse(text).silences).toMatchObject([{ by: 'the people who run Warmwarden', match: shownMatch }]);
  },
);

test('it holds at most its share of the live pages, and others keep theirs', async () => {
  await using server = await running({ liveLimits: { ...usualLimits, limitedReaders: 1 } });
  const over = new AbortController();
  const open = async (token: string) =>
    (await fetch(`${server.url}/events`, { headers: bearer(token), signal: over.signal })).status;
  expect([await open('tagged'), await open('tagged'), await open('named'), await open('ops')]).toEqual([
    200, 503, 200, 200,
  ]);
  over.abort();
});
