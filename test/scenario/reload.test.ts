// A reload in the middle of everything: a breach, an open intent, a pending alert, a receiver or a store that fails, a broken file.
import { unlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { LoadedConfig } from '../../src/config/load.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { Reloader, type ReloadParts } from '../../src/daemon/reload/reloader.ts';
import { nextTurn } from '../../src/world/world.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { answerWith, emergencyWeek, OtherApi, week } from '../support/other-api.ts';
import { type MovedDaemon, type MovedOptions, startMovedDaemon, type WrittenConfig } from './moved-daemon.ts';

/** Loses its login at 14:30. */
const samuel = 'samuel.ito@quarrystone.example';
const poll = {
  health: '0 * * * *',
  mailboxes: '*/30 * * * *',
  stats: '*/10 * * * *',
  warmup: '*/30 * * * *',
  mailbox: '*/20 * * * *',
};
const begin = (more: MovedOptions = {}) =>
  startMovedDaemon({ scenario: stormOf(amelia, oliver, samuel), poll, second: [oliver, samuel], ...more });

const slower = (config: WrittenConfig) => Object.assign(config.accounts[0] ?? {}, { headroom: '20%' });
const withoutSecond = (config: WrittenConfig) => void config.accounts.splice(1);
const open = (stage: MovedDaemon) =>
  stage.until('the intent', () => stage.mailbox(amelia).action?.state === 'open', 4 * hourMs);

test('while an action is under way and a receiver fails it loses nothing and doubles nothing', async () => {
  await using stage = await begin();
  stage.receiver.answer = () => 503;
  await stage.run(minuteMs);
  await open(stage);
  const said = await stage.reload((config) => {
    slower(config);
    config.alerts.channels.push({ name: 'ops', type: 'slack', url: stage.receiver.slackUrl });
  });
  expect([said.result, said.messages[0]]).toEqual(['done', `Reloaded: ${stage.file} is in force.`]);
  expect(said.messages).toContain('accounts[agency].headroom: 3% -> 20%');
  expect(said.messages).toContain('account agency restarts its polling');
  const tagged = await stage.reload((config) => Object.assign(config.accounts[0] ?? {}, { tags: ['north'] }));
  expect(tagged.messages.join(' ')).not.toContain('restarts its polling');
  expect(stage.mailbox(amelia).action?.state).toBe('confirmed');
  await stage.run(2 * minuteMs);
  stage.receiver.answer = () => 200;
  await stage.run(2 * hourMs);
  expect([stage.made(), stage.notified('guard_acted')]).toEqual([[`${amelia} recovery`], ['event']]);
  expect(stage.receiver.slack().length).toBeGreaterThan(0);
  const ids = stage.receiver.notified.filter(({ to, status }) => to === 'hook' && status === 200);
  expect(new Set(ids.map(({ headers }) => headers['webhook-id'])).size).toBe(ids.length);
});

test('a mailbox that is excluded while its action is under way leaves once the outcome is told', async () => {
  await using api = await OtherApi.start(5);
  api.add('ann@acme.example', { id: 'ann', days: [...emergencyWeek] });
  for (const mailbox of api.mailboxes.values()) if (mailbox.id !== 'ann') mailbox.days = week(40, 0);
  let isBlind = true;
  // The pause is done, but its answer and its read-backs fail until a list was read after the reload.
  api.fault = ({ method, path, mailboxId }) => {
    if (method === 'POST') return { ...answerWith(503, {}), applied: true } as const;
    const isReadBack = path === '/v1/warmup' && mailboxId === 'ann' && api.posts().length > 0;
    return isBlind && isReadBack ? answerWith(503, {}) : undefined;
  };
  await using stage = await startMovedDaemon({ other: api, poll });
  await stage.until('the intent', () => stage.mailbox('ann@acme.example').action?.state === 'open', hourMs);
  const lists = () => api.reads('/v1/mailboxes').length;
  const before = lists();
  await stage.reload(
    (config) => Object.assign(config.accounts[0] ?? {}, { mailboxes: { exclude: ['ann@acme.example'] } }),
    { force: true },
  );
  await stage.until('a list', () => lists() > before, minuteMs);
  isBlind = false;
  await stage.run(hourMs);
  expect([stage.notified('guard_acted'), api.posts().length, stage.fleet().mailboxCount()]).toEqual([['event'], 1, 5]);
});

test('a broken file, one with a variable that is not set, and none change nothing: one alert, until the next good one', async () => {
  await using stage = await begin({ expectErrors: ['configuration refused'] });
  await stage.run(11 * minuteMs);
  const at = stage.clock.now();
  const half = await stage.reload('accounts:\n  - name: agency\n    base_url: "https://exam');
  expect(half.result).toBe('invalid');
  expect(half.messages.join('\n')).toMatch(/config\.yaml:3:\d+ .*\n.*stays in force/);
  const unset = await stage.reload((config) => Object.assign(config.accounts[1] ?? {}, { api_key: `\${NO_SUCH}` }));
  expect(unset.messages[0]).toContain('the environment variable NO_SUCH is not set');
  const [, { api_key: _, ...second } = {}] = stage.written().accounts;
  unlinkSync(stage.file);
  expect((await stage.ask({})).messages[0]).toContain("the file can't be read: it does not exist");
  await stage.run(5 * minuteMs);
  expect([stage.notified('config_wrong'), stage.asked(amelia, at), stage.fleet().mailboxCount()]).toEqual([
    ['firing'],
    0,
    3,
  ]);
  const mended = await stage.reload((config) => {
    config.accounts[1] = { ...second, api_key: 'sk_live_second_0123456789abcdef' };
  });
  expect(mended).toMatchObject({ result: 'no_change' });
  await stage.run(5 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing', 'resolved']);
});

test('one that drops more than a fifth of the mailboxes wants force; an account that is gone ends its alerts', async () => {
  await using stage = await begin({ expectErrors: ['configuration refused'] });
  await stage.run(7 * hourMs);
  expect(stage.notified('mailbox_unwell')).toEqual(['firing']);
  const [, second] = stage.written().accounts;
  expect((await stage.reload(withoutSecond)).messages[0]).toContain('removes 2 of 3 guarded mailboxes');
  const elsewhere = (config: WrittenConfig) =>
    Object.assign(config, { guard: { min_bounces: 50 }, server: { listen: '127.0.0.1:9' } });
  const dry = await stage.reload(elsewhere, { force: true, dryRun: true });
  expect(dry.messages.join('\n')).toMatch(/second\/samuel.* is no longer guarded/);
  expect(dry.messages).toContain('guard.min_bounces: 2 -> 50');
  expect(dry.messages).toContain('server.listen: 127.0.0.1:0 -> 127.0.0.1:9 (needs a restart)');
  expect(stage.fleet().mailboxCount()).toBe(3);
  expect((await stage.reload(withoutSecond, { force: true })).result).toBe('done');
  await stage.run(10 * minuteMs);
  expect(stage.fleet().mailboxCount()).toBe(1);
  expect(await stage.text('/metrics')).not.toMatch(/_(up|mailbox_info|alerts_firing)\{[^}]*account="second"/);
  expect(stage.notified('mailbox_unwell')).toEqual(['firing', 'resolved']);
  await stage.reload((config) => void config.accounts.push(second ?? {}));
  await stage.run(10 * minuteMs);
  expect(stage.mailbox(oliver).memory?.answersJudged).toBeGreaterThan(10);
});

test("an account that goes on under another name has no fresh budget: the rate limit is the key's", async () => {
  const account = { plan: undefined, requests_per_minute: 10 };
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), account });
  await stage.run(2 * minuteMs);
  await stage.reload((config) => Object.assign(config.accounts[0] ?? {}, { headroom: '0%' }));
  await stage.run(30_000);
  const at = stage.clock.now();
  await stage.reload((config) => Object.assign(config.accounts[0] ?? {}, { name: 'renamed' }), { force: true });
  await stage.run(minuteMs);
  const starts = stage.simulator.requests.filter((one) => one.at > at - minuteMs).map((one) => one.at);
  const inMinute = starts.map((from) => starts.filter((one) => one >= from && one < from + minuteMs).length);
  expect(starts.some((one) => one > at)).toBe(true);
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(10);
});

const full = (when: string) => `CREATE TRIGGER full BEFORE ${when} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`;

/** Reloads while a write fails. What it said last; the accounts go on. */
async function reloadBeside(stage: MovedDaemon, broken: string, change: (config: WrittenConfig) => unknown) {
  stage.sql(full(broken));
  const outcome = await stage.reload(change, { force: true });
  stage.sql('DROP TRIGGER full');
  const at = stage.clock.now();
  await stage.run(hourMs);
  expect([outcome.result, stage.asked(amelia, at) > 2]).toEqual(['done', true]);
  return outcome.messages.at(-1);
}

test('a store that fails for the end of an account that is dropped leaves no other one unguarded', async () => {
  const unsaid = [
    'the end of the alerts of second could not be recorded',
    'the outcome of a reload could not be recorded',
  ];
  await using stage = await begin({ expectErrors: ['The store is failing.', ...unsaid] });
  await stage.until('an alert of it', () => stage.notified('mailbox_unwell').length > 0, 8 * hourMs);
  const said = await reloadBeside(stage, 'INSERT ON transitions', (config) => {
    withoutSecond(config);
    slower(config);
  });
  expect(said).toMatch(/restarts its polling|agency|second/);
  expect(stage.notified('protection_off')).toEqual(['firing']);
});

test('a store that fails for an intent that the reload waits for: the account stays guarded, and the reload says so', async () => {
  const failed = ['an action could not be continued', 'the polling loop of an account ended with an error'];
  await using stage = await begin({ expectErrors: ['The store is failing.', ...failed] });
  await stage.run(minuteMs);
  await open(stage);
  const said = await reloadBeside(stage, 'UPDATE ON actions', slower);
  expect(said).toMatch(/^account agency: its earlier polling loop ended with an error \(.*disk is full/);
  expect(stage.mailbox(amelia).action?.state).toBe('confirmed');
  expect([stage.made(), stage.notified('guard_acted')]).toEqual([[`${amelia} recovery`], ['event']]);
});

/** What is left of a file after its first lines. */
const cutOff = (config: WrittenConfig) => Reflect.deleteProperty(config, 'alerts');

test('one that leaves no channel for people is refused and announced', async () => {
  await using stage = await begin({ expectErrors: ['configuration refused'] });
  await stage.run(10 * minuteMs);
  const { channels } = stage.written().alerts;
  const removed = expect.stringMatching(/removes the channel hook, and no channel is left that can notify you/);
  expect(await stage.reload(cutOff)).toMatchObject({ result: 'invalid', messages: [removed, expect.anything()] });
  await stage.run(2 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  const another = [{ ...channels[0], name: 'another' }];
  const said = await stage.reload((config) => Object.assign(config, { alerts: { channels: another } }));
  expect(said.result).toBe('done');
});

test('with force, the page shows it, and what happened meanwhile is announced later', async () => {
  await using stage = await begin();
  await stage.run(10 * minuteMs);
  const { alerts } = stage.written();
  const dry = await stage.reload(cutOff, { force: true, dryRun: true });
  expect(dry.messages).toContain('no channel is left that can notify you');
  const left = { alerts: {}, guard: { burst: 'alert', enforce: false } };
  expect((await stage.reload((config) => Object.assign(config, left), { force: true })).result).toBe('done');
  await stage.run(10 * minuteMs);
  const shown = [...stage.fleet().alerts()].filter(({ rule }) => rule === 'protection_off');
  expect(shown.map(({ facts }) => facts.title).sort()).toEqual([
    expect.stringContaining('enforcement'),
    'no channel is left that can notify you',
  ]);
  expect(JSON.stringify(shown)).toContain('no longer has the channel hook');
  await stage.reload((config) => Object.assign(config, { guard: {} }));
  const before = stage.receiver.alerts().length;
  await stage.until('the switch', () => stage.mailbox(amelia).action?.state === 'confirmed', 5 * hourMs);
  await stage.restart();
  await stage.run(10 * minuteMs);
  expect(stage.receiver.alerts()).toHaveLength(before);
  await stage.reload((config) => Object.assign(config, { alerts }));
  await stage.run(hourMs);
  expect(stage.notified('guard_acted')).toEqual(['event']);
});

test('the alert of an override without enforcement never says that it is on again while it is off for all', async () => {
  await using stage = await begin();
  await stage.run(minuteMs);
  const enforce = (all: boolean, override: boolean) =>
    stage.reload((config) => {
      Object.assign(config, { guard: { enforce: all } });
      Object.assign(config.accounts[0] ?? {}, {
        overrides: override ? [{ match: amelia, guard: { enforce: false } }] : [],
      });
    });
  await enforce(true, true);
  await stage.run(minuteMs);
  await enforce(false, true);
  await stage.run(2 * hourMs);
  await enforce(true, false);
  await stage.run(2 * hourMs);
  expect(stage.told('protection_off').map(({ status, title }) => `${status}: ${title}`)).toEqual([
    `firing: enforcement is OFF for mailboxes of agency that match ${amelia}`,
    'firing: enforcement is OFF for all accounts',
    'resolved: replaced by another alert: enforcement is OFF for all accounts',
    'resolved: enforcement is on again for all accounts',
  ]);
});

test('what is asked for again and again while it goes on is done once more, and what is asked for otherwise comes next', async () => {
  const ends: (() => void)[] = [];
  const refusals: string[] = [];
  const load = () => new Promise<LoadedConfig>((resolve) => ends.push(() => resolve({ ok: false, problems: [] })));
  const log = { error: ({ by }: { readonly by: string }) => refusals.push(by) };
  const parts = { source: { load }, rooms: { world: { log } }, alerts: { show: async () => {} }, refused: () => {} };
  const reloader = new Reloader(parts as unknown as ReloadParts);
  const ask = (by: string) => reloader.reload({ by, force: false });
  const askAll = () => Array.from({ length: 100 }, () => ask('a script'));
  const first = ask('a script');
  await nextTurn();
  const waiting = [...askAll(), ask('a person'), ...askAll()];
  for (let ended = 0; ended < 3; ended += 1) {
    ends.at(-1)?.();
    await nextTurn();
  }
  await Promise.all([first, ...waiting, reloader.stop()]);
  expect(refusals).toEqual(['a script', 'a script', 'a person']);
  expect(ends).toHaveLength(3);
});
