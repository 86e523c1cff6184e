// One workspace behind two keys: each mailbox is guarded once, under the first account that lists it, and its history goes with it; two mailboxes of one address are two.
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { statusLines } from '../../src/cli/status.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { type MovedDaemon, startMovedDaemon, type WrittenConfig } from '../scenario/moved-daemon.ts';
import { ending } from '../support/ending.ts';
import { startServer } from '../support/loopback.ts';
import { type Asked, OtherApi, type OtherMailbox, week } from '../support/other-api.ts';

const poll = {
  health: '*/10 * * * *',
  mailboxes: '* * * * *',
  stats: '*/5 * * * *',
  warmup: '*/5 * * * *',
  mailbox: '*/10 * * * *',
  dns: '17 */6 * * *',
  blacklist: '41 */6 * * *',
};
const ample = { requests_per_minute: 6_000, headroom: '0%' };

/** The daemon with two accounts of one API; `first` and `second` say what their keys see. */
async function twoKeys(
  given: {
    readonly accounts?: readonly string[];
    readonly expectErrors?: string[];
    /** Its first list is late. */
    readonly isFirstSlow?: true;
  } = {},
) {
  const { accounts: names = ['first', 'second'], expectErrors = [], isFirstSlow } = given;
  const api = await OtherApi.start();
  const hidden = new Set<string>();
  const keys = ['first', 'second'].map((name) => {
    const key = api.addKey({ sees: ({ id }) => !hidden.has(`${name} ${id}`) });
    return { name, key };
  });
  const [keyOne = '', keyTwo = ''] = keys.map(({ key }) => key);
  /** Lists that the second key asked for before the first one had any. */
  const early: Asked[] = [];
  api.fault = (asked) => {
    if (asked.path !== '/v1/mailboxes') return undefined;
    const hasFirst = api.log.some(({ path, key, status }) => path === asked.path && key === keyOne && status === 200);
    if (asked.key === keyTwo && !hasFirst) early.push(asked);
    return isFirstSlow && asked.key === keyOne && !hasFirst ? { kind: 'delay', ms: 500 } : undefined;
  };
  const burning = api.add('burning@acme.example', { id: 'm1' });
  const calm = api.add('calm@acme.example', { id: 'm2' });
  const accountOf = (name: string) => ({
    name,
    // One address, written in two ways.
    base_url: name === 'second' ? `${api.url.replace('http:', 'HTTP:')}/` : api.url,
    api_key: name === 'second' ? keyTwo : keyOne,
    ...ample,
  });
  const stage = await startMovedDaemon({ other: api, poll, file: { accounts: names.map(accountOf) }, expectErrors });
  return {
    api,
    stage,
    burning,
    calm,
    keyOne,
    keyTwo,
    early,
    bounce: (mailbox: OtherMailbox) => Object.assign(mailbox, { days: week(40, 6) }),
    /** From now on that key does not see the mailbox, or sees it again. */
    hide: (name: 'first' | 'second', { id }: OtherMailbox, isHidden = true) => {
      if (isHidden) hidden.add(`${name} ${id}`);
      else hidden.delete(`${name} ${id}`);
    },
    /** Requests about a mailbox that came with a key since then. */
    asked: (key: string, { id }: OtherMailbox, since = 0) =>
      api.log.filter((asked) => asked.key === key && asked.mailboxId === id && asked.at > since).length,
    guardedBy: ({ id }: OtherMailbox) =>
      [...stage.fleet().mailboxes()].filter((one) => one.id === id).map(({ account }) => account),
    elsewhere: async () => {
      type Shown = { accounts: { name: string; guarded_elsewhere: { id: string; account: string }[] }[] };
      const { accounts } = await stage.json<Shown>('/api/fleet');
      return Object.fromEntries(
        accounts.map((one) => [one.name, one.guarded_elsewhere.map(({ id, account }) => `${id} by ${account}`)]),
      );
    },
    modes: () => api.posts().map(({ mailboxId, key, body }) => [mailboxId, key === keyOne ? 'one' : 'two', body]),
    ...ending(stage, api),
  };
}

const recovery = (id: string, key: string) => [
  id,
  key,
  { mailbox_id: id, action: 'update_config', config: { warmup_mode: 'recovery' } },
];
const claimOf = (stage: MovedDaemon, email: string) => stage.mailbox(email).memory?.claim?.kind ?? null;

describe('one workspace behind two keys', () => {
  it('is guarded once, by the account that comes first in the file', async () => {
    await using it = await twoKeys();
    const { stage, api, burning, calm } = it;
    await stage.run(20 * minuteMs);
    expect([it.guardedBy(burning), it.guardedBy(calm)]).toEqual([['first'], ['first']]);
    expect(await it.elsewhere()).toEqual({ first: [], second: ['m1 by first', 'm2 by first'] });
    it.bounce(burning);
    await stage.run(hourMs);
    expect(it.modes()).toEqual([recovery('m1', 'one')]);
    expect(stage.notified('guard_acted')).toEqual(['event']);
    expect(stage.fleet().breaker(api.url).entries).toHaveLength(1);
    expect(it.asked(it.keyTwo, burning) + it.asked(it.keyTwo, calm)).toBe(0);
    const page = await stage.text('/');
    expect(page).toContain('2 mailboxes of its list are guarded by account first, whose key sees them, too');
    expect(page).not.toMatch(/No mailbox of (this account|account second) is guarded/);
    const paused = await stage.command('pause', { mailbox: 'second/m2' });
    expect(paused?.messages.join()).toContain('No guarded mailbox is called second/m2');
  });

  it('is not guarded by the second while the first list is on its way', async () => {
    await using it = await twoKeys({ isFirstSlow: true });
    const { stage, burning } = it;
    it.bounce(burning);
    await stage.run(30 * minuteMs);
    expect([it.early, it.asked(it.keyTwo, burning)]).toEqual([[], 0]);
    expect([it.guardedBy(burning), it.modes()]).toEqual([['first'], [recovery('m1', 'one')]]);
  });
});

describe('a mailbox that moves between accounts of one API', () => {
  it.each(['its key no longer sees it', 'the account is removed'])(
    'keeps the write stop of the account: %s',
    async (how) => {
      await using it = await twoKeys({ expectErrors: ['the API'] });
      const { stage, burning } = it;
      await stage.run(20 * minuteMs);
      await stage.command('writes', { off: true, account: 'first', mailbox: null, for_seconds: null });
      if (how === 'the account is removed') {
        const said = await stage.reload((config) => void config.accounts.shift(), { force: true });
        expect(said.messages.join('\n')).toMatch(
          /account second now guards 2 mailboxes of account first, .*\nwrites stay off for them, because they are off for account first \(/,
        );
      } else it.hide('first', burning);
      it.bounce(burning);
      await stage.run(3 * hourMs);
      expect([it.guardedBy(burning), it.modes()]).toEqual([['second'], []]);
      const scope = { kind: 'mailbox', account: 'second', mailboxId: 'm1', email: burning.email };
      expect(stage.fleet().writesOff(stage.clock.now())).toContainEqual(expect.objectContaining({ scope }));
    },
  );

  it('keeps history, claim and alerts, there and back', async () => {
    await using it = await twoKeys();
    const { stage, burning } = it;
    await stage.reload((config) => {
      config.alerts.channels.push({ name: 'ops', type: 'slack', url: stage.receiver.slackUrl });
    });
    await stage.run(20 * minuteMs);
    it.bounce(burning);
    burning.connectionError = 'the login failed';
    await stage.run(2 * hourMs);
    expect([claimOf(stage, burning.email), it.modes()]).toEqual(['recovery', [recovery('m1', 'one')]]);
    expect(stage.notified('mailbox_unwell')).toEqual(['firing']);
    const told = stage.receiver.slack().length;
    expect(told).toBeGreaterThan(0);
    const { memory } = stage.mailbox(burning.email);
    const movedAt = stage.clock.now();
    it.hide('first', burning);
    await stage.run(5 * minuteMs);
    expect(it.guardedBy(burning)).toEqual(['second']);
    expect(await it.elsewhere()).toEqual({ first: [], second: ['m2 by first'] });
    const after = stage.mailbox(burning.email);
    expect(after.memory).toMatchObject({ claim: memory?.claim, interventions: memory?.interventions });
    expect(after.action).toMatchObject({ account: 'second', state: 'confirmed', kind: 'recovery' });
    await stage.run(2 * hourMs);
    expect(it.asked(it.keyTwo, burning, movedAt)).toBeGreaterThan(20);
    expect(it.modes()).toHaveLength(1);
    const disconnected = stage.alerts('mailbox_unwell');
    expect(disconnected.map(({ account, status }) => [account, status])).toEqual([['second', 'firing']]);
    // People were notified of it already; a receiver that keeps alerts open gets its end, and the same under its new name.
    expect([stage.notified('mailbox_missing'), stage.receiver.slack().length]).toEqual([[], told]);
    expect(stage.notified('mailbox_unwell').toSorted()).toEqual(['firing', 'firing', 'resolved']);
    expect(stage.notified('guard_acted')).toEqual(['event']);
    await stage.restart();
    await stage.run(20 * minuteMs);
    expect([it.guardedBy(burning), claimOf(stage, burning.email)]).toEqual([['second'], 'recovery']);
    it.hide('first', burning, false);
    await stage.run(20 * minuteMs);
    expect([it.guardedBy(burning), claimOf(stage, burning.email)]).toEqual([['first'], 'recovery']);
    burning.connectionError = null;
    await stage.run(hourMs);
    expect(stage.alerts('mailbox_unwell')).toEqual([]);
    expect(it.modes()).toHaveLength(1);
  });
});

/** One address before several APIs: a request goes to the one that knows its key. */
function startGateway(apis: readonly OtherApi[]) {
  return startServer(async (request, response) => {
    const key = (request.headers.authorization ?? '').replace('Bearer ', '');
    const api = apis.find(({ keys }) => keys.has(key)) ?? apis[0];
    const answer = await fetch(`${api?.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(request.method === 'POST' && { body: await text(request) }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
}

describe('one id, and two addresses', () => {
  it('are two mailboxes behind a gateway: both are guarded, and neither goes on with what the other was', async () => {
    await using one = await OtherApi.start();
    await using two = await OtherApi.start();
    await using gateway = await startGateway([one, two]);
    const anna = one.add('anna@acme.example', { id: '1' });
    const bob = two.add('bob@beta.example', { id: '1' });
    const other = one.add('other@acme.example', { id: '2' });
    const accountOf = (name: string, api: OtherApi) => ({
      ...{ name, base_url: gateway.url, api_key: api.addKey() },
      ...ample,
    });
    const accounts = [accountOf('first', one), accountOf('second', two)];
    await using stage = await startMovedDaemon({ other: [one, two], poll, file: { accounts } });
    await stage.run(20 * minuteMs);
    const guarded = () => [...stage.fleet().mailboxes()].map(({ account, email }) => `${account}/${email}`).sort();
    expect(guarded()).toEqual(['first/anna@acme.example', 'first/other@acme.example', 'second/bob@beta.example']);
    anna.days = other.days = week(40, 6);
    await stage.run(hourMs);
    expect([anna.mode, bob.mode, claimOf(stage, anna.email)]).toEqual(['recovery', 'balanced', 'recovery']);
    const removed = await stage.reload((config) => void config.accounts.shift(), { force: true });
    expect(removed.messages).toContain(
      'Warmwarden leaves as they are, in recovery mode or paused, 2 mailboxes that it changed: first/anna@acme.example, first/other@acme.example',
    );
    await stage.run(20 * minuteMs);
    expect([guarded(), claimOf(stage, bob.email)]).toEqual([['second/bob@beta.example'], null]);
    // Nor does one that arrives later, with the id of a mailbox of the account that is gone.
    const carol = two.add('carol@beta.example', { id: '2' });
    await stage.run(20 * minuteMs);
    expect([other.mode, claimOf(stage, carol.email)]).toEqual(['recovery', null]);
    bob.days = week(40, 6);
    await stage.run(hourMs);
    expect(bob.mode).toBe('recovery');
  });

  it('stay one mailbox whose address changes while two keys see it', async () => {
    await using it = await twoKeys();
    const { stage, burning } = it;
    await stage.run(20 * minuteMs);
    // The second list shows the change before the first one does.
    const stale = JSON.stringify({ mailboxes: [{ id: 'm1', email: burning.email, status: 'active' }] });
    it.api.fault = ({ path, key }) =>
      path === '/v1/mailboxes' && key === it.keyOne ? { kind: 'answer', status: 200, body: stale } : undefined;
    await stage.run(2 * minuteMs);
    Object.assign(burning, { email: 'renamed@acme.example' });
    await stage.run(5 * minuteMs);
    expect([it.guardedBy(burning), it.asked(it.keyTwo, burning)]).toEqual([['first'], 0]);
    it.api.fault = () => undefined;
    await stage.run(5 * minuteMs);
    expect([it.guardedBy(burning), it.asked(it.keyTwo, burning)]).toEqual([['first'], 0]);
    expect(stage.mailbox('renamed@acme.example').account).toBe('first');
  });
});

it('when the first account no longer reads its list, the second one guards after ten minutes, until the first reads it again', async () => {
  await using it = await twoKeys({ expectErrors: ['the API refuses the key'] });
  const { stage, api, burning } = it;
  await stage.run(20 * minuteMs);
  const key = api.keys.get(it.keyOne);
  api.keys.delete(it.keyOne);
  await stage.run(8 * minuteMs);
  expect([it.guardedBy(burning), stage.notified('not_guarded', 'key rejected')]).toEqual([['first'], ['firing']]);
  await stage.run(5 * minuteMs);
  expect(it.guardedBy(burning)).toEqual(['second']);
  it.bounce(burning);
  await stage.run(hourMs);
  expect(it.modes()).toEqual([recovery('m1', 'two')]);
  if (key) api.keys.set(it.keyOne, key);
  await stage.run(5 * minuteMs);
  expect([it.guardedBy(burning), claimOf(stage, burning.email)]).toEqual([['first'], 'recovery']);
  expect(it.modes()).toHaveLength(1);
});

describe('an account that gets another name', () => {
  const rename = (config: WrittenConfig) => Object.assign(config.accounts[0] ?? {}, { name: 'renamed' });
  const prepared = async () => {
    const it = await twoKeys({ accounts: ['first'] });
    const { stage, burning } = it;
    await stage.run(20 * minuteMs);
    it.bounce(burning);
    burning.connectionError = 'the login failed';
    await stage.run(hourMs);
    await stage.command('writes', { off: true, account: 'first', mailbox: null, for_seconds: null });
    await stage.run(minuteMs);
    const [lost] = stage.alerts('mailbox_unwell');
    return { ...it, since: lost?.since ?? 0, memory: stage.mailbox(burning.email).memory };
  };
  type Prepared = Awaited<ReturnType<typeof prepared>>;
  const keeps = async ({ stage, burning, calm, ...it }: Prepared) => {
    expect([it.guardedBy(burning), it.guardedBy(calm)]).toEqual([['renamed'], ['renamed']]);
    const { memory, action } = stage.mailbox(burning.email);
    expect(memory).toMatchObject({ claim: it.memory?.claim, interventions: it.memory?.interventions });
    expect(action).toMatchObject({ account: 'renamed', state: 'confirmed' });
    expect(stage.fleet().writesAllowed('renamed', null, stage.clock.now())).toBe(false);
    it.bounce(calm);
    await stage.run(2 * hourMs);
    expect(it.modes()).toEqual([recovery('m1', 'one')]);
    const lost = stage.alerts('mailbox_unwell');
    expect(lost.map(({ account, status, since }) => [account, status, since])).toEqual([
      ['renamed', 'firing', it.since],
    ]);
    expect([stage.notified('guard_acted'), stage.notified('protection_off', 'account first')]).toEqual([['event'], []]);
    expect(await stage.text('/api/explain?mailbox=renamed/m1')).toContain('bounce_rate_over_limit');
  };

  it.each(['a reload, which says so', 'a restart'])(
    'keeps claims, interventions, alerts and the write stop: by %s',
    async (how) => {
      await using it = await prepared();
      if (how === 'a restart') await it.stage.restart(rename);
      else {
        const { messages } = await it.stage.reload(rename);
        const kept = 'account first is now called renamed: its 2 mailboxes keep their history, claims and alerts';
        expect(messages).toContain(kept);
        expect(messages.join()).not.toMatch(/no longer guarded|alert ".*" ends/);
      }
      await it.stage.run(minuteMs);
      await keeps(it);
    },
  );
});

it('two mailboxes of one address are told apart, and the page shows what the API says of each', async () => {
  await using api = await OtherApi.start();
  const one = api.add('sales@acme.example', { id: 'm1' });
  const two = api.add('sales@acme.example', { id: 'm2' });
  await using stage = await startMovedDaemon({ other: api, poll });
  await stage.run(20 * minuteMs);
  one.days = week(40, 6);
  two.connectionError = 'the login failed';
  await stage.run(hourMs);
  const titles = new Set(stage.receiver.alerts().map(({ title }) => title));
  expect(titles).toContain('sales@acme.example (m1): switched to recovery mode');
  expect(titles).toContain('sales@acme.example (m2): disconnected');
  const shown = statusLines(await stage.json('/api/fleet'), 99).join('\n');
  expect(shown).toContain('sales@acme.example (m1)');
  expect(shown).toContain('sales@acme.example (m2)');
  const ambiguous = await stage.command('pause', { mailbox: 'sales@acme.example' });
  expect(ambiguous?.messages[0]).toBe('sales@acme.example is ambiguous: name one of agency/m1, agency/m2.');
  const page = await stage.text('/mailboxes/agency/m2');
  const fact = (name: string) => new RegExp(`<dt>${name}</dt><dd>([^<]*)`).exec(page)?.[1]?.trim();
  expect(['Created', 'Warm-up started', 'Reply rate', 'DNS source', 'API version'].map(fact)).toEqual([
    '2026-01-05',
    '2026-01-05',
    '30%',
    'cached',
    '1.4.2',
  ]);
});
