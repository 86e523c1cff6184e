// What a service shows of a warm-up may change by the hour: bounces are judged all the same. The API is not the simulator.
import { expect, test } from 'vitest';
import { dayMs, type EpochMs, hourMs } from '../../src/core/time.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type Duty, goOnDuty, rarePoll } from '../account/duty.ts';
import { type Day, OtherApi, type OtherMailbox } from '../support/other-api.ts';

/** Emails leave from 06:30 to 18:30 UTC. */
const [opensAt, closesAt] = [6.5 * hourMs, 18.5 * hourMs];
const midnight = scenarioStart - (scenarioStart % dayMs);

/** The days of a mailbox at a moment: quiet before the start, then so many emails and bounces a day. */
function daysAt(now: EpochMs, sent: number, bounced: number): Day[] {
  const today = Math.floor((now - midnight) / dayMs);
  const share = Math.min(1, Math.max(0, (now % dayMs) - opensAt) / (closesAt - opensAt));
  return Array.from({ length: today + 8 }, (_, daysAgo) => {
    if (daysAgo > today) return { daysAgo, sent: 40, bounced: 0 };
    const part = daysAgo === 0 ? share : 1;
    return { daysAgo, sent: Math.floor(sent * part), bounced: Math.floor(bounced * part) };
  });
}

/** An API whose mailboxes are, at any request, as `shows` says. */
async function apiShowing(shows: Readonly<Record<string, (now: EpochMs) => Partial<OtherMailbox>>>) {
  const api = await OtherApi.start(Object.keys(shows));
  api.fault = () => {
    for (const [index, show] of Object.values(shows).entries()) Object.assign(api.boxes[index] ?? {}, show(api.now()));
    return undefined;
  };
  return api;
}

const isNight = (now: EpochMs) => now % dayMs < opensAt || now % dayMs >= closesAt;
const stateOf = (duty: Duty, { email }: OtherMailbox) => duty.state(email);
const isFiring = (duty: Duty, { id }: OtherMailbox) =>
  duty.firing().some((one) => one.rule === 'guard_blind' && one.mailboxId === id);

test('eight nights of pauses do not hide 6% of bounces: switched within a day of the mailbox that runs', async () => {
  const days = (now: EpochMs) => ({ days: daysAt(now, 50, 3) });
  await using api = await apiShowing({
    plain: days,
    nightly: (now) => ({ ...days(now), status: isNight(now) ? 'paused' : 'active' }),
  });
  await using duty = await goOnDuty({ other: api, poll: rarePoll });
  await duty.until(() => api.boxes.every(({ mode }) => mode === 'recovery'), 8 * dayMs);
  const [plain = 0, nightly = 0] = api.boxes.map((box) => api.posts(box)[0]?.at);
  expect([plain - midnight, nightly - plain].map((ms) => ms / dayMs <= 1)).toEqual([true, true]);
});

test('a recovery of ours ends by itself although the status reads paused every night', async () => {
  // It bounces until it is switched, and on that day.
  const dayOf = (at: EpochMs) => Math.floor(at / dayMs);
  const isHealed = (now: EpochMs, daysAgo: number) => dayOf(now) - daysAgo > dayOf(api.posts()[0]?.at ?? now);
  const healed = (now: EpochMs) =>
    daysAt(now, 50, 3).map((day) => (isHealed(now, day.daysAgo) ? { ...day, bounced: 0 } : day));
  await using api = await apiShowing({
    nightly: (now) => ({ days: healed(now), status: isNight(now) ? 'paused' : 'active' }),
  });
  await using duty = await goOnDuty({ other: api, poll: rarePoll });
  const [box] = api.boxes;
  await duty.until(() => box.mode === 'recovery', 8 * dayMs);
  await duty.until(() => box.mode === 'balanced', 24 * dayMs);
  expect(api.posts()).toHaveLength(2);
});

/** The days of a mailbox that sends no more since a moment. */
function daysUntil(end: EpochMs, now: EpochMs, sent: number, bounced: number): Day[] {
  const last = Math.min(now, end);
  const age = Math.floor(now / dayMs) - Math.floor(last / dayMs);
  return daysAt(last, sent, bounced).map((day) => ({ ...day, daysAgo: day.daysAgo + age }));
}

const noon = midnight + 12 * hourMs;

test('a status word that turns is believed for the rest of its day, and not against emails of the next ones that bounce', async () => {
  const word = (now: EpochMs, turned: string) => ({ status: now < noon ? 'active' : turned });
  // The bounces begin after the word.
  const burning = (now: EpochMs) => ({ days: daysAt(now, 60, now < noon ? 0 : 12) });
  await using api = await apiShowing({
    paused: (now) => ({ ...burning(now), ...word(now, 'paused') }),
    finished: (now) => ({ ...burning(now), ...(api.posts(api.boxes[1]).length === 0 ? word(now, 'finished') : {}) }),
    calm: (now) => ({ days: daysUntil(noon, now, 60, 3), ...word(now, 'paused') }),
  });
  const [paused, finished, calm] = api.boxes;
  await using duty = await goOnDuty({ other: api, poll: rarePoll, policy: { enforce: true, onBreach: 'alert' } });
  await duty.run(midnight + dayMs - scenarioStart);
  expect(api.boxes.map((box) => [stateOf(duty, box), isFiring(duty, box), api.posts(box).length])).toEqual([
    ['paused_by_others', false, 0],
    ['not_running', false, 0],
    ['paused_by_others', false, 0],
  ]);
  await duty.run(10 * hourMs);
  expect([finished.status, stateOf(duty, finished)]).toEqual(['paused', 'paused_by_guard']);
  expect([stateOf(duty, paused), isFiring(duty, paused), api.posts(paused)]).toEqual(['not_judged', true, []]);
  const told = [...duty.fleet().alerts()].find(({ rule }) => rule === 'guard_blind')?.facts.sentences.join(' ');
  expect(told).toMatch(/^The status says paused, but it sends and bounces\. \d+ bounces in \d+ emails since/);
  expect([stateOf(duty, calm), isFiring(duty, calm)]).toEqual(['paused_by_others', false]);
});

test('our pause stands while the API finds other words for it, and a person’s word that nobody listed is not written over', async () => {
  const shown: { word: string | null; pausedAt: EpochMs } = { word: null, pausedAt: Number.POSITIVE_INFINITY };
  await using api = await apiShowing({
    ours: (now) => ({
      days: daysUntil(shown.pausedAt, now, 60, 12),
      ...(shown.word === null ? {} : { status: shown.word }),
    }),
    theirs: (now) => ({
      days: daysUntil(noon, now, 60, 0),
      ...(now >= noon ? { status: 'halted' } : {}),
    }),
  });
  const [ours, theirs] = api.boxes;
  await using duty = await goOnDuty({ other: api, poll: rarePoll });
  await duty.until(() => stateOf(duty, ours) === 'paused_by_guard');
  const tries = api.posts(ours).length;
  shown.pausedAt = duty.clock.now();
  for (const word of ['At Risk', 'inactive', 'finished']) {
    shown.word = word;
    await duty.run(dayMs);
    expect([word, stateOf(duty, ours), api.posts(ours).length]).toEqual([word, 'paused_by_guard', tries]);
  }
  expect([theirs.status, stateOf(duty, theirs), isFiring(duty, theirs)]).toEqual(['halted', 'not_judged', true]);
});

test('warm-ups that stop together are one warning; those that do so every night are none', async () => {
  const nightly = (now: EpochMs) => ({
    days: daysAt(now, 40, 0),
    status: now >= midnight + dayMs && isNight(now) ? 'paused' : 'active',
  });
  const names = Array.from({ length: 8 }, (_, index) => `box${index}`);
  await using api = await apiShowing(Object.fromEntries(names.map((name) => [name, nightly])));
  const poll = { ...rarePoll, stats: '0 */6 * * *', mailboxes: '0 */6 * * *' };
  await using duty = await goOnDuty({ other: api, poll });
  await duty.run(midnight + 3 * dayMs - scenarioStart);
  const told = (await duty.store().outbox.unnotifiedTransitions(10_000)).map(({ transition }) => transition.alert);
  const ofAccount = told.filter(({ rule, mailboxId }) => rule === 'changed_by_others' && mailboxId === null);
  expect(ofAccount.map(({ severity, facts }) => [severity, facts.title])).toEqual([
    ['warning', 'agency: 5 of 8 warm-ups stopped within an hour'],
  ]);
  expect(ofAccount[0]?.facts.sentences[0]).toContain('Their status now says paused.');
  expect(told.filter(({ severity }) => severity !== 'info')).toHaveLength(1);
});
