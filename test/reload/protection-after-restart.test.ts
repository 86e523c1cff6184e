// Protection that is taken away while no process runs is announced at the next start, as a reload announces it.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon, type WrittenConfig } from '../scenario/moved-daemon.ts';

type Change = (config: WrittenConfig) => void;

const account = (config: WrittenConfig, name: string) => config.accounts.find((one) => one['name'] === name);

const guard = { enforce: false };
const ofAll: Change = (config) => Object.assign(config, { guard });
const ofOne: Change = (config) =>
  Object.assign(account(config, 'agency') ?? {}, { overrides: [{ match: amelia, guard }] });
const remove: Change = (config) =>
  Object.assign(config, { accounts: config.accounts.filter((one) => one['name'] !== 'other') });

test.each<[string, Change, string, string | null, number]>([
  ['enforce: false', ofAll, 'enforcement is OFF for all accounts', 'all mailboxes', 2],
  ['an override', ofOne, `enforcement is OFF for mailboxes of agency that match ${amelia}`, '1 mailbox', 1],
  ['an account removed', remove, 'account other is no longer guarded', null, 0],
])('%s by a restart is announced once, a renamed account is not; page, status and metrics say it', async (...row) => {
  const [, change, title, who, count] = row;
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), second: [oliver] });
  await stage.run(5 * minuteMs);
  await stage.restart((config) => Object.assign(account(config, 'second') ?? {}, { name: 'other' }));
  await stage.run(5 * minuteMs);
  expect(stage.notified('protection_off')).toEqual([]);
  await stage.restart(change);
  await stage.run(15 * minuteMs);
  expect(stage.told('protection_off').map((one) => [one.status, one.title])).toEqual([['firing', title]]);
  expect(stage.told('protection_off')[0]?.sentences[0]).toMatch(/^Found at a start on /);
  const { headline, not_enforced: off } = await stage.json<{ headline: string; not_enforced: number }>('/api/fleet');
  expect(off).toBe(count);
  for (const text of [headline, await stage.text('/')])
    expect(text.includes(`Enforcement is OFF for ${who}. `)).toBe(who !== null);
  // Each account has one mailbox.
  expect(await stage.text('/metrics')).toContain(`_not_enforced{account="agency"} ${Math.min(count, 1)}\n`);
  await stage.restart();
  await stage.run(5 * minuteMs);
  expect(stage.notified('protection_off')).toEqual(['firing']);
});
