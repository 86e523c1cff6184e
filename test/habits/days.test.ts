// Days of statistics that an API refuses or leaves out, and statistics that it refuses altogether. The API is not the simulator.
import { describe, expect, test } from 'vitest';
import { defaultPolicy } from '../../src/core/policy.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { goOnDuty, rarePoll } from '../account/duty.ts';
import { commandLine } from '../support/command-line.ts';
import { type Asked, answerWith, OtherApi, week } from '../support/other-api.ts';
import { Workplace } from '../support/process.ts';

const plan = (most: number) => `days must be at most ${most} on your plan`;
const refusal = (error: string) => answerWith(400, { error });
const isStats = ({ path }: Asked) => path === '/v1/stats';
const daysAsked = (api: OtherApi) => api.log.filter(isStats).map(({ query }) => Number(query.get('days')));

/** An API with these mailboxes that refuses more days than `most`. */
async function apiWith(names: readonly string[], most = 90): Promise<OtherApi> {
  const api = await OtherApi.start(names);
  api.fault = (asked) => (isStats(asked) && Number(asked.query.get('days')) > most ? refusal(plan(most)) : undefined);
  return api;
}

test.each([
  [14, [30, 14, 14]],
  [7, [30, 14, 7, 7]],
])('an API that refuses more than %i days is asked for less, and breaches are acted on', async (most, first) => {
  await using api = await apiWith(['a'], most);
  await using duty = await goOnDuty({ other: api, poll: rarePoll });
  const [box] = api.boxes;
  await duty.until(() => duty.reason(box.email) === 'ok', 5 * minuteMs);
  box.days = week(40, 5);
  await duty.until(() => box.mode === 'recovery');
  expect(daysAsked(api).slice(0, first.length)).toEqual(first);
  await duty.run(3 * dayMs - hourMs);
  // Asked again once a day.
  expect(daysAsked(api).filter((days) => days > 14)).toHaveLength(3);
  expect(duty.account()?.unjudged ?? null).toBeNull();
});

test('one mailbox that is refused 30 days shortens the window of no other; a second one does', async () => {
  await using api = await apiWith(['a', 'b', 'c']);
  const [a, b] = api.boxes;
  const refused = new Set([a.id]);
  api.fault = (asked) =>
    isStats(asked) && refused.has(asked.mailboxId ?? '') && Number(asked.query.get('days')) > 14
      ? refusal(plan(14))
      : undefined;
  await using duty = await goOnDuty({ other: api });
  const last = () => api.boxes.map((box) => Number(api.reads('/v1/stats', box).at(-1)?.query.get('days')));
  await duty.run(2 * hourMs);
  expect(last()).toEqual([14, 30, 30]);
  refused.add(b.id);
  await duty.run(2 * hourMs);
  expect(last()).toEqual([14, 14, 14]);
});

test('a 400 that no smaller number of days mends changes nothing: after one that was mended, all days are asked for', async () => {
  await using api = await apiWith(['a']);
  let refusing = true;
  api.fault = (asked) => (isStats(asked) && refusing ? refusal('the database is busy') : undefined);
  await using duty = await goOnDuty({ other: api });
  await duty.run(minuteMs);
  refusing = false;
  await duty.until(() => duty.reason('a@a.example') === 'ok', hourMs);
  expect(daysAsked(api).at(-1)).toBe(defaultPolicy.windowMaxDays);
});

test('fewer days than were asked for are judged, and the log says it once', async () => {
  await using api = await apiWith(['a']);
  const [box] = api.boxes;
  api.fault = (asked) => {
    if (!isStats(asked)) return undefined;
    const stats = week(20, 0).map(({ daysAgo, sent, bounced }) => ({
      date: new Date(api.now() - daysAgo * dayMs).toISOString().slice(0, 10),
      sent,
      bounced,
    }));
    return answerWith(200, { mailbox_id: box.id, period: '7d', stats });
  };
  await using duty = await goOnDuty({ other: api });
  await duty.until(() => duty.reason('a@a.example') === 'ok', 10 * minuteMs);
  await duty.run(2 * hourMs);
  expect(duty.api().statsCut).toEqual({ asked: 30, given: 7, said: null });
});

describe('doctor tries each kind of request once', () => {
  async function said(api: OtherApi) {
    using workplace = new Workplace();
    const account = { name: 'acme', base_url: api.url, api_key: api.addKey(), plan: 'enterprise' };
    const file = workplace.configure({ accounts: [account] });
    return await commandLine(['doctor', '--config', file]);
  }

  test('and says that nothing can be judged, in the words of the API', async () => {
    await using api = await apiWith(['a'], 0);
    const { code, stdout } = await said(api);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/acme: NOT GUARDED, no mailbox can be judged: .*on your plan/),
    ]);
  });

  test('and says how many days of statistics it is given', async () => {
    await using api = await apiWith(['a'], 14);
    const { stdout } = await said(api);
    expect(stdout).toContain('API gives 14 instead of 30 days of statistics');
    expect(stdout).not.toContain('NOT GUARDED');
  });
});
