// Answers that the guard judges by, and that an API gives no longer: for one mailbox, for some, or to one of two keys. The API is not the simulator.
import { expect, test } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import { calmPoll, type Duty, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { type Asked, answerWith, OtherApi } from '../support/other-api.ts';

const judging = ['/v1/warmup', '/v1/stats'];
const answer = (status: number) => answerWith(status, { error: 'gone' });

test.each([
  ['warmup', 500, 6],
  ['warmup', 404, 16],
  ['stats', 500, 6],
  ['stats', 400, 6],
] as const)(
  'where polls are hours apart, /v1/%s failing for one mailbox (%i) is no account without a guard',
  async (route, status, hours) => {
    await using api = await OtherApi.start(['a', 'b', 'c']);
    const [broken] = api.boxes;
    let isOver = false;
    api.fault = ({ method, path, mailboxId }: Asked) =>
      isOver && method === 'GET' && path === `/v1/${route}` && mailboxId === broken.id ? answer(status) : undefined;
    const poll = { ...calmPoll, stats: '10 */4 * * *', warmup: '20 */4 * * *' };
    await using daemon = await startMovedDaemon({ other: api, poll, expectErrors: ['the API'] });
    await daemon.run(5 * hourMs);
    isOver = true;
    for (let hour = 1; hour <= hours; hour += 1) {
      await daemon.run(hourMs);
      expect([hour, (await fetch(`${daemon.url()}/readyz`)).status]).toEqual([hour, 200]);
    }
    const titles = daemon.receiver.alerts().map(({ title }) => title);
    expect(titles.filter((title) => title.includes('no mailbox can be judged'))).toEqual([]);
    // Three polls of the warm-up were due by then.
    if (hours < 12) return;
    expect(titles).toContain(`${broken.email}: not judged, because the warm-up cannot be read`);
    const table = await commandLine(['status', '--config', daemon.file]);
    expect([table.code, table.stdout]).toEqual([0, expect.stringMatching(new RegExp(`Not judged +${broken.email}`))]);
  },
);

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
