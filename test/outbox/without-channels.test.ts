// While there is no channel, what people would be notified of waits for one.
import { expect, test } from 'vitest';
import { fingerprintOf, type Transition } from '../../src/core/alert.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { startReceiver } from './receiver.ts';
import { hookTo, type Rig, rigWith } from './rig.ts';

function acted(number: number, at = start): Transition {
  const alert = sampleAlert(number, { rule: 'guard_acted' });
  return { kind: 'event', at, alert: { ...alert, fingerprint: fingerprintOf(alert) } };
}

function fire(rig: Rig, number: number): void {
  const alert = sampleAlert(number);
  rig.fleet.putAlerts({ changed: [alert], dropped: [] });
  rig.commit(firing(alert));
}

/** The alerts that the first channel gets, which comes after so long. */
async function toldAfter(begin: (rig: Rig) => void, waitMs: number) {
  await using receiver = await startReceiver();
  await using rig = rigWith(() => []);
  begin(rig);
  await rig.clock.advance(waitMs);
  const waiting = rig.store.unnotified();
  await rig.reconfigure(hookTo(receiver.url)(rig.clock));
  await rig.clock.advance(10 * minuteMs);
  const alerts = receiver.received.flatMap(({ body }) => JSON.parse(body).data.alerts as { rule: string }[]);
  expect(rig.store.unnotified()).toBe(0);
  const rules = [...new Set(alerts.map(({ rule }) => rule))].sort();
  return { waiting, rules: rules.join(' '), messages: receiver.received.length };
}

const fireAndAct = (rig: Rig, at = start) => {
  fire(rig, 1);
  rig.commit(acted(2, at));
};

const actLate = (rig: Rig) => fireAndAct(rig, start - 3 * dayMs);
const actAhead = (rig: Rig) => rig.commit(acted(2, start + hourMs));
const comeAndGo = (rig: Rig) => rig.commit(firing(sampleAlert(1)), resolved(sampleAlert(1)));

test.each([
  ['what fires, and what was done', fireAndAct, hourMs, { waiting: 2, rules: 'guard_acted stale_data', messages: 2 }],
  ['no acts of three days ago', actLate, hourMs, { waiting: 1, rules: 'stale_data', messages: 1 }],
  ['acts before a clock was set back', actAhead, 2 * minuteMs, { waiting: 1, rules: 'guard_acted', messages: 1 }],
  ['nothing that began and ended meanwhile', comeAndGo, hourMs, { waiting: 0, rules: '', messages: 0 }],
])('the first channel that comes is told of %s', async (_, begin, waitMs, expected) => {
  expect(await toldAfter(begin, waitMs)).toEqual(expected);
});

test('the end of what people know of waits for a channel, too', async () => {
  await using receiver = await startReceiver();
  await using rig = rigWith(hookTo(receiver.url));
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(minuteMs);
  await rig.reconfigure([]);
  rig.commit(resolved(sampleAlert(1)));
  await rig.clock.advance(hourMs);
  await rig.reconfigure(hookTo(receiver.url)(rig.clock));
  await rig.clock.advance(10 * minuteMs);
  const told = receiver.received.flatMap(({ body }) => JSON.parse(body).data.alerts as { status: string }[]);
  expect(told.map(({ status }) => status)).toEqual(['firing', 'resolved']);
});
