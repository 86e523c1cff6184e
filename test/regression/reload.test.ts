// A reload in which something else breaks.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

test('a store that can not be written while an account is dropped leaves no other account unguarded', async () => {
  const file = { guard: { enforce: false } };
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll, second: [amelia], file });
  stage.expectErrors('The store is failing.', 'the end of the alerts of second could not be recorded');
  stage.expectErrors('the outcome of a reload could not be recorded');
  const firing = () => [...stage.fleet().alerts()].some((one) => one.account === 'second' && one.status === 'firing');
  await stage.run(5 * minuteMs);
  await stage.until('an alert of the account that goes', firing, 4 * hourMs);
  const db = new DatabaseSync(join(stage.folder, 'data', 'warmwarden.db'));
  db.exec("CREATE TRIGGER full BEFORE INSERT ON transitions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const dropSecond = (config: { accounts: Record<string, unknown>[] }) => {
    config.accounts.splice(1);
    Object.assign(config.accounts[0] ?? {}, { headroom: '20%' });
  };
  const outcome = await stage.reload(dropSecond, { force: true });
  expect(outcome.result).toBe('done');
  db.exec('DROP TRIGGER full');
  db.close();
  const at = stage.clock.now();
  await stage.run(hourMs);
  const asked = stage.simulator.requests.filter((one) => one.at > at && one.path.includes(stage.mailbox(oliver).id));
  expect(asked.length).toBeGreaterThan(2);
  expect(stage.notified('protection_off')).toEqual(['firing']);
});

test("an account that goes on under another name has no fresh budget: the rate limit is the key's", async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  const slow = (config: { accounts: Record<string, unknown>[] }) => {
    const { plan: _, ...account } = config.accounts[0] ?? {};
    config.accounts[0] = { ...account, requests_per_minute: 10 };
  };
  await stage.reload(slow);
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

test('a store error while an intent is open and a reload waits for it leaves the account guarded, and the reload says so', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  stage.expectErrors(
    'The store is failing.',
    'an action could not be continued',
    'the polling loop of an account ended with an error',
  );
  await stage.run(minuteMs);
  await stage.until('the intent', () => stage.mailbox(amelia).action?.state === 'open', 4 * hourMs);
  const db = new DatabaseSync(join(stage.folder, 'data', 'warmwarden.db'));
  db.exec("CREATE TRIGGER full BEFORE UPDATE ON actions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const outcome = await stage.reload((config) => Object.assign(config.accounts[0] ?? {}, { headroom: '20%' }));
  expect(outcome.result).toBe('done');
  expect(outcome.messages).toContain('accounts[agency].headroom: auto -> 20%');
  expect(outcome.messages.at(-1)).toMatch(
    /^account agency: its earlier polling loop ended with an error \(.*disk is full/,
  );
  db.exec('DROP TRIGGER full');
  db.close();
  const at = stage.clock.now();
  await stage.run(hourMs);
  const asked = stage.simulator.requests.filter((one) => one.at > at && one.path.includes(stage.mailbox(oliver).id));
  expect(asked.length).toBeGreaterThan(2);
  expect(stage.mailbox(amelia).action?.state).toBe('confirmed');
  expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
  expect(stage.notified('guard_acted')).toEqual(['event']);
});

test('a reload that can not read the store changes nothing, is told as refused, and the loops go on', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  stage.expectErrors('The store is failing.', 'a reload failed before it changed anything', 'configuration refused');
  await stage.run(11 * minuteMs);
  const db = new DatabaseSync(join(stage.folder, 'data', 'warmwarden.db'));
  db.exec('ALTER TABLE silences RENAME TO elsewhere');
  const add = (config: { accounts: Record<string, unknown>[] }) =>
    void config.accounts.push({ ...config.accounts[0], name: 'another', api_key: 'sk_live_another' });
  const failed = await stage.reload(add);
  expect(failed).toMatchObject({ result: 'failed', worthRetrying: true });
  db.exec('ALTER TABLE elsewhere RENAME TO silences');
  db.close();
  const at = stage.clock.now();
  await stage.run(hourMs);
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  expect(stage.simulator.requests.filter((one) => one.at > at).length).toBeGreaterThan(2);
});

test('a refused reload, and its end, that the store can not take at once are told when it can', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  stage.expectErrors('The store is failing.', 'configuration refused', 'the outcome of a reload could not be recorded');
  stage.expectErrors('watching the alerts of reloads failed');
  await stage.run(11 * minuteMs);
  const db = new DatabaseSync(join(stage.folder, 'data', 'warmwarden.db'));
  const during = async (work: () => Promise<unknown>) => {
    db.exec("CREATE TRIGGER full BEFORE INSERT ON alerts BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
    db.exec("CREATE TRIGGER gone BEFORE DELETE ON alerts BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
    await work();
    await stage.run(minuteMs);
    db.exec('DROP TRIGGER full; DROP TRIGGER gone');
    await stage.run(2 * minuteMs);
  };
  await during(() => stage.reload((config) => Object.assign(config, { pol: {} })));
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  await during(() => stage.reload((config) => delete config['pol']));
  await stage.run(5 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing', 'resolved']);
  db.close();
});
