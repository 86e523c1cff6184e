// What services say of their rate limit, 429 and 503 about one mailbox, one route or all, and what an account makes of it: what is about the
// whole account stops it, and nothing else does. The API is not the simulator: it counts and says what a test wants, route by route.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { calmPoll, type Duty, type DutyOptions, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { type Asked, answerWith, emergencyWeek, type Limits, OtherApi, week } from '../support/other-api.ts';

/** An API with so many mailboxes on as many domains, which says `headers` of a request; null: without headers. */
async function apiSaying(mailboxes: number, headers: (asked: Asked) => Limits | null): Promise<OtherApi> {
  return Object.assign(await OtherApi.start(mailboxes), { tells: headers });
}

const isJudged = (duty: Duty) => [...duty.fleet().mailboxes()].every(({ verdict }) => verdict !== null);
/** The most requests of these in any minute. */
function mostInAMinute(requests: readonly { readonly at: number }[]): number {
  return Math.max(...requests.map(({ at }) => requests.filter((one) => one.at > at - minuteMs && one.at <= at).length));
}
const watching = (api: OtherApi, options: DutyOptions = {}) =>
  goOnDuty({ other: api, statsIntervalMinMs: minuteMs, ...options });

test.each([
  [
    'a limit that DNS and blacklists have of their own slows these two, together, and nothing else',
    { narrow: ['/v1/dns', '/v1/blacklist'], limit: 3, least: 55 },
  ],
  [
    'a limit of the health endpoint, which is asked without the key, slows health alone',
    { narrow: ['/v1/health'], limit: 1, least: 25 },
  ],
])('%s', async (_name, { narrow, limit, least }) => {
  await using api = await apiSaying(40, ({ path }) => (narrow.includes(path) ? { limit, remaining: 0 } : null));
  await using duty = await watching(api, { requestsPerMinute: 30, poll: { health: '*/10 * * * * *' } });
  // 80 requests at 27 a minute.
  await duty.until(() => isJudged(duty), 5 * minuteMs);
  await duty.run(30 * minuteMs);
  const ofNarrow = api.log.filter(({ path }) => narrow.includes(path));
  expect(mostInAMinute(ofNarrow.slice(2))).toBeLessThanOrEqual(limit);
  expect(ofNarrow.length).toBeGreaterThan(least);
  expect([duty.account()?.limitPerMinute, duty.account()?.requestsPerMinute, duty.firing()]).toEqual([30, 27, []]);
});

test('a 429 to health or to a route with a limit of its own stops that route alone', async () => {
  await using api = await apiSaying(20, ({ path }) => (path === '/v1/dns' ? { limit: 3, remaining: 0 } : null));
  await using duty = await watching(api, { requestsPerMinute: 60 });
  await duty.until(() => isJudged(duty), 5 * minuteMs);
  const full = answerWith(429, { error: 'slow down' }, { 'retry-after': '300' });
  api.fault = ({ path }) => (['/v1/dns', '/v1/health'].includes(path) ? full : undefined);
  await duty.run(2 * minuteMs);
  const from = duty.clock.now();
  await duty.run(10 * minuteMs);
  const since = api.log.filter(({ at }) => at > from);
  expect(since.filter(({ path }) => path === '/v1/dns').length).toBeLessThanOrEqual(3);
  expect(since.filter(({ path }) => path === '/v1/health').length).toBeLessThanOrEqual(3);
  expect(since.filter(({ path }) => path === '/v1/stats').length).toBeGreaterThan(100);
  expect([duty.account()?.requestsPerMinute, duty.account()?.throttledLastHour, duty.firing()]).toEqual([54, 0, []]);
});

test('the same limit from every route with the key is the key’s, and below half of the plan that is told within ten minutes', async () => {
  await using api = await apiSaying(12, () => ({ limit: 1, remaining: 0 }));
  await using duty = await watching(api);
  const begun = duty.clock.now();
  await duty.until(() => duty.firing().length > 0, 10 * minuteMs);
  const [alert, ...others] = duty.firing();
  expect([alert?.rule, alert?.severity, others]).toEqual(['budget_too_small', 'warning', []]);
  expect(alert?.facts.sentences[0]).toBe(
    'The API says that it allows 1 request a minute (X-RateLimit-Limit); the configuration says 100.',
  );
  expect([duty.account()?.limitPerMinute, mostInAMinute(api.log.filter(({ at }) => at > begun + minuteMs))]).toEqual([
    1, 1,
  ]);
  // Once it says more, so does the account.
  api.tells = () => ({ limit: 100, remaining: 99 });
  await duty.until(() => duty.firing().length === 0, 2 * hourMs);
  expect(duty.account()?.limitPerMinute).toBe(100);
});

test('statistics with a limit of their own that is far below the cadence: that is told, too', async () => {
  await using api = await apiSaying(60, ({ path }) => (path === '/v1/stats' ? { limit: 1, remaining: 0 } : null));
  await using duty = await watching(api);
  await duty.until(() => duty.firing().length > 0, 10 * minuteMs);
  const [alert] = duty.firing();
  expect([alert?.rule, alert?.severity]).toEqual(['budget_too_small', 'warning']);
  expect(alert?.facts.sentences[0]).toBe(
    'The API allows 1 request a minute for statistics (X-RateLimit-Limit); the cadence needs 4.',
  );
});

test('extra polls take half of the limit at most beside what the cadence needs, and none for ten minutes after a 429', async () => {
  await using api = await apiSaying(120, () => null);
  await using duty = await goOnDuty({ other: api, statsIntervalMinMs: minuteMs, headroomPpm: 30_000 });
  await duty.until(() => isJudged(duty), 5 * minuteMs);
  await duty.run(15 * minuteMs);
  const from = duty.clock.now();
  await duty.run(30 * minuteMs);
  const settled = api.log.filter(({ at }) => at > from);
  // The cadence needs 15 a minute. A burst of 30 by other tools meets room.
  expect(mostInAMinute(settled)).toBeLessThanOrEqual(66);
  expect(settled.length / 30).toBeGreaterThan(60);
  api.fault = () => answerWith(429, {}, { 'retry-after': '5' });
  await duty.run(2 * secondMs);
  api.fault = () => undefined;
  const begun = duty.clock.now();
  await duty.run(10 * minuteMs - 2 * secondMs);
  const after = api.log.filter(({ at }) => at > begun);
  // Two runs of statistics at most fall into ten minutes.
  expect(after.filter(({ path }) => path === '/v1/stats').length).toBeLessThanOrEqual(250);
  expect(after.length / 10).toBeLessThan(40);
  await duty.run(10 * minuteMs);
  expect(api.log.filter(({ at }) => at > begun + 11 * minuteMs).length / 9).toBeGreaterThan(50);
});

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

test.each([0, 70])('a command that meets only 429, and all do for %i s, fails and frees the guard', async (seconds) => {
  await using api = await OtherApi.start(['a']);
  api.fault = ({ method }) => {
    const from = api.posts()[0]?.at ?? Number.NEGATIVE_INFINITY;
    if (api.now() - from < seconds * secondMs) return says(429, null);
    return method === 'POST' ? says(429, 0) : undefined;
  };
  await using daemon = await startMovedDaemon({ other: api, poll: calmPoll });
  await daemon.run(10 * minuteMs);
  const { result, messages } = await daemon.command('pause', { mailbox: api.boxes[0].email });
  const said = seconds === 0 ? /not done within a minute: .*429/ : /in progress since/;
  expect([result, messages.join(' ')]).toEqual(['failed', expect.stringMatching(said)]);
  await daemon.run(3 * minuteMs);
  expect([...daemon.fleet().mailboxes()].map(({ action }) => action?.state)).toEqual(['dropped']);
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
