// What a reload does about alerts whose rule waits (`for`): it fires when it has lasted, and nothing is left of what ended before.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GroupCommit, Turns } from '../../src/account/commit/group-commit.ts';
import { loadConfig } from '../../src/config/load.ts';
import { LiveConfig } from '../../src/config/mailbox-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTally } from '../../src/core/records.ts';
import { dayMs, minuteMs } from '../../src/core/time.ts';
import { endForgotten } from '../../src/daemon/open.ts';
import { ReloadAlerts } from '../../src/daemon/reload/reload-alerts.ts';
import { Store } from '../../src/store/store.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { sampleAlert, start } from '../alerts/samples.ts';
import { newFolder } from '../support/new-folder.ts';
import { silentWorld } from '../support/silent-world.ts';

const waitMs = 10 * minuteMs;

async function stage() {
  const folder = newFolder();
  const clock = movedClock(start);
  const world = silentWorld(clock);
  const store = await Store.open(join(folder, 'w.db'), start);
  const fleet = new Fleet();
  const turns = new Turns(clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  const rooms = { world, store, fleet, turns, group, tally: noTally, onTransitions: () => {} };
  const load = () => {
    const file = join(folder, 'config.yaml');
    const account = `{name: agency, base_url: 'http://127.0.0.1:9', api_key: sk_live_1234, plan: pro}`;
    writeFileSync(
      file,
      `accounts: [${account}]\nalerts: {rules: {protection_off: {for: 10m}, config_wrong: {for: 10m}}}\n`,
    );
    const loaded = loadConfig(file, {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded;
  };
  const live = new LiveConfig(load());
  const alerts = new ReloadAlerts(rooms, live);
  /** A reload that removes accounts. */
  const reload = (removed: readonly { account: string; mailboxes: number }[] = []) => {
    const { config: before } = live;
    live.replace(load());
    return alerts.reloaded({ before, after: live.config, removed, by: 'jo', at: clock.now() });
  };
  const told = async () =>
    (await store.outbox.unnotifiedTransitions(10)).map(({ transition: { kind, alert } }) => `${kind} ${alert.rule}`);
  const known = async () => [[...fleet.alerts()].length, (await store.loadPicture()).alerts.length];
  const end = async () => {
    await group.stop();
    await store.close();
  };
  return { clock, alerts, reload, told, known, [Symbol.asyncDispose]: end };
}

test('a configuration that is corrected in time leaves nothing behind, in the picture and in the store', async () => {
  await using at = await stage();
  await at.alerts.show(['no']);
  expect(await at.known()).toEqual([1, 1]);
  await at.alerts.show([]);
  expect(await at.known()).toEqual([0, 0]);
  await at.clock.advance(2 * waitMs);
  await at.alerts.look();
  expect([await at.told(), await at.known()]).toEqual([[], [0, 0]]);
});

test('one that stays refused fires when it has lasted, once, although no reload comes back to it', async () => {
  await using at = await stage();
  await at.alerts.show(['no']);
  await at.alerts.look();
  expect(await at.told()).toEqual([]);
  await at.clock.advance(waitMs);
  for (let look = 0; look < 2; look += 1) await at.alerts.look();
  expect(await at.told()).toEqual(['firing config_wrong']);
});

test('an account that was removed is an alert for three days, or until it is back', async () => {
  await using at = await stage();
  await at.reload([{ account: 'gone', mailboxes: 3 }]);
  await at.clock.advance(waitMs);
  await at.alerts.look();
  await at.clock.advance(3 * dayMs - waitMs - 1);
  await at.alerts.look();
  expect(await at.told()).toEqual(['firing protection_off']);
  await at.clock.advance(1);
  await at.alerts.look();
  expect([await at.told(), await at.known()]).toEqual([
    ['firing protection_off', 'resolved protection_off'],
    [0, 0],
  ]);
  await at.reload([{ account: 'agency', mailboxes: 3 }]);
  await at.reload();
  expect(await at.known()).toEqual([0, 0]);
});

test('the alerts of an account that leaves while nobody is on duty end with the reason, once; those of the others and of Warmwarden itself go on', async () => {
  const folder = newFolder();
  const store = await Store.open(join(folder, 'w.db'), start);
  const alerts = ['acme', 'gone', ''].map((account) => sampleAlert(1, { account }));
  await store.recordAlerts({ changed: alerts, dropped: [], transitions: [] });
  const about = { names: ['acme'], now: start + 1 };
  for (let process = 0; process < 2; process += 1) await endForgotten(store, await store.loadPicture(), about);
  expect((await store.loadPicture()).alerts.map(({ account }) => account).sort()).toEqual(['', 'acme']);
  const notified = (await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition);
  expect(notified).toMatchObject([{ kind: 'resolved', at: start + 1, alert: { account: 'gone' } }]);
  expect(notified[0]?.alert.facts.sentences[0]).toContain('no longer in the configuration');
  await store.close();
});
