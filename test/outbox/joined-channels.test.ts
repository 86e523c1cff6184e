// An alert of several accounts that grows: a channel that is routed by an account which joins it later hears of it.
import { expect, test } from 'vitest';
import type { Alert } from '../../src/core/alert.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { startReceiver } from './receiver.ts';
import { hookChannel, stage } from './rig.ts';

/** The breaker of one API, which holds mailboxes of these accounts. */
function held(accounts: readonly string[], held: number): Alert {
  const alert = sampleAlert(1, { rule: 'guard_held', account: '', mailboxId: null, object: 'https://api.example' });
  return { ...alert, severity: 'critical', facts: { ...alert.facts, accounts, numbers: { held } } };
}

async function begin() {
  const other = await startReceiver();
  const routes = [
    { match: { account: ['acme'] }, channels: ['first'] },
    { match: { account: ['bolt'] }, channels: ['second'] },
  ];
  const at = await stage({ routes }, {}, (url, clock) => [
    hookChannel(url, clock, 'first'),
    hookChannel(other.url, clock, 'second'),
  ]);
  /** What both were told of so far. */
  const told = () =>
    [at.receiver, other].map(({ received }) => received.map(({ body }) => JSON.parse(body).type.slice(7)).join(' '));
  at.rig.fleet.putAlert(held(['acme'], 3));
  at.rig.commit(firing(held(['acme'], 3)));
  await at.rig.clock.advance(31 * secondMs);
  expect(told()).toEqual(['firing', '']);
  const end = async () => {
    await at[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { rig: at.rig, grows: (alert: Alert) => at.rig.fleet.putAlert(alert), told, [Symbol.asyncDispose]: end };
}

const both = held(['acme', 'bolt'], 9);

test('the channel of an account that joins a held breaker is notified with the next message of its group, once', async () => {
  await using at = await begin();
  at.grows(held(['acme'], 30));
  await at.rig.clock.advance(10 * minuteMs);
  expect(at.told()).toEqual(['firing', '']);
  at.grows(both);
  await at.rig.clock.advance(31 * secondMs);
  expect(at.told()).toEqual(['firing worsened', 'worsened']);
  at.grows(held(['acme', 'bolt'], 12));
  await at.rig.clock.advance(10 * minuteMs);
  expect(at.told()).toEqual(['firing worsened', 'worsened']);
  at.rig.fleet.removeAlert(both.fingerprint);
  at.rig.commit(resolved(both));
  await at.rig.clock.advance(6 * minuteMs);
  expect(at.told()).toEqual(['firing worsened resolved', 'worsened resolved']);
});

test('a silence holds for it too', async () => {
  await using at = await begin();
  const from = at.rig.clock.now();
  const match = { rule: ['guard_held'] };
  at.rig.fleet.putSilence({ id: 's', match, by: 'ann', reason: '', from, until: from + 10 * minuteMs });
  at.grows(both);
  await at.rig.clock.advance(9 * minuteMs);
  expect(at.told()).toEqual(['firing', '']);
  await at.rig.clock.advance(2 * minuteMs);
  expect(at.told()).toEqual(['firing worsened', 'worsened']);
});
