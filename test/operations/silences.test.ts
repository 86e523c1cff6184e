// A person's silence over the socket: what it refuses, what it says, that it survives, and how the command line shows it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { linksOf } from '../../src/channels/message-text.ts';
import { askDaemon } from '../../src/cli/daemon.ts';
import { type Alert, alertId } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MuteTime } from '../../src/core/time.ts';
import { type CommandSocket, startCommandSocket } from '../../src/operations/socket.ts';
import { Store } from '../../src/store/store.ts';
import { preparedAt } from '../../src/web/commands/prepared.ts';
import { alertCommands } from '../../src/web/page/parts/command-links.ts';
import { acknowledgedLine } from '../../src/web/page/parts/items.ts';
import { systemClock } from '../../src/world/world.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { messageWith } from '../channels/people.ts';
import { commandLine } from '../support/command-line.ts';
import { newFolder } from '../support/new-folder.ts';
import { silentWorld } from '../support/silent-world.ts';
import { jsonAt, type Running, serve } from '../web/running-server.ts';
import { operateOn, roomsOf } from './rooms.ts';

const asker = { by: 'ann', reason: 'the provider moves' };
let folder: string;
/** Mute times of the configuration. */
let mutes: readonly MuteTime[] = [];
let path: string;
let store: Store;
let fleet: Fleet;
let server: Running;
let socket: CommandSocket;

beforeEach(async () => {
  folder = newFolder();
  path = join(folder, 'w.db');
  const world = silentWorld();
  store = await Store.open(path, world.clock.now(), { clock: world.clock });
  fleet = new Fleet();
  fleet.putAccount({ name: 'acme' } as Parameters<Fleet['putAccount']>[0]);
  fleet.putAlert(sampleAlert(1));
  fleet.putAlert(sampleAlert(2, { rule: 'dns_failing', object: 'acme.example', email: null, mailboxId: null }));
  const operate = operateOn(roomsOf(fleet, store, world));
  server = await serve(fleet, { world, muteTimes: () => mutes, operate: () => operate });
  socket = await startCommandSocket(path, server.answer);
  writeFileSync(
    join(folder, 'config.yaml'),
    JSON.stringify({
      accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }],
      store: { url: 'sqlite:./w.db' },
    }),
  );
});

afterEach(async () => {
  await socket.close();
  await server.close();
  await store.close();
});

const run = (...argv: readonly string[]) => commandLine(['silence', ...argv, '--config', join(folder, 'config.yaml')]);
const said = async (...argv: readonly string[]) => (await run(...argv)).stdout;

test('a silence that fits nothing, or everything, is refused with what there is', async () => {
  fleet.tags = { ...fleet.tags, all: () => ['client=north'] };
  const refusals: readonly (readonly [object, RegExp])[] = [
    [{}, /^A silence needs .*--rule/],
    [{ rule: ['dns_fialing'] }, /^No alert rule is called dns_fialing \(did you mean dns_failing\?\)\.$/],
    [{ rule: ['x'] }, /called x\. The rules are: not_guarded, /],
    [{ account: ['acne'] }, /^No account is called acne \(did you mean acme\?\)\.$/],
    [{ tag: ['client=nort'] }, /^No tag is called client=nort \(did you mean client=north\?\)\.$/],
    [{ rule: ['protection_*'] }, /^No silence mutes protection_off: /],
    [{ colour: ['red'] }, /./],
  ];
  for (const [match, said] of refusals) {
    const outcome = await askDaemon(path, 'silence-add', { match, for_seconds: 3_600, ...asker });
    expect(outcome).toEqual({ result: 'invalid', messages: [expect.stringMatching(said)] });
  }
  expect(fleet.silences(systemClock().now())).toEqual([]);
});

test('no silence is offered for a write stop, which none mutes', () => {
  const writesOff = sampleAlert(3, { rule: 'protection_off', object: 'writes' });
  const offered = (alert: Alert) => {
    const message = { incident: null, rule: alert.rule, account: 'acme', transitions: [{ kind: 'firing', alert }] };
    const page = { pageUrl: 'https://w.example', publicUrl: 'https://w.example' };
    const links = linksOf(message as unknown as GroupMessage, page).map(({ label }) => label);
    return [links.includes('Silence 4 h'), String(alertCommands(alert, null)).includes('Silence 4 h')];
  };
  expect([offered(sampleAlert(1)), offered(writesOff)]).toEqual([
    [true, true],
    [false, false],
  ]);
});

test('a silence by tag mutes the alerts of its mailboxes', async () => {
  fleet.tags = {
    all: () => ['client=north'],
    of: ({ id }) => (id === 'm1' ? ['client=north'] : []),
    ofAccount: () => [],
    choicesOf: () => [],
  };
  const more = ['--tag', 'client=*', '--provider', '*', '--for', '1h', '--reason', 'a move', '--yes'];
  expect(await said('add', ...more)).toMatch(/: tag client=\*; provider \*\. It matches no alerts/);
  expect(await said('add', ...more.toSpliced(2, 2))).toMatch(/: tag client=\*\. It matches 1 alert that is firing now/);
});

test('a silence says how many it mutes and that it mutes what the guard does too, survives a restart, and ends by its id', async () => {
  const outcome = await askDaemon(path, 'silence-add', { match: { domain: ['acme.*'] }, for_seconds: 3_600, ...asker });
  expect(outcome.result).toBe('done');
  expect(outcome.messages[0]).toMatch(/It matches 2 alerts that are firing now\.$/);
  expect(outcome.messages[2]).toMatch(/also mutes messages about what Warmwarden does/);
  const [silence] = (await store.loadPicture()).silences;
  expect(silence).toMatchObject({ match: { domain: ['acme.*'] }, ...asker });
  const listed = JSON.parse(await said('list', '--json'));
  expect(listed.silences).toMatchObject([{ id: silence?.id, by: 'ann', reason: 'the provider moves' }]);
  expect(await said('expire', silence?.id ?? '', '--yes')).toContain(`Silence ${silence?.id} has expired`);
  expect(await said('list')).toBe('No silence is active.\n');
  const stderr = expect.stringContaining('No active silence has the id');
  expect(await run('expire', silence?.id ?? '', '--yes')).toMatchObject({ code: 2, stderr });
  expect(await run('expire', 'other', '--yes')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'No active silence has the id other. See `warmwarden silence list`.\n',
  });
});

test('an alert is acknowledged once, by its id, with who and why, and survives a restart; what ended is not', async () => {
  const alert = sampleAlert(1);
  const off = sampleAlert(3, { rule: 'protection_off', object: 'writes' });
  for (const one of [alert, off]) fleet.putAlert(one);
  await store.recordAlerts({ changed: [alert, off], dropped: [], transitions: [] });
  const ask = (id: string, more = {}) => askDaemon(path, 'acknowledge', { alert: id, ...asker, ...more });
  expect(await ask('other')).toMatchObject({ result: 'invalid', messages: [expect.stringContaining('alerts list')] });
  const dry = await ask(alertId(alert), { dry_run: true });
  expect([dry.result, fleet.alert(alert.fingerprint)]).toEqual(['planned', alert]);
  expect((await ask(alertId(alert), { plan: dry.plan })).result).toBe('done');
  expect((await ask(off.fingerprint)).messages[1]).toContain('Its daily reminder stays.');
  const { alerts } = await store.loadPicture();
  expect(alerts).toMatchObject([{ acknowledged: asker }, { acknowledged: asker }]);
  expect(fleet.alert(alert.fingerprint)?.acknowledged).toEqual(alerts[0]?.acknowledged);
  const again = await ask(alertId(alert));
  expect([again.result, again.messages[0]]).toEqual([
    'no_change',
    expect.stringMatching(/Acknowledged by ann on .*: the provider moves\.$/),
  ]);
  const body = await jsonAt(server, '/api/alerts');
  expect(body).toMatchObject({ alerts: expect.arrayContaining([expect.objectContaining({ id: alertId(alert) })]) });
  expect(JSON.stringify(body)).toContain('"acknowledged":{"by":"ann","reason":"the provider moves","at":"');
  // The second alert is in the picture alone: its end was stored meanwhile.
  const [, ended] = [...fleet.alerts()];
  expect(await ask(ended?.fingerprint ?? '')).toMatchObject({ result: 'no_change' });
  expect(fleet.alert(ended?.fingerprint ?? '')).toEqual(ended);
});

test('the link of a message prepares the acknowledgement of this firing; an acknowledged or disarming alert has none', () => {
  const page = { pageUrl: 'https://w.example', publicUrl: 'https://w.example' };
  const linkOf = (...alerts: readonly Alert[]) =>
    linksOf(messageWith(alerts.map((one) => firing(one))), page).find(({ name }) => name === 'ack_url')?.url;
  const alert = sampleAlert(1);
  const { pathname, searchParams: asked } = new URL(linkOf(alert) ?? '');
  const prepared = preparedAt({ path: pathname, asked, mailbox: () => undefined });
  expect(prepared).toMatchObject({ operation: 'acknowledge', requests: [{ body: { alert: alertId(alert) } }] });
  expect(linkOf(alert, sampleAlert(2))).toBe('https://w.example/alerts?rule=stale_data&account=acme');
  const acknowledged = { ...alert, acknowledged: { by: 'ann', reason: '', at: 0 } };
  for (const one of [acknowledged, sampleAlert(3, { rule: 'protection_off', object: 'writes' })]) {
    expect([linkOf(one), String(alertCommands(one, null)).includes('Acknowledge')]).toEqual([undefined, false]);
  }
  expect(String(alertCommands(alert, null))).toContain('do=acknowledge');
  expect(String(acknowledgedLine(acknowledged))).toContain('by ann');
});

test('a window of every week mutes when it is on, survives a restart, and is listed until it is expired', async () => {
  const ask = ['--rule', 'stale_*', '--for', '2h', '--reason', 'the weekly update', '--yes'];
  const begun = await said('add', ...ask, '--from', '2026-03-22 22:00', '--every', 'week');
  expect(begun).toMatch(/ lasts (from \d+ \w+ 22:00 UTC )?until \d+ \w+ 00:00 UTC, every week: rule stale_\*/);
  expect(await said('list')).toMatch(/(next: \d+ \w+ 22:00 UTC to )?\d+ \w+ 00:00 UTC, every week {2}rule stale_\*/);
  const [stored] = (await store.loadPicture()).silences;
  expect(stored).toMatchObject({ repeats: { every: 'week', timeZone: 'UTC', ends: null } });
  const { silences } = JSON.parse(await said('list', '--json'));
  expect(silences).toMatchObject([{ id: stored?.id, repeats: { every: 'week', time_zone: 'UTC', ends: null } }]);
  expect(await said('expire', stored?.id ?? '', '--yes')).toContain('has expired');
  expect(await said('list')).toBe('No silence is active.\n');
});

test('the list shows when a repetition ends', async () => {
  const ask = ['--rule', 'stale_*', '--for', '2h', '--reason', 'the update', '--every', 'day', '--yes'];
  await said('add', ...ask, '--from', '2026-03-22 22:00', '--until', '2098-12-31');
  expect(await said('list')).toMatch(/00:00 UTC, every day until 1 January 00:00 UTC {2}rule stale_\*/);
  const [stored] = (await store.loadPicture()).silences;
  await said('expire', stored?.id ?? '', '--yes');
});

test.each([
  ['--from', 'tomorrow', /"tomorrow" is not a time: write it like 2026-12-05 22:00/],
  ['--from', '2026-02-30', /"2026-02-30" is not a time/],
  ['--from', '2020-01-01 22:00', /would already be over/],
  ['--until', '2099-01-01', /until needs every/],
  ['--every day --until', '2020-01-01', /would end before it begins/],
  ['--every day --for', '24h', /shorter than a day/],
])('%s %s is refused', async (options, value, said) => {
  const ask = ['add', '--rule', 'stale_*', '--for', '2h', '--reason', 'known', ...options.split(' '), value, '--yes'];
  expect(await run(...ask)).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
  expect(fleet.knownSilences(systemClock().now())).toEqual([]);
});

test('the list names the mute times that are on, and until when', async () => {
  const today = (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const)[new Date().getUTCDay()] ?? 'sun';
  mutes = [
    { name: 'always-today', timeZone: 'UTC', weekly: [{ days: [today] }] },
    { name: 'never', timeZone: 'UTC', weekly: [{ days: [], fromMs: 0, untilMs: 1 }] },
  ];
  expect(await said('list')).toMatch(/^Mute time always-today is on until .* 00:00 UTC\.\nNo silence is active\.\n$/);
  const { mute_times: on } = JSON.parse(await said('list', '--json'));
  expect(on).toEqual([{ name: 'always-today', until: expect.stringMatching(/T00:00:00/) }]);
  mutes = [];
});

test('the command line begins one, and wants an end and a reason', async () => {
  expect(
    await said('add', '--rule', 'stale_*', '--severity', 'warning', '--for', '2h', '--reason', 'known', '--yes'),
  ).toMatch(
    /^Silence \S+ lasts until \d+ \w+ \d\d:\d\d UTC: severity warning; rule stale_\*\. It matches 1 alert that/,
  );
  expect(await said('list')).toMatch(
    /^UNTIL +MATCHES +BY +REASON +ID\n.* UTC {2}severity warning; rule stale_\* {2}\S+ +known {2,}[\w-]+\n$/,
  );
  const stderr = expect.stringContaining("required option '--for <duration>'");
  expect(await run('add', '--rule', 'stale_*', '--reason', 'known')).toMatchObject({ code: 2, stderr });
});
