// An alert of several accounts that grows: a channel that is routed by an account which joins it later hears at once.
import { expect, test } from 'vitest';
import { webhookChannel } from '../../src/channels/webhook.ts';
import type { Alert } from '../../src/core/alert.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { startReceiver, status } from './receiver.ts';
import { rigWith, secret } from './rig.ts';

/** The breaker of one API, which holds mailboxes of these accounts. */
function held(accounts: readonly string[], held: number): Alert {
  const alert = sampleAlert(1, { rule: 'guard_held', account: '', mailboxId: null, object: 'https://api.example' });
  return { ...alert, severity: 'critical', facts: { ...alert.facts, accounts, numbers: { held } } };
}

async function begin() {
  const receivers = [await startReceiver(() => 0), await startReceiver(() => 0)] as const;
  for (const receiver of receivers) receiver.answer = status(204);
  const [first, second] = receivers;
  const routes = [
    { match: { account: ['acme'] }, channels: ['first'] },
    { match: { account: ['bolt'] }, channels: ['second'] },
  ];
  const rig = rigWith(
    (clock) =>
      [first, second].map(({ url }, index) => {
        const name = index === 0 ? 'first' : 'second';
        return webhookChannel({ name, url, secrets: [secret], format: 'standard', pageUrl: null }, clock);
      }),
    { routes },
  );
  const types = () => receivers.map(({ received }) => received.map(({ body }) => JSON.parse(body).type));
  const grows = (alert: Alert) => rig.fleet.putAlert(alert);
  const fires = (alert: Alert) => {
    grows(alert);
    rig.commit(firing(alert));
  };
  const close = async () => {
    await rig[Symbol.asyncDispose]();
    for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  };
  return { rig, types, grows, fires, [Symbol.asyncDispose]: close };
}

test('the channel of an account that joins a held breaker is notified within the half minute, and the others not again', async () => {
  await using stage = await begin();
  stage.fires(held(['acme'], 3));
  await stage.rig.clock.advance(31 * secondMs);
  expect(stage.types()).toEqual([['alerts.firing'], []]);
  stage.grows(held(['acme', 'bolt'], 9));
  await stage.rig.clock.advance(31 * secondMs);
  expect(stage.types()).toEqual([['alerts.firing'], ['alerts.firing']]);
  stage.grows(held(['acme', 'bolt'], 12));
  await stage.rig.clock.advance(10 * minuteMs);
  expect(stage.types()).toEqual([['alerts.firing'], ['alerts.firing']]);
});

test('its end goes to both, and what grows within one account is no news', async () => {
  await using stage = await begin();
  stage.fires(held(['acme'], 3));
  await stage.rig.clock.advance(31 * secondMs);
  stage.grows(held(['acme'], 30));
  await stage.rig.clock.advance(minuteMs);
  expect(stage.types()).toEqual([['alerts.firing'], []]);
  const both = held(['acme', 'bolt'], 40);
  stage.grows(both);
  await stage.rig.clock.advance(minuteMs);
  stage.rig.fleet.removeAlert(both.fingerprint);
  stage.rig.commit(resolved(both));
  await stage.rig.clock.advance(6 * minuteMs);
  expect(stage.types()).toEqual([
    ['alerts.firing', 'alerts.resolved'],
    ['alerts.firing', 'alerts.resolved'],
  ]);
});

test('that it got worse is news after the group interval; the channel of an account that joins does not wait for it', async () => {
  await using stage = await begin();
  stage.fires(held(['acme'], 3));
  await stage.rig.clock.advance(31 * secondMs);
  const both = held(['acme', 'bolt'], 9);
  stage.grows(both);
  stage.rig.commit({ ...firing(both), kind: 'worsened' });
  await stage.rig.clock.advance(31 * secondMs);
  expect(stage.types()).toEqual([['alerts.firing'], ['alerts.firing']]);
  await stage.rig.clock.advance(10 * minuteMs);
  expect(stage.types()).toEqual([
    ['alerts.firing', 'alerts.worsened'],
    ['alerts.firing', 'alerts.worsened'],
  ]);
});

test('a silence holds for it too', async () => {
  await using stage = await begin();
  stage.fires(held(['acme'], 3));
  await stage.rig.clock.advance(31 * secondMs);
  const now = stage.rig.clock.now();
  const silence = {
    id: 's',
    match: { rule: ['guard_held'] },
    by: 'ann',
    reason: '',
    from: now,
    until: now + 5 * minuteMs,
  };
  stage.rig.fleet.putSilence(silence);
  stage.grows(held(['acme', 'bolt'], 9));
  await stage.rig.clock.advance(4 * minuteMs);
  expect(stage.types()).toEqual([['alerts.firing'], []]);
  await stage.rig.clock.advance(2 * minuteMs);
  expect(stage.types()).toEqual([['alerts.firing'], ['alerts.firing']]);
});
