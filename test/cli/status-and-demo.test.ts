// `warmwarden status`: the whole fleet, whole lines, and an exit code that says whether it is guarded.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noAlerts, now } from '../store/records.ts';
import { commandLine } from '../support/command-line.ts';
import { account, action, alert, exampleFleet, mailbox, verdict } from '../web/example-fleet.ts';
import { type Running, serve } from '../web/running-server.ts';

const mailboxes = 250;
const firing = Array.from({ length: 1_030 }, (_, index) =>
  alert({
    rule: 'stale_data',
    object: `o${index}`,
    facts: { title: `trouble ${index}`, sentences: [`Look at o${index}.`], numbers: {} },
  }),
);
const longName = `${'a'.repeat(64)}@${'long.'.repeat(12)}example`;

let server: Running;

beforeAll(async () => {
  const fleet = new Fleet();
  for (let index = 0; index < mailboxes; index += 1)
    fleet.putMailbox(mailbox(`m${index}`, index === 0 ? longName : `m${index}@a.example`));
  fleet.putAlerts({ ...noAlerts, changed: firing });
  server = await serve(fleet);
});

afterAll(() => server[Symbol.asyncDispose]());

const status = (...more: readonly string[]) => commandLine(['status', '--url', server.url, ...more]);

test('--json and --all show every mailbox', async () => {
  expect(JSON.parse((await status('--json')).stdout).mailboxes).toHaveLength(mailboxes);
  const { stdout } = await status('--all');
  expect(stdout.split('\n').filter((line) => line.includes('example'))).toHaveLength(mailboxes);
});

test('1 says that an account cannot be read or written, that it lacks a mailbox, that polling has not started or that the store fails, and nothing else does', async () => {
  const codeOf = async (change: (fleet: Fleet) => void) => {
    const fleet = exampleFleet();
    change(fleet);
    await using server = await serve(fleet);
    return (await commandLine(['status', '--url', server.url])).code;
  };
  const failure = { said: 'the disk is full', remedy: 'Make room.', lasting: false };
  const codes = [
    await codeOf((fleet) =>
      fleet.putAlerts({ ...noAlerts, changed: [alert({ rule: 'dns_failing', severity: 'critical' })] }),
    ),
    await codeOf((fleet) => fleet.putAccount(account('acme', { failingSince: now }))),
    await codeOf((fleet) => fleet.putAccount(account('acme', { keyWrites: false }))),
    await codeOf((fleet) => fleet.putAccount(account('acme', { unlisted: ['tpyo@acme.example'] }))),
    await codeOf((fleet) => fleet.putStoreFailure(failure)),
    await codeOf((fleet) => fleet.putAccount(account('acme', { listed: false, lastSuccessAt: null }))),
    await codeOf((fleet) => fleet.putGuarding([{ account: 'acme', startingSince: now }])),
  ];
  expect(codes).toEqual([0, 1, 1, 1, 1, 1, 1]);
});

test('a mailbox that a person paused through Warmwarden names the person', async () => {
  const fleet = exampleFleet();
  const paused = verdict({ reason: 'already_paused', run: 'paused' });
  const m9 = mailbox('m9', 'box9@acme.example', { stats: null, verdict: { at: now, answer: paused } });
  const by = { name: 'root', reason: 'a campaign' };
  fleet.putMailbox({ ...m9, action: action('a9', m9, { kind: 'pause', state: 'confirmed', by }) });
  await using server = await serve(fleet);
  const { stdout } = await commandLine(['status', '--url', server.url]);
  expect(stdout).toContain('Paused by root ');
  expect(stdout).not.toContain('Paused by others');
  const json = JSON.parse((await commandLine(['status', '--json', '--url', server.url])).stdout);
  const names = json.mailboxes.flatMap(({ paused_by: name }: { paused_by: string | null }) => name ?? []);
  expect(names).toEqual(['root']);
});

test('what is piped is never cut, and no mailbox is left out; many alerts of one rule are one line, and one entry of the JSON', async () => {
  const { stdout } = await status();
  expect(stdout).toContain(longName);
  expect(stdout.split('\n').filter((line) => line.includes('example'))).toHaveLength(mailboxes);
  expect(stdout.split('\n').filter((line) => /^(warning|critical) /.test(line))).toEqual([
    'warning   1,030 alerts: stale statistics',
  ]);
  expect(stdout).not.toMatch(/trouble | more /);
  const { alerts, alerts_firing: count, alert_groups: groups } = JSON.parse((await status('--json')).stdout);
  expect([alerts.length, count]).toEqual([20, firing.length]);
  expect(groups).toMatchObject([{ rule: 'stale_data', count: firing.length, title: 'trouble 0' }]);
});

test('alerts list has every alert, however many the daemon gives at once', async () => {
  const list = await commandLine(['alerts', 'list', '--url', server.url]);
  expect(list.stdout.split('\n').filter((line) => line.includes('trouble '))).toHaveLength(firing.length);
  const { stdout } = await commandLine(['alerts', 'list', '--url', server.url, '--details']);
  expect(stdout.split('\n').filter((line) => line.includes('trouble '))).toHaveLength(firing.length);
  for (const { facts } of firing) for (const sentence of facts.sentences) expect(stdout).toContain(sentence);
  const { total, alerts } = JSON.parse((await commandLine(['alerts', 'list', '--url', server.url, '--json'])).stdout);
  expect([total, alerts.length]).toEqual([firing.length, firing.length]);
});

test('a demo whose port is in use says so, when the port was asked for', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const demo = await commandLine(['demo', '--port', String(port)]);
  expect(demo.code).toBe(1);
  expect(demo.stderr).toContain(`${port} is in use`);
  server.close();
});
