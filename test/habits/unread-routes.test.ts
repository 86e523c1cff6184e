// Answers that the guard judges by, and that an API gives no longer, or never gave: for one mailbox, for some, or for all. The API is not
// the simulator.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { calmPoll, type Duty, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { type Asked, answerWith, OtherApi, week } from '../support/other-api.ts';

const judging = ['/v1/warmup', '/v1/stats'];
const answer = (status: number) => answerWith(status, { error: 'gone' });

const firing = (duty: Duty) => duty.firing().map(({ rule, email }) => `${rule} ${email}`);

test('a judged mailbox whose warm-up and statistics become 404 is not judged, until the list shows that it does not run', async () => {
  await using api = await OtherApi.start(['a', 'b', 'c']);
  const [lost] = api.boxes;
  let isGone = false;
  api.fault = ({ method, path, mailboxId }) =>
    isGone && method === 'GET' && judging.includes(path) && mailboxId === lost.id ? answer(404) : undefined;
  await using duty = await goOnDuty({ other: api });
  const states = () => api.boxes.map(({ email }) => duty.state(email));
  await duty.run(hourMs);
  isGone = true;
  await duty.run(2 * hourMs);
  expect([states(), firing(duty)]).toEqual([['not_judged', 'ok', 'ok'], [`guard_blind ${lost.email}`]]);
  expect(duty.alert('guard_blind')?.facts.sentences[0]).toContain('404');
  await duty.restart();
  await duty.run(6 * hourMs);
  expect([states(), firing(duty)]).toEqual([['not_judged', 'ok', 'ok'], [`guard_blind ${lost.email}`]]);
  expect(duty.account()?.unjudged ?? null).toBe(null);
  lost.status = 'finished';
  await duty.run(hourMs);
  expect([states(), firing(duty)]).toEqual([['no_warmup', 'ok', 'ok'], []]);
  lost.status = 'active';
  isGone = false;
  await duty.run(2 * hourMs);
  expect([states(), firing(duty)]).toEqual([['ok', 'ok', 'ok'], []]);
});

/** A mailbox without a warm-up, and one that has one. */
async function apiWith() {
  const api = await OtherApi.start(['bare@a.example', 'warm@b.example']);
  const [bare, warm] = api.boxes;
  const faults = { on: true };
  api.fault = ({ path, mailboxId }: Asked) =>
    faults.on && mailboxId === bare.id && judging.includes(path) ? answer(404) : undefined;
  return Object.assign(api, { bare, warm, faults });
}

test('a mailbox without a warm-up is one state, without an alert, until there is one', async () => {
  await using api = await apiWith();
  await using duty = await goOnDuty({ other: api });
  await duty.run(10 * minuteMs);
  expect([duty.state(api.bare.email), duty.state('warm@b.example')]).toEqual(['no_warmup', 'ok']);
  await duty.run(6 * hourMs);
  expect([duty.state(api.bare.email), duty.firing(), duty.account()?.unjudged ?? null]).toEqual([
    'no_warmup',
    [],
    null,
  ]);
  await duty.restart();
  await duty.run(hourMs);
  expect(duty.state(api.bare.email)).toBe('no_warmup');
  api.faults.on = false;
  await duty.until(() => duty.state(api.bare.email) === 'ok', hourMs);
  expect(await duty.notified()).toEqual([]);
  api.bare.days = week(40, 5);
  await duty.until(() => api.bare.mode === 'recovery');
});

test('a warm-up that is taken away ends what was judged, and its alerts', async () => {
  await using api = await apiWith();
  api.faults.on = false;
  await using duty = await goOnDuty({ other: api, policy: { enforce: false } });
  await duty.run(10 * minuteMs);
  api.bare.days = week(40, 5);
  await duty.until(() => duty.alert('bounce_over_limit')?.status === 'firing');
  api.faults.on = true;
  // Without another word in the list it would be a mailbox that the API has stopped to answer for.
  api.bare.status = 'finished';
  await duty.until(() => duty.state(api.bare.email) === 'no_warmup', 2 * hourMs);
  await duty.run(6 * hourMs);
  expect([...duty.fleet().alerts()]).toEqual([]);
});

test('an account of such mailboxes alone guards nothing, and says so within two hours until one has a warm-up', async () => {
  await using api = await apiWith();
  api.mailboxes.delete(api.warm.id);
  await using daemon = await startMovedDaemon({ other: api, poll: calmPoll });
  const status = () => commandLine(['status', '--config', daemon.file]);
  const titles = () => daemon.receiver.alerts().map(({ status: state, title }) => [state, title]);
  await daemon.run(20 * minuteMs);
  expect([titles(), (await status()).code, await daemon.readyz()]).toEqual([[], 0, '200 ready']);
  await daemon.run(2 * hourMs);
  const { code, stdout } = await status();
  expect([code, stdout]).toEqual([1, expect.stringMatching(new RegExp(`No warm-up +${api.bare.email}`))]);
  expect(stdout).toContain('account agency: NOT GUARDED, no mailbox can be judged');
  expect(await daemon.readyz()).toMatch(/^503 /);
  expect(titles()).toEqual([['firing', 'account agency is NOT GUARDED: no mailbox can be judged']]);
  await daemon.restart();
  await daemon.run(10 * minuteMs);
  expect([(await status()).code, daemon.notified('not_guarded')]).toEqual([1, ['firing']]);
  api.faults.on = false;
  await daemon.run(2 * hourMs);
  expect([(await status()).code, await daemon.readyz()]).toEqual([0, '200 ready']);
  expect(daemon.notified('not_guarded')).toEqual(['firing', 'resolved']);
});
