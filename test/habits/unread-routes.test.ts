// Answers that the guard judges by, and that an API gives no longer: for one mailbox, for some, or to one of two keys. The API is not the simulator.
import { expect, test } from 'vitest';
import { guardStateOf } from '../../src/core/guard/run-state.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs } from '../../src/core/time.ts';
import { calmPoll, type Duty, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { type Asked, OtherApi, type OtherMailbox } from '../support/other-api.ts';

const judging = ['/v1/warmup', '/v1/stats'];
const answer = (status: number) => ({ kind: 'answer', status, body: '{"error":"gone"}' }) as const;

test.each([
  ['warmup', 500, 6],
  ['warmup', 404, 16],
  ['stats', 500, 6],
] as const)(
  'where polls are hours apart, /v1/%s failing for one mailbox (%i) is no account without a guard',
  async (route, status, hours) => {
    await using api = await OtherApi.start();
    const [broken] = ['a', 'b', 'c'].map((name) => api.add(`${name}@${name}.example`));
    let isOver = false;
    api.fault = ({ method, path, mailboxId }: Asked) =>
      isOver && method === 'GET' && path === `/v1/${route}` && mailboxId === broken?.id ? answer(status) : undefined;
    const poll = { ...calmPoll, stats: '10 */4 * * *', warmup: '20 */4 * * *' };
    await using daemon = await startMovedDaemon({ other: api, poll, expectErrors: ['the API'] });
    await daemon.run(5 * hourMs);
    isOver = true;
    for (let hour = 1; hour <= hours; hour += 1) {
      await daemon.run(hourMs);
      expect([hour, (await fetch(`${daemon.url()}/readyz`)).status]).toEqual([hour, 200]);
    }
    const titles = daemon.receiver.alerts().map(({ title }) => title);
    expect(titles.filter((title) => title.includes('NOT GUARDED'))).toEqual([]);
    // Three polls of the warm-up were due by then.
    if (hours < 12) return;
    expect(titles).toContain(`${broken?.email}: not judged, because the warm-up cannot be read`);
    const table = await commandLine(['status', '--config', daemon.file]);
    expect([table.code, table.stdout]).toEqual([0, expect.stringMatching(new RegExp(`Not judged +${broken?.email}`))]);
  },
);

/** `names` mailboxes on duty, judged for an hour; `gone.of`: of which of them the warm-up and the statistics are answered with 404. */
async function judged(names: readonly string[]) {
  const api = await OtherApi.start();
  const boxes = names.map((name) => api.add(`${name}@${name}.example`));
  const gone = { of: [] as readonly OtherMailbox[] };
  api.fault = ({ method, path, mailboxId }) =>
    method === 'GET' && judging.includes(path) && gone.of.some(({ id }) => id === mailboxId) ? answer(404) : undefined;
  const duty = await goOnDuty({ other: api });
  await duty.run(hourMs);
  const states = () =>
    boxes.map(({ email }) => {
      const mailbox = duty.mailbox(email);
      return mailbox && guardStateOf(mailbox, defaultPolicy.nearLimitPpm);
    });
  const end = async () => {
    await duty[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  };
  return { api, boxes, gone, duty, states, [Symbol.asyncDispose]: end };
}

const firing = (duty: Duty) =>
  [...duty.fleet().alerts()].flatMap(({ rule, email, status }) => (status === 'firing' ? [`${rule} ${email}`] : []));

test('a judged mailbox whose warm-up and statistics become 404 is not judged, until the list shows that it does not run', async () => {
  await using stage = await judged(['a', 'b', 'c']);
  const { boxes, duty, gone, states } = stage;
  const [lost] = boxes;
  gone.of = boxes.slice(0, 1);
  await duty.run(2 * hourMs);
  expect([states(), firing(duty)]).toEqual([['not_judged', 'ok', 'ok'], [`guard_blind ${lost?.email}`]]);
  expect(duty.alert('guard_blind')?.facts.sentences[0]).toContain('404');
  await duty.restart();
  await duty.run(6 * hourMs);
  expect([states(), firing(duty)]).toEqual([['not_judged', 'ok', 'ok'], [`guard_blind ${lost?.email}`]]);
  expect(duty.account()?.unjudged ?? null).toBe(null);
  if (lost) lost.status = 'finished';
  await duty.run(hourMs);
  expect([states(), firing(duty)]).toEqual([['no_warmup', 'ok', 'ok'], []]);
  if (lost) lost.status = 'active';
  gone.of = [];
  await duty.run(2 * hourMs);
  expect([states(), firing(duty)]).toEqual([['ok', 'ok', 'ok'], []]);
});
