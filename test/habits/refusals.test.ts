// A refused change is about the mailbox that it names. Only refusals of several mailboxes, or of one that accepted a change before,
// say something about the key. The API is not the simulator.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { calmPoll, type Duty, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { answerWith, emergencyWeek, type Fault, OtherApi, type OtherMailbox, week } from '../support/other-api.ts';

const sentence = 'this mailbox is shared from another workspace: only its owner may change it';
const refusal = (status = 403) => answerWith(status, { error: sentence });

/** 5 of 280: over the limit of balanced. */
const breach = week(40, 5);

/** An API that refuses changes of the mailboxes that `refused` holds. */
async function fleetOf(count: number) {
  const api = await OtherApi.start(count);
  const refused = new Map<OtherMailbox | undefined, Fault>();
  api.fault = ({ method, mailboxId }) =>
    method === 'POST' ? refused.get(api.boxes.find(({ id }) => id === mailboxId)) : undefined;
  return Object.assign(api, { refused });
}

const isRefused = (duty: Duty, { email }: OtherMailbox) => duty.action(email)?.state === 'refused';

test.each([403, 404, 409, 422, 423])('%i on a POST is that mailbox’s: another one is acted on', async (status) => {
  await using api = await fleetOf(2);
  const [shared, own] = api.boxes;
  await using duty = await goOnDuty({ other: api });
  await duty.run(10 * minuteMs);
  api.refused.set(shared, refusal(status));
  shared.days = breach;
  await duty.until(() => isRefused(duty, shared));
  const [failed, ...others] = duty.firing().filter(({ mailboxId }) => mailboxId === shared.id);
  expect([failed?.rule, failed?.severity, others]).toEqual(['guard_action_failed', 'critical', []]);
  expect(failed?.facts.sentences.join(' ')).toContain(sentence);
  expect([duty.account()?.keyWrites, duty.alert('not_guarded')]).toEqual([null, undefined]);
  own.days = emergencyWeek;
  await duty.until(() => own.status === 'paused', hourMs);
  await duty.run(minuteMs);
  expect([duty.action(own.email)?.state, duty.account()?.keyWrites]).toEqual(['confirmed', true]);
  const tries = api.posts(shared).length;
  await duty.run(3 * hourMs);
  expect(api.posts(shared).length - tries).toBe(3);
  expect([duty.account()?.keyWrites, duty.alert('not_guarded')]).toEqual([true, undefined]);
});

test('two refused mailboxes and none accepted: the key counts as read-only, and further breaches are tried all the same', async () => {
  await using api = await fleetOf(4);
  const [first, second, third, fourth] = api.boxes;
  await using duty = await goOnDuty({ other: api });
  await duty.run(10 * minuteMs);
  for (const box of [first, second, third]) api.refused.set(box, refusal());
  first.days = breach;
  await duty.until(() => isRefused(duty, first));
  expect(duty.alert('not_guarded')).toBeUndefined();
  second.days = breach;
  await duty.until(() => isRefused(duty, second));
  expect([duty.account()?.keyWrites, duty.alert('not_guarded')?.status]).toEqual([false, 'firing']);
  third.days = breach;
  await duty.until(() => isRefused(duty, third));
  expect(api.posts(third)).toHaveLength(1);
  await duty.restart();
  expect(duty.account()?.keyWrites).toBe(false);
  fourth.days = emergencyWeek;
  await duty.until(() => fourth.status === 'paused', hourMs);
  await duty.run(minuteMs);
  expect([duty.account()?.keyWrites, duty.alert('not_guarded')]).toEqual([true, undefined]);
});

test('a mailbox that accepted a change and is then refused says it of the key, after a restart too', async () => {
  await using api = await fleetOf(1);
  const [only] = api.boxes;
  await using duty = await goOnDuty({ other: api });
  await duty.run(10 * minuteMs);
  only.days = breach;
  await duty.until(() => duty.action(only.email)?.state === 'confirmed');
  await duty.restart();
  api.refused.set(only, refusal());
  only.days = emergencyWeek;
  await duty.until(() => isRefused(duty, only));
  expect([duty.account()?.keyWrites, duty.alert('not_guarded')?.status]).toEqual([false, 'firing']);
});

test.each([
  ['of the same file', false],
  ['with another key', true],
])('a reload %s tries a refused change again at once', async (_name, isOtherKey) => {
  await using api = await fleetOf(1);
  const [only] = api.boxes;
  await using daemon = await startMovedDaemon({ other: api, poll: calmPoll });
  await daemon.run(10 * minuteMs);
  api.refused.set(only, refusal());
  only.days = breach;
  await daemon.until('the refusal', () => daemon.mailbox(only.email).action?.state === 'refused', hourMs);
  await daemon.run(minuteMs);
  api.refused.clear();
  expect(api.posts()).toHaveLength(1);
  await daemon.reload((config) => {
    const [account] = config.accounts;
    if (account && isOtherKey) account['api_key'] = api.addKey();
  });
  await daemon.until('the switch', () => only.mode === 'recovery', 5 * minuteMs);
});
