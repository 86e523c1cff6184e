// Protection that is taken away while no process runs is announced at the next start, as a reload announces it.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon, type WrittenConfig } from '../scenario/moved-daemon.ts';

type Change = (config: WrittenConfig) => void;

const account = (config: WrittenConfig, name: string) => config.accounts.find((one) => one['name'] === name);

test.each<[string, Change, string]>([
  [
    'enforce: false',
    (config) => Object.assign(config, { guard: { enforce: false } }),
    'enforcement is OFF for all accounts',
  ],
  [
    'enforce: false in an override',
    (config) =>
      Object.assign(account(config, 'agency') ?? {}, { overrides: [{ match: amelia, guard: { enforce: false } }] }),
    `enforcement is OFF for mailboxes of agency that match ${amelia}`,
  ],
  [
    'an account removed',
    (config) => Object.assign(config, { accounts: config.accounts.filter((one) => one['name'] !== 'second') }),
    'account second is no longer guarded',
  ],
])('%s by a restart is announced once, and not again after the next one', async (_, change, title) => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), second: [oliver] });
  await stage.run(5 * minuteMs);
  await stage.restart();
  await stage.run(5 * minuteMs);
  expect(stage.notified('protection_off')).toEqual([]);
  await stage.restart(change);
  await stage.run(5 * minuteMs);
  expect(stage.told('protection_off').map((one) => [one.status, one.title])).toEqual([['firing', title]]);
  expect(stage.told('protection_off')[0]?.sentences[0]).toMatch(/^Found at a start on /);
  await stage.restart();
  await stage.run(5 * minuteMs);
  expect(stage.notified('protection_off')).toEqual(['firing']);
});

test('a renamed account is not removed', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), second: [oliver] });
  await stage.run(5 * minuteMs);
  await stage.restart((config) => Object.assign(account(config, 'second') ?? {}, { name: 'other' }));
  await stage.run(5 * minuteMs);
  expect(stage.notified('protection_off')).toEqual([]);
});

test.each<[string, Change, number]>([
  ['all mailboxes', (config) => Object.assign(config, { guard: { enforce: false } }), 2],
  [
    '1 mailbox',
    (config) =>
      Object.assign(account(config, 'agency') ?? {}, { overrides: [{ match: amelia, guard: { enforce: false } }] }),
    1,
  ],
])('page, status and metrics say that enforcement is off for %s', async (who, change, count) => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver) });
  await stage.run(5 * minuteMs);
  await stage.restart(change);
  await stage.run(15 * minuteMs);
  const { headline, not_enforced: off } = await stage.json<{ headline: string; not_enforced: number }>('/api/fleet');
  expect([headline, off]).toEqual([expect.stringContaining(`Enforcement is OFF for ${who}. `), count]);
  expect(await stage.text('/')).toContain(`Enforcement is OFF for ${who}. `);
  expect(await stage.text('/metrics')).toMatch(
    new RegExp(`^warmwarden_mailboxes_not_enforced\\{account="agency"\\} ${count}$`, 'm'),
  );
});
