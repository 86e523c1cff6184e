import { expect, onTestFinished, test } from 'vitest';
import { GroupCommit } from '../../src/account/commit/group-commit.ts';
import { LiveConfig } from '../../src/config/mailbox-rules.ts';
import { noTally } from '../../src/core/records.ts';
import { dayMs, minuteMs } from '../../src/core/time.ts';
import { endForgotten } from '../../src/daemon/open.ts';
import { ReloadAlerts } from '../../src/daemon/reload/reload-alerts.ts';
import { sampleAlert, start } from '../alerts/samples.ts';
import { openRooms } from '../operations/rooms.ts';
import { ConfigFolder } from '../support/config-folder.ts';
import { newStore } from '../support/new-folder.ts';

const waitMs = 10 * minuteMs;

const place = new ConfigFolder();
const account = `{name: agency, base_url: 'http://127.0.0.1:9', api_key: sk_live_1234, plan: pro}`;
const rules = '{protection_off: {for: 10m}, config_wrong: {for: 10m}}';
const load = () => place.accept(`accounts: [${account}]\nalerts: {rules: ${rules}}\n`).config;

async function stage() {
  const { clock, fleet, store, rooms } = await openRooms();
  const group = new GroupCommit(rooms);
  onTestFinished(() => group.stop());
  const live = new LiveConfig(load());
  const alerts = new ReloadAlerts({ ...rooms, group, tally: noTally }, live);
  /** A reload that removes accounts. */
  const reload = (removed: readonly { account: string; mailboxes: number }[] = []) => {
    const { config: before } = live;
    live.replace(load());
    return alerts.reloaded({ before, after: live.config, removed, file: 'config.yaml', by: 'jo', at: clock.now() });
  };
  const told = async () =>
    (await store.outbox.unnotifiedTransitions(10)).map(({ transition: { kind, alert } }) => `${kind} ${alert.rule}`);
  const known = async () => [[...fleet.alerts()].length, (await store.loadPicture()).alerts.length];
  return { clock, alerts, reload, told, known };
}

test('a configuration that is corrected in time leaves nothing behind, in the picture and in the store', async () => {
  const at = await stage();
  await at.alerts.show(['no']);
  expect(await at.known()).toEqual([1, 1]);
  await at.alerts.show([]);
  expect(await at.known()).toEqual([0, 0]);
  await at.clock.advance(2 * waitMs);
  await at.alerts.look();
  expect([await at.told(), await at.known()]).toEqual([[], [0, 0]]);
});

test('one that stays refused fires when it has lasted, once, although no reload comes back to it', async () => {
  const at = await stage();
  await at.alerts.show(['no']);
  await at.alerts.look();
  expect(await at.told()).toEqual([]);
  await at.clock.advance(waitMs);
  for (let look = 0; look < 2; look += 1) await at.alerts.look();
  expect(await at.told()).toEqual(['firing config_wrong']);
});

test('an account that was removed is an alert for three days, or until it is back', async () => {
  const at = await stage();
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
  const store = await newStore(start);
  const alerts = ['acme', 'gone', ''].map((account) => sampleAlert(1, { account }));
  await store.recordAlerts({ changed: alerts, dropped: [], transitions: [] });
  const about = { names: ['acme'], now: start + 1 };
  for (let process = 0; process < 2; process += 1) await endForgotten(store, await store.loadPicture(), about);
  expect((await store.loadPicture()).alerts.map(({ account }) => account).sort()).toEqual(['', 'acme']);
  const notified = (await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition);
  expect(notified).toMatchObject([{ kind: 'resolved', at: start + 1, alert: { account: 'gone' } }]);
  expect(notified[0]?.alert.facts.sentences[0]).toContain('no longer in the configuration');
});
