// `warmwarden check --online` against the simulator: what it asks, what it says, and what it can't say.
import { expect, test } from 'vitest';
import { forecastOf, type Gaps } from '../../src/api/poll/forecast.ts';
import { askOnline, type Neighbor, type OnlineAccount, onlineText } from '../../src/cli/check/online.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { routes } from '../../src/core/answers.ts';
import { minuteMs } from '../../src/core/time.ts';
import { createLog, systemClock, type World } from '../../src/world/world.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { ann, serve } from '../simulator/served.ts';
import { commandLine } from '../support/command-line.ts';
import { Workplace } from '../support/process.ts';

const every = { shortestMs: 15 * minuteMs, longestMs: 15 * minuteMs };
const gaps = Object.fromEntries(routes.map((route) => [route, every])) as Gaps;
const aForecast = { allowedPerMinute: 97, sparePerMinute: 50, headroomPpm: 30_000, gaps, earlyMs: minuteMs };

const clock = systemClock();
const world: World = {
  clock,
  random: () => 0.5,
  log: createLog({ level: 'silent', format: 'json' }, clock),
  command: 'warmwarden',
};

async function stage(account: object = {}, change: object = {}) {
  const served = await serve();
  const workplace = new Workplace();
  const named = { name: 'acme', base_url: served.simulator.url, api_key: demoKey, ...account };
  const file = workplace.configure({ accounts: [named], ...change });
  const loaded = loadConfig(file, {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const config: Config = loaded.config;
  return {
    config,
    file,
    requests: () => served.simulator.requests.map(({ method, path }) => `${method} ${path}`),
    emails: served.simulator.fleet.mailboxes().map(({ email }) => email),
    [Symbol.asyncDispose]: async () => {
      workplace[Symbol.dispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

test('asks each account for each kind of answer once, reads only, and says whom it would guard and how old data would get', async () => {
  await using api = await stage();
  const accounts = await askOnline(api.config, world, null);
  const asked = api.requests().map((request) => request.replace(/\?.*/, '').replace(/(mailboxes)\/.*/, '$1/ID'));
  expect(asked).toEqual(
    ['health', 'mailboxes', 'warmup', 'stats', 'mailboxes/ID', 'dns', 'blacklist'].map((path) => `GET /v1/${path}`),
  );
  const count = api.emails.length;
  const text = onlineText(accounts, false);
  expect(text).toContain(`acme: the API answers (health says ok); ${count} mailboxes in the list, ${count} selected\n`);
  expect(text).toMatch(
    /mailboxes at 97 requests a minute: the cadence needs \d+ a minute, and Warmwarden uses at most \d+; stats will be up to \d+ (s|min) old/,
  );
  expect(text).toMatch(
    / {2}first sweep: every mailbox is judged about \d+ (s|min) after the first start\n {2}.* after a second look, within about a minute; on an emergency at once\n/,
  );
  expect(text).toContain('cannot be proved without writing');
});

test('names mailboxes that no rule selects, and rules that select nobody', async () => {
  const overrides = [{ match: '*@nowhere.example', guard: { enforce: false } }];
  await using api = await stage({ mailboxes: { include: [ann.email, 'nobody@*'] }, overrides });
  const [account] = await askOnline(api.config, world, null);
  expect(account?.selected).toBe(1);
  expect(account?.unselected).toEqual(api.emails.filter((email) => email !== ann.email));
  expect(account?.idleRules).toEqual([
    'accounts[0].mailboxes.include[1] "nobody@*" matches no mailbox',
    'accounts[0].overrides[0].match "*@nowhere.example" matches no mailbox',
  ]);
});

test('where two keys see the same mailboxes, what one account leaves to the other is no fault of the configuration', async () => {
  await using api = await stage({ mailboxes: { include: [ann.email] } });
  const [first] = api.config.accounts;
  if (!first) throw new Error('an account');
  const [other = ''] = api.emails.filter((email) => email !== ann.email);
  const second = { ...first, name: 'beta', mailboxes: { ...first.mailboxes, include: [other] } };
  const text = onlineText(await askOnline({ ...api.config, accounts: [first, second] }, world, null), false);
  const [ofAcme, ofBeta] = text.split('beta: ');
  expect(ofAcme).toContain(`\n  this account does not select 1 mailbox that its key can see: ${other}\n`);
  expect(ofBeta).toContain(`\n  this account does not select 1 mailbox that its key can see: ${ann.email}\n`);
});

test('when no account has a mailbox to guard, that is a problem and the exit code 1; without --online it is none', async () => {
  await using api = await stage({ mailboxes: { include: ['nobody@*'] } });
  const text = onlineText(await askOnline(api.config, world, null), false);
  expect(text).toContain('\n  No mailbox of this account is guarded: change mailboxes.include or mailboxes.exclude\n');
  expect(text).toMatch(/\nProblem: no mailbox is guarded\.\n$/);
  const codes = [];
  for (const online of [[], ['--online'], ['--online', '--json']])
    codes.push((await commandLine(['check', '--config', api.file, ...online])).code);
  expect(codes).toEqual([0, 1, 1]);
});

test('a rejected key is a failure of its account, in words, and without the key', async () => {
  await using api = await stage({ api_key: 'sk_live_somebody_elses' });
  const accounts = await askOnline(api.config, world, null);
  const text = onlineText(accounts, false);
  expect(accounts[0]?.failure).toContain('the key is rejected');
  expect(text).toMatch(/^acme: FAILED: the key is rejected/);
  expect(text).not.toContain('somebody_elses');
});

test('beside a running daemon it takes its requests from the headroom, and asks nothing where there is none', async () => {
  await using api = await stage({ headroom: '1%' });
  const [account] = await askOnline(api.config, world, { accounts: [] });
  expect([account?.failure, api.requests()]).toEqual([expect.stringContaining('headroom leaves no request'), []]);
});

test('with several accounts it says how long the first sweep of all takes', () => {
  const account = (name: string, selected: number, firstSweepMs: number): OnlineAccount => ({
    account: name,
    health: 'health says ok',
    failure: null,
    refused: [],
    cut: null,
    listed: selected,
    selected,
    guarded: null,
    unselected: [],
    idleRules: [],
    guardedElsewhere: [],
    clockAheadMs: null,
    forecast: { ...forecastOf({ ...aForecast, mailboxes: selected }), firstSweepMs },
  });
  const accounts = [account('acme', 100, 2 * minuteMs), account('beta', 1_000, 22 * minuteMs)];
  expect(onlineText(accounts, false)).toContain(
    'First sweep of all 1,100 mailboxes: about 22 min; beta takes longest.\n',
  );
  expect(onlineText(accounts.slice(0, 1), false)).not.toContain('First sweep of all');
});

test('a cadence that does not fit is summed up, with what would mend it', async () => {
  const poll = { stats: '*/5 * * * * *', warmup: '*/5 * * * * *' };
  await using api = await stage({ requests_per_minute: 30 }, { poll });
  const text = onlineText(await askOnline(api.config, world, null), false);
  expect(text).toMatch(
    /A key with \d+ requests a minute would be enough \(plan pro: 100\)\. Or choose a cadence with stats every/,
  );
});

test('beside a running daemon it counts with the share of the limit that the daemon takes, unless headroom is written out', async () => {
  const beside = {
    accounts: [{ name: 'acme', requests_per_minute: 450, limit_per_minute: 500 }],
  } as unknown as Neighbor;
  const allowed = async (account: object, neighbor: Neighbor) => {
    await using api = await stage(account);
    return (await askOnline(api.config, world, neighbor))[0]?.forecast?.allowedPerMinute;
  };
  expect(await allowed({}, beside)).toBe(90);
  expect(await allowed({ headroom: '20%' }, beside)).toBe(80);
  expect(await allowed({}, { accounts: [] })).toBe(97);
});
