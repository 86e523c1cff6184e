// An agency's three clients, each with an account, a tag and receivers of its own: through a long day none of them reads of another one.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { MovedClock } from '../../tools/simulator/moved-clock.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { Receiver } from '../support/receiver.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll } from './three-domains.ts';

const names = ['alpha', 'beta', 'gamma'] as const;
type Client = (typeof names)[number];

const emailsOf = (client: Client) =>
  Array.from({ length: 4 }, (_, number) => `${client}${number}@${client}${number}.example`);
const fleet = names.flatMap(emailsOf).map((email) => {
  return { email, provider: 'google', mode: 'balanced', startedDaysAgo: 60 } as const;
});
const bounces = (mailbox: string, rate: number, [from, until]: readonly [number, number]) =>
  ({ kind: 'bounce', mailbox, rate, from: from * hourMs, until: until * hourMs }) as const;
const scenario = {
  name: 'clients',
  summary: 'A breach, an emergency, and later every mailbox of three clients bounces at once.',
  fleet,
  incidents: [
    bounces('beta0@beta0.example', 0.5, [0, 3]),
    bounces('gamma0@gamma0.example', 1, [0, 3]),
    bounces('*', 0.75, [5, 7]),
  ],
};

/** Everything that the receiver of a client got, as one line a message. */
const texts = (receiver: Receiver) =>
  receiver.notified.map(({ text, headers }) => `${text} ${JSON.stringify(headers)}`.replaceAll('\n', ' '));

test('none of three clients ever reads an address, a name or a reason of another one', async () => {
  await using alpha = await Receiver.start();
  await using beta = await Receiver.start();
  await using gamma = await Receiver.start();
  const receivers = { alpha, beta, gamma };
  const channels = names.flatMap((name) => {
    const { hookUrl: url, slackUrl, secret } = receivers[name];
    return [
      { name, type: 'webhook', url, secret },
      { name: `${name}-machine`, type: 'alertmanager', url },
      { name: `${name}-chat`, type: 'slack', url: slackUrl },
      { name: `${name}-tagged`, type: 'webhook', url, secret },
    ];
  });
  const ofClient = (name: string) => [name, `${name}-machine`, `${name}-chat`];
  const routes = names.flatMap((name) => [
    { match: { account: name }, channels: ofClient(name) },
    { match: { tag: `client=${name}` }, channels: [`${name}-tagged`] },
  ]);
  const at = '0 20 * * *';
  const digests = [
    { at, channels: names.flatMap((name) => [name, `${name}-chat`]) },
    ...names.map((name) => ({ at, match: { tag: `client=${name}` }, channels: [`${name}-tagged`] })),
  ];
  const clients = Object.fromEntries(names.map((name) => [name, emailsOf(name)]));
  const alerts = { channels, routes, digests };
  const expectErrors = ['configuration refused'];
  const before = (_simulator: unknown, clock: MovedClock) => clock.advance(2 * hourMs);
  const options = { scenario, clients, poll, file: { alerts }, before, expectErrors };
  await using stage = await startMovedDaemon(options);
  const told = (name: Client, part: string) => texts(receivers[name]).filter((text) => text.includes(part)).length;

  const acted = (email: string) => stage.mailbox(email).action?.kind;
  await stage.run(20 * minuteMs);
  const both = () => acted('beta0@beta0.example') !== undefined && acted('gamma0@gamma0.example') === 'pause';
  await stage.until('a breach and an emergency', both, 2 * hourMs);
  const writes = async (off: boolean, change: { account?: string; mailbox?: string; reason?: string }) => {
    const done = await stage.command('writes', { off, mailbox: null, for_seconds: null, ...change });
    expect(done.result, done.messages.join(' ')).toBe('done');
    await stage.run(10 * minuteMs);
  };
  const scopes = [{ mailbox: 'beta/beta1@beta1.example' }, { account: 'beta' }, { reason: 'the list of beta is bad' }];
  for (const scope of scopes) await writes(true, scope);
  for (const name of names) expect(told(name, 'writes are OFF for all accounts'), name).toBeGreaterThan(0);
  for (const scope of scopes) await writes(false, scope);

  const isHeld = (name: string) => stage.breaker().entries.some(({ held, account }) => held && account === name);
  await stage.until('a hold on every account', () => names.every(isHeld), 5 * hourMs);
  await stage.run(20 * minuteMs);
  expect(Math.max(...names.map((name) => told(name, 'NO ACTION on')))).toBeGreaterThan(0);
  const shared = stage.fleet().incidents();
  const spans = shared.map(({ members }) => new Set(members.map(({ account }) => account)).size);
  expect(Math.max(...spans)).toBe(3);
  for (const name of names) expect(told(name, 'share: '), name).toBeGreaterThan(0);
  await stage.reload((config) => {
    const [, second] = config.accounts;
    Object.assign(second ?? {}, { overrides: [{ match: '*', guard: { enforce: false } }] });
  });
  await stage.run(10 * minuteMs);
  expect(told('beta', 'enforcement is OFF for account beta')).toBeGreaterThan(0);
  await stage.reload('accounts:\n  - name: beta\n    base_url: 7');
  await stage.run(10 * minuteMs);
  await stage.reload((config) => void config.accounts.splice(1, 1), { force: true });
  await stage.run(10 * minuteMs);
  expect(told('beta', 'account beta is no longer guarded')).toBeGreaterThan(0);
  await stage.command('breaker-apply', {});
  await stage.run(scenarioStart + 13 * hourMs - stage.clock.now());
  for (const name of names) {
    expect(told(name, 'Warmwarden on 10 March'), name).toBeGreaterThan(0);
    expect(told(name, `Warmwarden on 10 March (tag client=${name})`), name).toBe(1);
  }
  for (const name of names) {
    const foreign = new RegExp(names.filter((other) => other !== name).join('|'), 'i');
    expect(
      texts(receivers[name]).filter((text) => foreign.test(text)),
      `what ${name} reads of others`,
    ).toEqual([]);
  }
});
