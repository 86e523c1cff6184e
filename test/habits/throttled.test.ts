// 429 and 503 about one mailbox or one route: what is about the whole account stops it, and nothing else does.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { calmPoll, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { type Fault, OtherApi, week } from '../support/other-api.ts';

const says = (status: number, seconds: number | null): Fault => ({
  ...{ kind: 'answer', status, body: JSON.stringify({ error: 'slow down' }) },
  ...(seconds !== null && { headers: { 'retry-after': String(seconds) } }),
});

test.each([60, 900, null])(
  'a 429 to the changes of one mailbox (Retry-After %s) holds that mailbox alone: it is NOT ACTED ON, the others are',
  async (seconds) => {
    await using api = await OtherApi.start();
    const [held, burning, asked] = ['held', 'burning', 'asked'].map((name) => api.add(`${name}@${name}.example`));
    if (!held || !burning || !asked) throw new Error('no mailboxes');
    await using daemon = await startMovedDaemon({ other: api, poll: calmPoll, account: { plan: 'pro' } });
    await daemon.run(hourMs);
    api.fault = ({ method, mailboxId }) =>
      method === 'POST' && mailboxId === held.id ? says(429, seconds) : undefined;
    held.days = week(40, 6);
    await daemon.run(30 * minuteMs);
    burning.days = week(40, 0).map((day) => (day.daysAgo === 0 ? { ...day, bounced: 12 } : day));
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
  await using api = await OtherApi.start();
  const boxes = Array.from({ length: 20 }, (_, index) => api.add(`m${index}@m${index}.example`));
  api.fault = ({ path }) => (path === '/v1/dns' ? says(503, 900) : undefined);
  await using duty = await goOnDuty({ other: api });
  await duty.run(hourMs);
  const [burning] = boxes;
  if (!burning) throw new Error('no mailbox');
  burning.days = week(40, 0).map((day) => (day.daysAgo === 0 ? { ...day, bounced: 12 } : day));
  await duty.until(() => burning.status === 'paused', hourMs);
  const times = api.log.map(({ at }) => at);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
  expect(Math.max(...gaps)).toBeLessThan(5 * minuteMs);
});

/** The longest time between two requests, milliseconds. */
const longestGapMs = (times: readonly number[]) =>
  Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));

test.each([900, 20, null])(
  'a 429 (Retry-After %s) to one route without limit headers stops the others for a minute, once',
  async (seconds) => {
    await using api = await OtherApi.start();
    const boxes = Array.from({ length: 8 }, (_, index) => api.add(`m${index}@m${index}.example`));
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
    const [burning] = boxes;
    if (!burning) throw new Error('no mailbox');
    burning.days = week(40, 0).map((day) => (day.daysAgo === 0 ? { ...day, bounced: 12 } : day));
    await daemon.until('the pause', () => burning.status === 'paused', 20 * minuteMs);
    expect(
      daemon.receiver
        .alerts()
        .map(({ title }) => title)
        .join(),
    ).not.toMatch(/does not answer|too many|shared/);
  },
);

test.each(['/v1/stats', '/v1/warmup'])('a 429 to each %s is red within an hour', async (judging) => {
  await using api = await OtherApi.start();
  for (let index = 0; index < 8; index += 1) api.add(`m${index}@m${index}.example`);
  await using duty = await goOnDuty({ other: api });
  await duty.run(hourMs);
  api.fault = ({ path, method }) => (path === judging && method === 'GET' ? says(429, 900) : undefined);
  await duty.run(hourMs);
  const firing = () => [...duty.fleet().alerts()].filter(({ status }) => status === 'firing').map(({ rule }) => rule);
  expect(firing()).toContain('not_guarded');
  await duty.run(6 * hourMs);
  expect(firing()).toContain('not_guarded');
});

test('an action that could not be confirmed and then meets only 429 is NOT ACTED', async () => {
  await using api = await OtherApi.start();
  const box = api.add('a@a.example');
  api.add('b@b.example');
  await using duty = await goOnDuty({ other: api });
  await duty.run(hourMs);
  let posts = 0;
  api.fault = ({ method }) => {
    if (method !== 'POST') return;
    posts += 1;
    return posts === 1 ? { kind: 'answer', status: 200, body: '{}' } : says(429, 120);
  };
  box.days = week(40, 6);
  await duty.until(() => posts > 1, 2 * hourMs);
  await duty.run(15 * minuteMs);
  for (let minute = 0; minute < 30; minute += 1) {
    expect(duty.alert('guard_action_failed')?.status).toBe('firing');
    await duty.run(minuteMs);
  }
});
