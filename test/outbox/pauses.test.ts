// A pause of Warmwarden pages until it is over: the mailbox runs again, leaves, or a person silences it.
import { expect, test } from 'vitest';
import { pagerdutyChannel } from '../../src/channels/pagerduty.ts';
import { firstSight } from '../../src/core/guard/memory.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import type { RunState } from '../../src/core/verdict.ts';
import { sampleMailbox, start } from '../alerts/samples.ts';
import { pauseOf, people } from '../channels/people.ts';
import { routingKey, StrictReceiver } from '../support/strict-receivers.ts';
import { startReceiver } from './receiver.ts';
import { hookChannel, rigWith } from './rig.ts';

const running = (run: RunState) =>
  sampleMailbox({ memory: firstSight(defaultPolicy, { now: start, mode: 'balanced', run, rows: [] }) });

async function stage() {
  let now = () => start;
  const pager = await StrictReceiver.start('pagerduty', () => now());
  const hook = await startReceiver(() => now());
  const rig = rigWith((clock) => [
    pagerdutyChannel({ name: 'pager', url: pager.url, routingKey, ...people }, clock),
    hookChannel(hook.url, clock),
  ]);
  now = rig.clock.now;
  rig.fleet.putMailbox(running('paused'));
  const told = () => pager.taken().map(({ event_action: action, dedup_key: key }) => `${action} ${key}`);
  const end = async () => {
    await rig[Symbol.asyncDispose]();
    await pager[Symbol.asyncDispose]();
    await hook[Symbol.asyncDispose]();
  };
  return { pager, hook, rig, told, [Symbol.asyncDispose]: end };
}

const begins = 'trigger guard_paused|acme|m1';
const ends = 'resolve guard_paused|acme|m1';

test('its page is resolved once when the warm-up runs again, and no other channel hears of that', async () => {
  await using at = await stage();
  at.rig.commit(pauseOf('confirmed'));
  await at.rig.clock.advance(hourMs);
  expect(at.told()).toEqual([begins]);
  at.rig.store.restart();
  at.rig.fleet.putMailbox(running('running'));
  await at.rig.clock.advance(hourMs);
  expect(at.told()).toEqual([begins, ends]);
  expect(at.hook.received).toHaveLength(1);
  at.rig.commit({ ...pauseOf('confirmed'), at: at.rig.clock.now() });
  at.rig.fleet.putMailbox(running('paused'));
  await at.rig.clock.advance(2 * minuteMs);
  at.rig.fleet.removeMailbox('acme', 'm1');
  await at.rig.clock.advance(2 * minuteMs);
  expect(at.told()).toEqual([begins, ends, begins, ends]);
});

test('a person who silences it has taken note of it', async () => {
  await using at = await stage();
  at.rig.commit(pauseOf('confirmed'));
  await at.rig.clock.advance(5 * minuteMs);
  const times = { from: at.rig.clock.now(), until: at.rig.clock.now() + hourMs };
  const match = { rule: ['guard_acted'], mailbox: ['bob@acme.example'] };
  at.rig.fleet.putSilence({ id: 's1', match, by: 'jo', reason: 'looking', ...times });
  await at.rig.clock.advance(2 * minuteMs);
  expect(at.told()).toEqual([begins, ends]);
});

test('a pause that begins in the look in which the last one ends has an end of its own, without a restart', async () => {
  await using at = await stage();
  at.rig.commit(pauseOf('confirmed'));
  await at.rig.clock.advance(hourMs);
  at.rig.commit({ ...pauseOf('confirmed'), at: at.rig.clock.now() });
  await at.rig.clock.advance(29 * secondMs);
  at.rig.fleet.putMailbox(running('running'));
  await at.rig.clock.advance(2 * secondMs);
  at.rig.fleet.putMailbox(running('paused'));
  await at.rig.clock.advance(5 * minuteMs);
  expect(at.told()).toEqual([begins, begins, ends]);
  at.rig.fleet.putMailbox(running('running'));
  await at.rig.clock.advance(5 * minuteMs);
  expect(at.told().slice(3)).toEqual([ends]);
});
