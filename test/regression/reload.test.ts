// A reload in which something else breaks.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { amelia, oliver, stormOf } from '../watch/duty.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

test('a store that can not be written while an account is dropped leaves no other account unguarded', async () => {
  const file = { guard: { enforce: false } };
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll, second: [amelia], file });
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
  expect(outcome.done).toBe(true);
  db.exec('DROP TRIGGER full');
  db.close();
  const at = stage.clock.now();
  await stage.run(hourMs);
  const asked = stage.simulator.requests.filter((one) => one.at > at && one.path.includes(stage.mailbox(oliver).id));
  expect(asked.length).toBeGreaterThan(2);
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
