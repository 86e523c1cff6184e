// Escalation: a second channel gets what still fires, or what nobody acknowledged, after the delay of its route; each once.
import { expect, test } from 'vitest';
import type { AlertRoute } from '../../src/alerts/routing.ts';
import type { Alert } from '../../src/core/alert.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { sampleAlert, start } from '../alerts/samples.ts';
import { pauseOf } from '../channels/people.ts';
import { collectorRig, type Rig } from './collector-rig.ts';

const half = 30 * minuteMs;
const team: AlertRoute = { match: {}, channels: ['ops'] };
const boss: AlertRoute = { match: {}, channels: ['boss'], unlessResolvedAfterMs: half };
const unacknowledged: AlertRoute = { match: {}, channels: ['boss'], unlessAcknowledgedAfterMs: half };
const repeatIntervalMs = { critical: 4 * hourMs, warning: 4 * hourMs, info: null };

function rig(routes: readonly AlertRoute[], groupIntervalMs = 5 * minuteMs) {
  const settings = { routes, groupIntervalMs, repeatIntervalMs };
  return collectorRig({ from: start, mailboxes: [], names: ['ops', 'boss'], settings });
}

const fire = (at: Rig, number = 1, change: Partial<Alert> = {}) => {
  const alert = sampleAlert(number, { since: at.now(), firingAt: at.now(), ...change });
  at.fire(alert);
  return alert;
};
const acknowledge = (at: Rig, alert: Alert, by = 'ann') => {
  const acknowledged = { ...alert, acknowledged: { by, reason: 'the provider knows', at: at.now() } };
  at.fleet.putAlert(acknowledged);
  return acknowledged;
};
const told = (sent: readonly { channel: string; kind: string }[]) =>
  sent.map(({ channel, kind }) => `${channel} ${kind}`);
const sentencesTo = (at: Rig, channel: string) =>
  at.sent.findLast((one) => one.channel === channel)?.message.transitions[0]?.alert.facts.sentences ?? [];

test('the second channel gets what still fires after half an hour, once, then its reminders and its end', async () => {
  const at = rig([team, boss]);
  const alert = fire(at);
  expect(told(await at.run(29 * minuteMs))).toEqual(['ops firing']);
  at.restart();
  expect(told(await at.run(2 * minuteMs))).toEqual(['boss firing']);
  expect([sentencesTo(at, 'boss')[0], sentencesTo(at, 'ops')]).toEqual([
    'Not resolved for 30 min.',
    sentencesTo(at, 'boss').slice(1),
  ]);
  at.restart();
  // The escalation does not delay the reminder.
  expect(told(await at.run(4 * hourMs - 32 * minuteMs))).toEqual([]);
  expect(told(await at.run(10 * minuteMs))).toEqual(['ops reminder', 'boss reminder']);
  at.end(alert);
  expect(told(await at.run(10 * minuteMs))).toEqual(['ops resolved', 'boss resolved']);
  expect(await at.run(dayMs)).toEqual([]);
});

test('what ends, or is silenced, in time reaches the second channel never; what a silence held back, after it', async () => {
  const at = rig([team, boss]);
  const alert = fire(at);
  fire(at, 2, { rule: 'contested' });
  await at.run(20 * minuteMs);
  at.silence({ rule: ['contested'] }, 2 * hourMs);
  at.end(alert);
  expect(told(await at.run(119 * minuteMs))).toEqual(['ops resolved']);
  expect(told(await at.run(3 * minuteMs))).toEqual(['boss firing']);
});

test('a delayed route alone: a warning waits for it; a critical alert goes to every channel at once', async () => {
  const at = rig([boss], minuteMs);
  const warning = fire(at);
  const short = fire(at, 2, { rule: 'contested' });
  expect(await at.run(10 * minuteMs)).toEqual([]);
  at.end(short);
  fire(at, 3, { severity: 'critical', rule: 'dns_failing' });
  expect(told(await at.run(10 * minuteMs))).toEqual(['ops firing', 'boss firing']);
  expect(sentencesTo(at, 'boss')).not.toContain('Not resolved for 30 min.');
  expect((await at.run(hourMs)).map(({ channel, rule }) => `${channel} ${rule}`)).toEqual(['boss stale_data']);
  at.end(warning);
  expect(told(await at.run(10 * minuteMs))).toEqual(['boss resolved']);
});

test('an event has no delay: a delayed route takes none, however late it is looked at', async () => {
  const at = rig([team, boss]);
  at.commit({ ...pauseOf('confirmed'), at: start - hourMs });
  expect(told(await at.run(2 * hourMs))).toEqual(['ops event']);
});

test('an acknowledgement stops the reminders and the escalation, but not the end; the other route goes on', async () => {
  const at = rig([team, unacknowledged, { ...boss, channels: ['boss'], match: { rule: ['contested'] } }]);
  const alert = fire(at);
  const other = fire(at, 2, { rule: 'contested' });
  await at.run(20 * minuteMs);
  const acknowledged = acknowledge(at, alert);
  acknowledge(at, other);
  at.restart(at.fleet);
  expect((await at.run(dayMs)).map(({ channel, rule }) => `${channel} ${rule}`)).toEqual(['boss contested']);
  at.end(acknowledged);
  expect(told(await at.run(10 * minuteMs))).toEqual(['ops resolved']);
  expect(sentencesTo(at, 'ops').at(-1)).toMatch(/^Acknowledged by ann on .* UTC: the provider knows\.$/);
});

test('what nobody acknowledged is escalated as that, and what gets worse again', async () => {
  const at = rig([team, unacknowledged]);
  const alert = fire(at);
  expect(told(await at.run(35 * minuteMs))).toEqual(['ops firing', 'boss firing']);
  expect(sentencesTo(at, 'boss')[0]).toBe('Not acknowledged for 30 min.');
  acknowledge(at, alert);
  expect(await at.run(5 * hourMs)).toEqual([]);
  at.commit({ kind: 'worsened', at: at.now(), alert: { ...alert, severity: 'critical' } });
  expect(told(await at.run(6 * minuteMs))).toEqual(['ops worsened', 'boss worsened']);
});

test('an acknowledgement does not stop the daily reminder that protection is off', async () => {
  const at = rig([team, unacknowledged]);
  acknowledge(at, fire(at, 1, { rule: 'protection_off', object: 'writes' }));
  expect(told(await at.run(dayMs + hourMs))).toEqual(['ops firing', 'boss firing', 'ops reminder', 'boss reminder']);
});

test('an alert of the same group does not escalate earlier, and its news does not go to the second channel', async () => {
  const at = rig([team, boss], 30 * secondMs);
  fire(at);
  await at.run(15 * minuteMs);
  fire(at, 2);
  expect(told(await at.run(5 * minuteMs))).toEqual(['ops firing']);
  expect((await at.run(15 * minuteMs)).map(({ channel, alerts }) => [channel, alerts])).toEqual([
    ['boss', ['firing m1']],
  ]);
  expect((await at.run(15 * minuteMs)).map(({ channel, alerts }) => [channel, alerts])).toEqual([
    ['boss', ['firing m2']],
  ]);
});

test('of an incident the second channel gets the alerts that still fire, once, and their ends', async () => {
  const at = collectorRig({ names: ['ops', 'boss'], settings: { routes: [team, boss], repeatIntervalMs } });
  await at.play('00:10 over g0-0,g0-1,g0-2');
  await at.run(25 * minuteMs);
  expect(told(at.sent).filter((one) => one.startsWith('boss'))).toEqual([]);
  expect(at.sent.some(({ channel, message }) => channel === 'ops' && message.incident !== null)).toBe(true);
  const escalated = (await at.run(hourMs)).filter(({ channel }) => channel === 'boss');
  expect(escalated.flatMap(({ alerts }) => alerts).sort()).toEqual(['firing g0-0', 'firing g0-1', 'firing g0-2']);
  await at.play('02:00 ends g0-0,g0-1,g0-2');
  const rest = (await at.run(2 * dayMs)).filter(({ channel }) => channel === 'boss');
  expect(rest.flatMap(({ alerts }) => alerts).sort()).toEqual(['resolved g0-0', 'resolved g0-1', 'resolved g0-2']);
});
