// What people hear over time: reminders, worsening, silences, what an outage explains, storms, and restarts in between.
import { expect, test } from 'vitest';
import { type Alert, fingerprintOf, type Transition } from '../../src/core/alert.ts';
import type { SweepProgress } from '../../src/core/mailbox.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import type { NotifySettings } from '../../src/outbox/collector.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { collectorRig, type Rig } from './collector-rig.ts';

const daily = { critical: 4 * hourMs, warning: dayMs, info: null };

/** Channels without a fleet; people read all but `machine`. */
function rig(settings: Partial<NotifySettings> = {}, names: readonly string[] = ['ops']) {
  return collectorRig({ from: start, mailboxes: [], names, settings: { repeatIntervalMs: daily, ...settings } });
}

/** A test on a rig of the usual settings. */
const it = (name: string, proof: (at: Rig) => Promise<void>) => test(name, () => proof(rig()));

const whole = { mailboxId: null, email: null } as const;

const down = (account = 'acme') =>
  sampleAlert(0, { rule: 'not_guarded', severity: 'critical', account, ...whole, object: 'api down' });

it('what goes on is told again after the repeat interval of its severity, a group at a time, also over a restart', async (at) => {
  at.fire(sampleAlert(1, { account: 'other' }), sampleAlert(2, { account: 'other' }), down());
  expect((await at.run(minuteMs)).map(({ rule }) => rule)).toEqual(['stale_data', 'not_guarded']);
  expect(await at.run(4 * hourMs - 2 * minuteMs)).toEqual([]);
  at.restart();
  expect(await at.run(2 * minuteMs)).toMatchObject([{ kind: 'reminder', alerts: ['reminder not_guarded'] }]);
  expect(at.sent.at(-1)?.title).toMatch(/^Still critical: /);
  at.end(down());
  expect(await at.run(10 * minuteMs)).toMatchObject([{ kind: 'resolved' }]);
  expect(await at.run(19 * hourMs)).toEqual([]);
  expect(await at.run(hourMs)).toMatchObject([{ kind: 'reminder', total: 2, rule: 'stale_data' }]);
});

test.each([false, true])(
  'after a clock was set back the next reminder comes after its interval; restarted: %s',
  async (restarts) => {
    const at = rig();
    at.ahead.ms = 3 * dayMs;
    at.fire(down());
    expect(await at.run(minuteMs)).toMatchObject([{ kind: 'firing' }]);
    at.ahead.ms = 0;
    if (restarts) at.restart();
    expect(await at.run(4 * hourMs - minuteMs)).toEqual([]);
    expect(await at.run(2 * minuteMs)).toMatchObject([{ kind: 'reminder', alerts: ['reminder not_guarded'] }]);
  },
);

it('an alert that ends and returns at a higher severity within the interval of its group is told as worse', async (at) => {
  const mild = sampleAlert(1, { rule: 'bounce_burst' });
  at.fire(mild);
  await at.run(minuteMs);
  at.end(mild);
  at.fire({ ...mild, severity: 'critical' });
  expect(await at.run(6 * minuteMs)).toMatchObject([{ kind: 'worsened', alerts: ['worsened m1'] }]);
});

test('a worsening is told as one, to those whose severity it is now, and the end to all who were told', async () => {
  const routes = [
    { match: { severity: ['warning'] as const }, channels: ['hook'] },
    { match: { severity: ['critical'] as const }, channels: ['ops'] },
  ];
  const at = rig({ routes }, ['hook', 'ops']);
  const mild = sampleAlert(1, { rule: 'blacklisted' });
  const severe = { ...mild, severity: 'critical' as const };
  at.fire(mild);
  expect(await at.run(minuteMs)).toMatchObject([{ channel: 'hook', kind: 'firing' }]);
  at.commit({ kind: 'worsened', at: at.now(), alert: severe });
  expect(await at.run(6 * minuteMs)).toMatchObject([{ channel: 'ops', kind: 'worsened' }]);
  at.restart();
  at.end(severe);
  const ends = await at.run(6 * minuteMs);
  expect(ends.map(({ channel, kind }) => `${channel} ${kind}`)).toEqual(['hook resolved', 'ops resolved']);
});

it('a group that changed waits for its interval, also when the process is another one', async (at) => {
  at.fire(sampleAlert(1));
  expect(await at.run(minuteMs)).toHaveLength(1);
  at.restart();
  at.fire(sampleAlert(2));
  expect(await at.run(3 * minuteMs)).toEqual([]);
  expect(await at.run(2 * minuteMs)).toHaveLength(1);
});

it('an alert that ends and begins again between two messages is no news', async (at) => {
  at.fire(sampleAlert(1));
  await at.run(minuteMs);
  at.end(sampleAlert(1));
  at.fire(sampleAlert(1, { firingAt: at.now() }));
  expect(await at.run(10 * minuteMs)).toEqual([]);
  expect(at.store.unnotified()).toBe(0);
  at.end(sampleAlert(1));
  expect(await at.run(10 * minuteMs)).toMatchObject([{ kind: 'resolved' }]);
});

it('a silence over the whole recovery: the end of an alert that was announced still arrives', async (at) => {
  at.fire(sampleAlert(1));
  expect(await at.run(minuteMs)).toHaveLength(1);
  at.silence({ account: ['acme'] }, dayMs);
  await at.run(5 * hourMs);
  at.end(sampleAlert(1));
  expect(await at.run(10 * minuteMs)).toMatchObject([{ kind: 'resolved', alerts: ['resolved m1'] }]);
});

it('what a silence muted is told when the silence is over and it still goes on; what ended meanwhile never was', async (at) => {
  at.silence({ domain: ['acme.example'], rule: ['stale_*'] }, 2 * hourMs);
  at.fire(sampleAlert(1), sampleAlert(2));
  at.fire(sampleAlert(3, { email: 'x@other.example' }), sampleAlert(4, { rule: 'contested' }));
  expect((await at.run(hourMs)).flatMap(({ alerts }) => alerts)).toEqual(['firing m3', 'firing m4']);
  at.restart();
  at.end(sampleAlert(2));
  expect(await at.run(58 * minuteMs)).toEqual([]);
  expect(await at.run(5 * minuteMs)).toMatchObject([{ kind: 'firing', alerts: ['firing m1'] }]);
  at.end(sampleAlert(1));
  expect(await at.run(10 * minuteMs)).toMatchObject([{ kind: 'resolved', alerts: ['resolved m1'] }]);
});

it('an API that is down explains the old data of its own mailboxes, and nothing that the guard did', async (at) => {
  at.fire(down());
  await at.run(minuteMs);
  const subject = { rule: 'guard_acted', account: 'acme', mailboxId: 'm9', email: 'i@a.example', object: 'x' } as const;
  at.fire(sampleAlert(1), sampleAlert(2, { account: 'other' }));
  at.fire(sampleAlert(3, { rule: 'guard_action_failed' }), sampleAlert(4, { rule: 'bounce_over_limit' }));
  const alert = sampleAlert(9, { ...subject, severity: 'critical', fingerprint: fingerprintOf(subject) });
  at.commit({ kind: 'event', at: at.now(), alert });
  const sent = (await at.run(10 * minuteMs)).flatMap(({ alerts }) => alerts);
  expect(sent.sort()).toEqual(['event m9', 'firing m2', 'firing m3', 'firing m4']);
  // It answers again: the next round of polls ends the rest, and nobody was bothered.
  at.end(down());
  await at.run(10 * minuteMs);
  at.end(sampleAlert(1));
  expect((await at.run(hourMs)).flatMap(({ alerts }) => alerts)).toEqual([]);
});

it('old data that outlives the outage by half an hour is told', async (at) => {
  at.fire(down(), sampleAlert(1));
  await at.run(minuteMs);
  at.end(down());
  expect((await at.run(25 * minuteMs)).flatMap(({ alerts }) => alerts)).toEqual(['resolved not_guarded']);
  expect((await at.run(10 * minuteMs)).flatMap(({ alerts }) => alerts)).toEqual(['firing m1']);
});

const sweepOf = (account: string, since: number): SweepProgress => {
  return { account, since, mailboxes: 9, read: 3, doneAt: null };
};
const found = (number: number, change: Partial<Alert> = {}, when?: number): Transition => ({
  ...firing(sampleAlert(number, change), when),
  found: true,
});

it('what a first sweep finds is one message when the sweep is over; what an action did is told at once', async (at) => {
  at.fleet.putSweep(sweepOf('acme', at.now() - 1));
  at.commit(
    ...[1, 2].map((number) => ({ ...firing(sampleAlert(number)), found: true })),
    { ...firing(sampleAlert(3, { rule: 'dns_failing', severity: 'critical' })), found: true },
    firing(sampleAlert(4, { rule: 'guard_action_failed', severity: 'critical' })),
  );
  expect(await at.run(2 * minuteMs)).toMatchObject([{ kind: 'firing', rule: 'guard_action_failed' }]);
  at.end(sampleAlert(2));
  await at.run(10 * minuteMs);
  at.commit({ ...firing(sampleAlert(5, { rule: 'contested' }), at.now()), found: true });
  at.fleet.endSweep('acme');
  const sent = await at.run(2 * minuteMs);
  expect(sent).toMatchObject([{ kind: 'found', rule: null, total: 4 }]);
  expect([...(sent[0]?.alerts ?? [])].sort()).toEqual(['firing m1', 'firing m3', 'firing m5', 'resolved m2']);
  expect(at.sent.at(-1)?.title).toBe('Critical: acme: DNS failing (1), changes reversed (1), data out of date (2)');
  expect(await at.run(hourMs)).toEqual([]);
});

it('what a first sweep found waits for an hour at most, and not for the sweep of another account', async (at) => {
  for (const account of ['acme', 'other']) at.fleet.putSweep(sweepOf(account, at.now() - 1));
  at.commit(found(1), found(2, { account: 'other' }));
  await at.run(20 * minuteMs);
  at.commit(found(3, {}, at.now()));
  at.fleet.endSweep('other');
  expect(await at.run(2 * minuteMs)).toMatchObject([{ kind: 'found', alerts: ['firing m2'] }]);
  expect(await at.run(37 * minuteMs)).toEqual([]);
  // The sweep of acme never ends, for whatever reason: all that it found so far is told with the oldest.
  expect(await at.run(3 * minuteMs)).toMatchObject([{ kind: 'found', total: 2 }]);
});

it('what a first sweep of an earlier process found does not wait for the next sweep', async (at) => {
  at.commit(found(1));
  await at.run(10);
  at.restart();
  at.fleet.putSweep(sweepOf('acme', at.now()));
  at.commit(found(2, {}, at.now() + 1));
  expect(await at.run(2 * minuteMs)).toMatchObject([{ kind: 'found', alerts: ['firing m1'] }]);
  at.fleet.removeAccount('acme');
  expect(await at.run(6 * minuteMs)).toMatchObject([{ kind: 'found', alerts: ['firing m2'] }]);
});

it('what began and ended before people were told is one message that says both', async (at) => {
  at.fire(sampleAlert(1));
  at.end(sampleAlert(1));
  expect(await at.run(10 * minuteMs)).toMatchObject([{ kind: 'resolved', alerts: ['resolved m1'] }]);
  expect(at.sent.at(-1)?.title).toMatch(/^Began and resolved: /);
  // The beginning of a failing store was announced without the store.
  const failing = sampleAlert(1, { rule: 'store_failing', account: '', ...whole });
  at.fire(failing);
  at.end(failing);
  await at.run(10 * minuteMs);
  expect(at.sent.at(-1)?.title).toMatch(/^Resolved: /);
});

const overLimit = (reason: string) => {
  const facts = { title: 'box1: bounces over the limit', sentences: [], numbers: { reason } };
  return sampleAlert(1, { rule: 'bounce_over_limit', severity: 'warning', facts });
};
const tooFew = overLimit('insufficient_evidence');
const breach = overLimit('bounce_rate_over_limit');

test('bounces that are too few to act on are told, and their end only to receivers that keep them open', async () => {
  const at = rig({}, ['people', 'machine']);
  at.fire(tooFew);
  await at.run(2 * minuteMs);
  at.restart();
  at.end(overLimit('ok'));
  await at.run(dayMs);
  expect(at.sent.map(({ channel, kind }) => `${channel} ${kind}`)).toEqual([
    'people firing',
    'machine firing',
    'machine resolved',
  ]);
});

test('what began as too few and is not acted on is told as worse, whatever its severity, and so is its end', async () => {
  const at = rig({}, ['people']);
  at.fire(tooFew);
  await at.run(2 * minuteMs);
  at.fleet.putAlert(breach);
  await at.run(10 * minuteMs);
  expect(at.sent.map(({ kind }) => kind)).toEqual(['firing', 'worsened']);
  at.fleet.putAlert(tooFew);
  await at.run(10 * minuteMs);
  at.end(overLimit('ok'));
  await at.run(10 * minuteMs);
  expect(at.sent.map(({ kind }) => kind)).toEqual(['firing', 'worsened', 'resolved']);
});

it('the change whose refusal shows that a key may not write is announced with the key, and by itself where there is none', async (at) => {
  const of = { severity: 'critical', account: 'acme' } as const;
  const key = sampleAlert(0, { rule: 'not_guarded', ...of, ...whole, object: 'key read-only' });
  const refused = (number: number, account: string) =>
    sampleAlert(number, { rule: 'guard_action_failed', ...of, account });
  at.fire(key, refused(1, 'acme'), refused(2, 'globex'));
  expect(await at.run(minuteMs)).toMatchObject([
    { kind: 'firing', rule: null, total: 2 },
    { kind: 'firing', rule: 'guard_action_failed', total: 1 },
  ]);
  at.fire(refused(3, 'acme'));
  expect(await at.run(10 * minuteMs)).toMatchObject([{ rule: 'guard_action_failed', total: 1 }]);
  expect((await at.run(4 * hourMs)).map(({ kind, rule, total }) => [kind, rule, total])).toEqual([
    ['reminder', null, 3],
    ['reminder', 'guard_action_failed', 1],
  ]);
});
