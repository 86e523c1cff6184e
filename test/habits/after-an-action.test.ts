// What an API does right after an action: a cache still shows the state from before, the service resumes by itself, and the write limit is full.
import { expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { answerWith, emergencyWeek, OtherApi, week } from '../support/other-api.ts';

const poll = { health: '*/10 * * * *', mailboxes: '*/10 * * * *', stats: '*/5 * * * *', warmup: '* * * * *' };
const ann = 'ann@acme.example';

/** A fleet of six, one of which is in an emergency. */
async function begin(stack: AsyncDisposableStack) {
  const api = stack.use(await OtherApi.start(5));
  for (const mailbox of api.mailboxes.values()) mailbox.days = week(40, 0);
  const mailbox = api.add(ann, { id: 'ann', days: [...emergencyWeek] });
  const stage = stack.use(await startMovedDaemon({ other: api, poll }));
  const isPaused = () => stage.mailbox(ann).action?.state === 'confirmed';
  return { api, mailbox, stage, isPaused };
}

it('an answer from before the action, from a cache, is no change by others', async () => {
  await using stack = new AsyncDisposableStack();
  const { api, mailbox, stage, isPaused } = await begin(stack);
  await stage.until('the pause', isPaused, hourMs);
  const pausedAt = stage.clock.now();
  let old = 0;
  api.fault = ({ path, mailboxId, at }) => {
    if (path !== '/v1/warmup' || mailboxId !== 'ann' || at - pausedAt > 1.5 * minuteMs) return undefined;
    old += 1;
    const { mode, targetDailyLimit, email } = mailbox;
    const config = { target_daily_limit: targetDailyLimit };
    return answerWith(200, { mailbox_id: 'ann', email, status: 'active', warmup_mode: mode, config });
  };
  await stage.run(10 * minuteMs);
  expect(old).toBeGreaterThan(0);
  expect([stage.mailbox(ann).memory?.claim?.kind, stage.mailbox(ann).changes]).toEqual(['pause', []]);
  expect([stage.notified('guard_acted'), stage.notified('changed_by_others')]).toEqual([['event'], []]);
});

it.each([
  ['active', 'a resume by the service, which is told, and left running', ['warning warm-up resumed by others']],
  ['stopped', 'another word for a pause, and no resume', []],
])('the word %s after our pause is %s', async (word, _what, expected) => {
  await using stack = new AsyncDisposableStack();
  const { api, mailbox, stage, isPaused } = await begin(stack);
  await stage.until('the pause', isPaused, hourMs);
  await stage.run(5 * minuteMs);
  mailbox.status = word;
  await stage.run(10 * minuteMs);
  const told = stage.told('changed_by_others').map(({ severity, title }) => `${severity} ${title}`);
  expect(told.map((one) => one.replace(`${ann}: `, ''))).toEqual(expected);
  expect(api.posts()).toHaveLength(1);
});

it('a change that is refused with 429 and Retry-After: 0 is tried less and less often, and done in the end', async () => {
  await using stack = new AsyncDisposableStack();
  const { api, stage, isPaused } = await begin(stack);
  let isFull = true;
  api.fault = ({ method }) => (method === 'POST' && isFull ? answerWith(429, {}, { 'retry-after': '0' }) : undefined);
  await stage.until('the first try', () => api.posts().length > 0, hourMs);
  await stage.run(20 * minuteMs);
  expect(api.posts().length).toBeLessThan(30);
  isFull = false;
  await stage.until('the pause', isPaused, 2 * minuteMs);
  await stage.run(minuteMs);
  expect(stage.notified('guard_acted')).toEqual(['event']);
});
