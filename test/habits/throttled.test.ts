// 429 and 503 about one mailbox or one route: what is about the whole account stops it, and nothing else does.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { calmPoll, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { answerWith, emergencyWeek, OtherApi, week } from '../support/other-api.ts';

const says = (status: number, seconds: number | null) =>
  answerWith(status, { error: 'slow down' }, seconds === null ? {} : { 'retry-after': String(seconds) });
/** The longest time between two requests, milliseconds. */
const longestGapMs = (times: readonly number[]) =>
  Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));

test.each([60, 900, null])(
  'a 429 to the changes of one mailbox (Retry-After %s) holds that mailbox alone: it is NOT ACTED ON, the others are',
  async (seconds) => {
    await using api = await OtherApi.start(['held', 'burning', 'asked']);
    const [held, burning, asked] = api.boxes;
    await using daemon = await startMovedDaemon({ other: api, poll: calmPoll, account: { plan: 'pro' } });
    await daemon.run(hourMs);
    api.fault = ({ method, mailboxId }) =>
      method === 'POST' && mailboxId === held.id ? says(429, seconds) : undefined;
    held.days = week(40, 6);
    await daemon.run(30 * minuteMs);
    burning.days = emergencyWeek;
    const from = api.log.length;
    await daemon.run(hourMs);
    expect(burning.status).toBe('paused');
    const failed = [...daemon.fleet().alerts()].filter(
      ({ rule, status }) => rule === 'guard_action_failed' && status === 'firing',
    );
    expect(failed.map(({ mailboxId }) => mailboxId)).toEqual([held.id]);
    // The wait that was asked for, else a minute; and reading goes on.
    const since = api.log.slice(from);
    expect(
      since.filter(({ method, mailboxId }) => method === 'POST' && mailboxId === held.id).length,
    ).toBeLessThanOrEqual(seconds === 900 ? 5 : 61);
    expect(since.filter(({ path, status }) => path === '/v1/stats' && status === 200).length).toBeGreaterThan(8);
    expect([...daemon.fleet().alerts()].map(({ rule }) => rule)).not.toContain('budget_too_small');
    const paused = await daemon.command('pause', { mailbox: asked.email, dry_run: false, plan: null });
    expect([paused?.result, asked.status]).toEqual(['done', 'paused']);
    api.fault = () => undefined;
    await daemon.run(2 * hourMs);
    expect(held.mode).toBe('recovery');
  },
);

test('503 with Retry-After on one route stops that route, and an emergency is acted on in time', async () => {
  await using api = await OtherApi.start(20);
  const [burning] = api.boxes;
  api.fault = ({ path }) => (path === '/v1/dns' ? says(503, 900) : undefined);
  await using duty = await goOnDuty({ other: api });
  await duty.run(hourMs);
  burning.days = emergencyWeek;
  await duty.until(() => burning.status === 'paused', hourMs);
  expect(longestGapMs(api.log.map(({ at }) => at))).toBeLessThan(5 * minuteMs);
});

test.each([900, 20, null])(
  'a 429 (Retry-After %s) to one route without limit headers stops the others for a minute, once',
  async (seconds) => {
    await using api = await OtherApi.start(8);
    const [burning] = api.boxes;
    const poll = { ...calmPoll, dns: '17 * * * *', blacklist: '23 * * * *' };
    await using daemon = await startMovedDaemon({ other: api, poll });
    await daemon.run(hourMs);
    const isSlow = (path: string | undefined) => path === '/v1/dns' || path === '/v1/blacklist';
    api.fault = ({ path }) => (isSlow(path) ? says(429, seconds) : undefined);
    const from = api.log.length;
    await daemon.run(5 * hourMs);
    const since = api.log.slice(from);
    const answered = since.filter(({ path }) => !isSlow(path)).map(({ at }) => at);
    expect(longestGapMs(answered)).toBeLessThan(seconds === 900 ? 16 * minuteMs : 11 * minuteMs);
    expect(longestGapMs(answered.slice(answered.findIndex((at) => at > (answered[0] ?? 0) + hourMs)))).toBeLessThan(
      11 * minuteMs,
    );
    expect(since.length - answered.length).toBeLessThan(seconds === 20 ? 2000 : 50);
    burning.days = emergencyWeek;
    await daemon.until('the pause', () => burning.status === 'paused', 20 * minuteMs);
    expect(JSON.stringify(daemon.receiver.alerts())).not.toMatch(/does not answer|too many|shared/);
  },
);

test('an action that could not be confirmed and then meets only 429 is NOT ACTED', async () => {
  await using api = await OtherApi.start(['a', 'b']);
  const [box] = api.boxes;
  await using duty = await goOnDuty({ other: api });
  await duty.run(hourMs);
  let posts = 0;
  api.fault = ({ method }) => {
    if (method !== 'POST') return;
    posts += 1;
    return posts === 1 ? answerWith(200, {}) : says(429, 120);
  };
  box.days = week(40, 6);
  await duty.until(() => posts > 1, 2 * hourMs);
  await duty.run(15 * minuteMs);
  for (let minute = 0; minute < 30; minute += 1) {
    expect(duty.alert('guard_action_failed')?.status).toBe('firing');
    await duty.run(minuteMs);
  }
});

test('503 with Retry-After: nothing is asked for that long, and everything goes on afterwards', async () => {
  await using api = await OtherApi.start(['a']);
  await using duty = await goOnDuty({ other: api });
  await duty.run(10 * minuteMs);
  let left = 0;
  api.fault = () => (api.now() < left ? says(503, Math.ceil((left - api.now()) / secondMs)) : undefined);
  left = api.now() + 10 * minuteMs;
  const from = api.log.length;
  await duty.run(10 * minuteMs);
  // One is no pattern: the second in a row is obeyed by the whole account.
  expect(api.log.slice(from).length).toBeLessThanOrEqual(3);
  await duty.run(20 * minuteMs);
  expect(api.reads('/v1/stats').filter(({ at }) => at > left)).not.toEqual([]);
});
