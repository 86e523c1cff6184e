// What a reload does about alerts whose rule waits (`for`): it fires when it has lasted, and nothing is left of what ended before.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GroupCommit } from '../../src/account/commit/group-commit.ts';
import { Turns } from '../../src/account/commit/turns.ts';
import { loadConfig } from '../../src/config/load.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { noTally } from '../../src/core/tally.ts';
import { dayMs, minuteMs } from '../../src/core/time.ts';
import { recordDisarming } from '../../src/daemon/reload/disarming.ts';
import { recordReloadAlert, settleReloadAlerts } from '../../src/daemon/reload/recording.ts';
import { Store } from '../../src/store/store.ts';
import { movedClock, worldOn } from '../../src/world/world.ts';
import { start } from '../alerts/samples.ts';

const waitMs = 10 * minuteMs;

async function stage() {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-waiting-'));
  const clock = movedClock(start);
  const world = worldOn(clock, { level: 'silent', format: 'json' });
  const store = await Store.open(join(folder, 'w.db'), start);
  const fleet = new Fleet();
  const turns = new Turns(clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  const rooms = { world, store, fleet, turns, group, tally: noTally, onTransitions: () => {} };
  const config = (enforce: boolean) => {
    const file = join(folder, 'config.yaml');
    const account = `{name: agency, base_url: 'http://127.0.0.1:9', api_key: sk_live_1234, plan: pro}`;
    writeFileSync(
      file,
      `accounts: [${account}]\nguard: {enforce: ${enforce}}\nalerts: {rules: {disarmed: {for: 10m}}}\n`,
    );
    const loaded = loadConfig(file, {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded.config;
  };
  const told = async () =>
    (await store.outbox.unnotifiedTransitions(10)).map(({ transition: { kind, alert } }) => `${kind} ${alert.rule}`);
  const known = async () => [[...fleet.alerts()].length, (await store.loadPicture()).alerts.length];
  const end = async () => {
    await group.stop();
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { rooms, clock, config, told, known, [Symbol.asyncDispose]: end };
}

const patient = {
  ...defaultRuleSettings,
  of: { ...defaultRuleSettings.of, config_reload_failed: { enabled: true, severity: 'warning', forMs: waitMs } },
} as const;

test('a configuration that is corrected in time leaves nothing behind, in the picture and in the store', async () => {
  await using at = await stage();
  await recordReloadAlert(at.rooms, ['no'], patient);
  expect(await at.known()).toEqual([1, 1]);
  await recordReloadAlert(at.rooms, [], patient);
  expect(await at.known()).toEqual([0, 0]);
  await at.clock.advance(2 * waitMs);
  await settleReloadAlerts(at.rooms);
  expect([await at.told(), await at.known()]).toEqual([[], [0, 0]]);
});

test('one that stays refused fires when it has lasted, once, although no reload comes back to it', async () => {
  await using at = await stage();
  await recordReloadAlert(at.rooms, ['no'], patient);
  await settleReloadAlerts(at.rooms);
  expect(await at.told()).toEqual([]);
  await at.clock.advance(waitMs);
  for (let look = 0; look < 2; look += 1) await settleReloadAlerts(at.rooms);
  expect(await at.told()).toEqual(['firing config_reload_failed']);
});

test('the same of enforcement that a reload switched off', async () => {
  await using at = await stage();
  const reload = (before: boolean, after: boolean) => {
    const configs = { before: at.config(before), after: at.config(after) };
    return recordDisarming(at.rooms, { ...configs, removed: [], by: 'jo', at: at.clock.now() });
  };
  await reload(true, false);
  await reload(false, true);
  expect([await at.told(), await at.known()]).toEqual([[], [0, 0]]);
  await reload(true, false);
  await at.clock.advance(waitMs);
  await settleReloadAlerts(at.rooms);
  expect(await at.told()).toEqual(['firing disarmed']);
});

test('an account that was removed is an alert for three days, or until it is back', async () => {
  await using at = await stage();
  const config = at.config(true);
  const removed = [{ account: 'gone', mailboxes: 3 }];
  const record = (change: object) =>
    recordDisarming(at.rooms, { before: config, after: config, removed: [], by: 'jo', at: at.clock.now(), ...change });
  await record({ removed });
  await at.clock.advance(waitMs);
  await settleReloadAlerts(at.rooms);
  await at.clock.advance(3 * dayMs - waitMs - 1);
  await settleReloadAlerts(at.rooms);
  expect(await at.told()).toEqual(['firing disarmed']);
  await at.clock.advance(1);
  await settleReloadAlerts(at.rooms);
  expect([await at.told(), await at.known()]).toEqual([
    ['firing disarmed', 'resolved disarmed'],
    [0, 0],
  ]);
  await record({ removed: [{ account: 'agency', mailboxes: 3 }] });
  await record({});
  expect(await at.known()).toEqual([0, 0]);
});
