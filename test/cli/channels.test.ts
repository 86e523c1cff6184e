// `warmwarden channels test`: what came back, in words, with an exit code; and no secret.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startReceiver, status } from '../outbox/receiver.ts';
import { commandLine } from '../support/command-line.ts';
import { ending } from '../support/ending.ts';
import { MailServer } from '../support/mail-server.ts';
import { Workplace } from '../support/process.ts';
import { RecipeHost } from '../support/recipe-service.ts';
import { slackFaults } from '../support/slack-limits.ts';
import { PagerDutyReceiver, routingKey } from '../support/strict-receivers.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const place = new Workplace();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let host: RecipeHost;
let mails: MailServer;
let pagerduty: PagerDutyReceiver;

beforeAll(async () => {
  mails = await MailServer.start({ password: 'hush-hush' });
  const email = { type: 'email', from: 'Warmwarden <alerts@acme.example>', to: 'ops@acme.example' };
  pagerduty = await PagerDutyReceiver.start(Date.now);
  receiver = await startReceiver();
  host = await RecipeHost.start();
  place.configure({
    // No channel needs the keys of accounts.
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: '$' + '{NO_KEY}' }],
    alerts: {
      channels: [
        { name: 'ops', type: 'slack', url: receiver.url },
        { name: 'hook', type: 'webhook', url: receiver.url, secret: [secret] },
        { name: 'am', type: 'alertmanager', url: receiver.url },
        { name: 'fix', type: 'recipe', base_url: host.baseUrl, api_key: host.key, recipe: 'at-risk' },
        { name: 'mail', ...email, url: mails.url() },
        { name: 'locked', ...email, url: mails.url('127.0.0.1', 'hush-not') },
        { name: 'chat', type: 'discord', url: receiver.url },
        { name: 'team', type: 'teams', url: receiver.url },
        { name: 'pager', type: 'pagerduty', url: pagerduty.url, routing_key: routingKey },
        { name: 'lost', type: 'pagerduty', url: pagerduty.url, routing_key: 'W'.repeat(32) },
        {
          ...{ name: 'sms', type: 'http', url: receiver.url, headers: { authorization: 'Bearer T0P-SECRET' } },
          ...{ secrets: { pin: 'T0P-SECRET' }, body: '{"pin":"{{secrets.pin}}","title":"{{title}}"}' },
        },
        { name: 'dead', type: 'slack', url: 'http://127.0.0.1:9/services/T0P-SECRET' },
      ],
    },
  });
});
afterAll(() => ending(receiver, host, mails, pagerduty, place)[Symbol.asyncDispose]());

async function channels(...args: readonly string[]) {
  const { stdout, stderr, code } = await commandLine(['channels', ...args, '--config', place.path('config.yaml')]);
  expect(stdout + stderr).not.toMatch(/T0P-SECRET|whsec_|hush|rk_live/);
  return { stdout, stderr, code };
}

test('a Slack channel that says ok', async () => {
  const { stdout, stderr, code } = await channels('test', 'ops');
  expect([stderr, code]).toEqual(['', 0]);
  expect(stdout).toMatch(/^The test of channel ops succeeded after [\d.]+ m?s: HTTP 200\.\nThe answer: ok\n$/);
  expect(slackFaults(JSON.parse(receiver.received.at(-1)?.body ?? ''))).toEqual([]);
});

test('a receiver that refuses: its status, why, and how its answer begins', async () => {
  receiver.answer = status(403, {}, `no\u001b[2J ${'x'.repeat(500)}`);
  const { stdout, stderr, code } = await channels('test', 'hook');
  receiver.answer = status(200, {}, 'ok');
  expect([stdout, code]).toEqual(['', 1]);
  expect(stderr).toMatch(/^The test of channel hook failed after .*: HTTP 403\.$/m);
  expect(stderr).toContain('The receiver answered 403.');
  expect(stderr).toMatch(/The answer: no \[2J x{190,}…/);
  const { body = '', headers = {} } = receiver.received.at(-1) ?? {};
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ type: 'test' });
});

test('every other type has its own test message; a recipe is looked up and not started', async () => {
  expect((await channels('test', 'am')).code).toBe(0);
  expect(JSON.parse(receiver.received.at(-1)?.body ?? '')).toMatchObject([
    { labels: { alertname: 'warmwarden_test' } },
  ]);
  expect((await channels('test', 'fix')).stdout).toContain('has the recipe at-risk. The test did not start it.');
  expect(host.of('POST', /./)).toEqual([]);
});

test('email, PagerDuty, Teams and Discord say what came back, and a wrong password or key in one sentence', async () => {
  const sent = await channels('test', 'mail');
  expect(sent.stdout).toMatch(/^The test of channel mail succeeded after .*: SMTP 250\.\nThe answer: 250 .*queued\n$/);
  expect(mails.received.map(({ mail }) => mail.subject)).toEqual(['A test from Warmwarden']);
  const locked = await channels('test', 'locked');
  expect([locked.code, locked.stderr]).toEqual([
    1,
    expect.stringContaining(
      'SMTP 535.\nThe mail server refuses the user name or the password (535 5.7.8 Wrong password).\n',
    ),
  ]);
  for (const name of ['chat', 'team', 'pager']) expect([name, (await channels('test', name)).code]).toEqual([name, 0]);
  const lost = await channels('test', 'lost');
  expect([lost.code, lost.stderr]).toEqual([
    1,
    expect.stringContaining('PagerDuty answered 400 (Event object is invalid'),
  ]);
  expect(lost.stderr).not.toContain('WWW');
});

test('a channel that nobody answers at, and one that does not exist', async () => {
  const dead = await channels('test', 'dead');
  expect(dead.code).toBe(1);
  expect(dead.stderr).toMatch(/Check its address \(host [^/]+\), and whether/);
  expect(dead.stderr).toContain('The receiver could not be reached (ECONNREFUSED).');
  const none = await channels('test', 'nobody');
  expect([none.code, none.stderr]).toEqual([
    2,
    'No channel is called nobody. The channels are: ops, hook, am, fix, mail, locked, chat, team, pager, lost, sms, dead.\n',
  ]);
});

test('a preview has what the channel would get in own words, and sends nothing; no output has a secret', async () => {
  const before = receiver.received.length;
  const { stdout, code } = await channels('preview', 'guard_acted', '--channel', 'sms');
  expect([code, receiver.received.length]).toEqual([0, before]);
  expect(stdout).toContain('"pin": "[hidden]",\n  "title": "Critical: bob@acme.example: warm-up paused"');
  expect(await channels('preview', 'restored', '--channel', 'fix')).toMatchObject({ code: 0 });
  vi.stubEnv('NO_KEY', 'sk_live_1234');
  const shown = await commandLine(['check', '--show', '--config', place.path('config.yaml')]);
  vi.unstubAllEnvs();
  expect(shown.stdout).toContain('authorization: "[hidden]"');
  expect(shown.stdout + shown.stderr).not.toContain('T0P-SECRET');
  receiver.answer = (response, { body, headers }) => response.writeHead(500).end(`${body} ${headers.authorization}`);
  const tested = await channels('test', 'sms');
  expect(tested.stderr).toContain('[hidden]');
  expect(receiver.received.at(-1)?.body).toContain('"pin":"T0P-SECRET"');
});
