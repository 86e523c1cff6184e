// What a process that has just started says of a channel that was failing: nothing, until the channel has said something.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { hourMs } from '../../src/core/time.ts';
import { watchChannels } from '../../src/outbox/notifier.ts';
import { movedClock } from '../../src/world/world.ts';
import { start } from '../alerts/samples.ts';
import { memoryOutbox } from './memory-outbox.ts';
import { hookTo } from './rig.ts';

test('an alert about a failing channel goes on over a restart, and ends only when the channel is not configured any more', async () => {
  const clock = movedClock(start);
  const world = { clock, random: () => 0.5, log: pino({ level: 'silent' }), command: 'warmwarden' };
  const look = async (fleet: Fleet, channels: ReturnType<ReturnType<typeof hookTo>>) => {
    const settings = () => ({ rules: defaultRuleSettings });
    const store = memoryOutbox();
    await watchChannels({ world, store, fleet, channels: () => channels, settings, recorded: () => {} });
    return [...fleet.alerts()].map(({ status, facts }) => `${status}: ${facts.title}`);
  };
  const configured = hookTo('http://127.0.0.1:9/')(clock);
  const before = new Fleet();
  const failing = { failingSince: start - hourMs, lastFailure: 'the receiver answered 429', refusesSetup: false };
  const counts = { pending: 1, oldestPendingAt: start, undelivered: 0, lastSuccessAt: null };
  before.putChannel({ name: 'hook', type: 'webhook', ...counts, ...failing });
  const firing = ['firing: channel hook does not accept messages'];
  expect(await look(before, configured)).toEqual(firing);

  const after = new Fleet();
  for (const alert of before.alerts()) after.putAlert(alert);
  expect(await look(after, configured)).toEqual(firing);
  expect(await look(after, [])).toEqual([]);
});
