// Of two answers about one thing the one that was asked for later counts, however they come; on a real store.
import { describe, expect, test } from 'vitest';
import { AnswerOrder } from '../../src/account/record/observe.ts';
import { mailboxRoutes } from '../../src/api/poll/poll.ts';
import { now } from '../store/records.ts';
import { answerOf, recording } from './recording.ts';

const id = 'm1';

test.each(mailboxRoutes)('the %s that was asked for later stays, whichever comes last', async (route) => {
  await using daemon = await recording([id]);
  const { recorder } = daemon;
  const [first, second] = [recorder.asking(), recorder.asking()];
  await recorder.observed(id, answerOf(route, now + 1), second);
  const after = await recorder.observed(id, answerOf(route, now + 2), first);
  const key = route === 'mailbox' ? 'detail' : route;
  expect([daemon.mailbox(id)?.[key]?.at, after]).toEqual([now + 1, daemon.mailbox(id)]);
  await recorder.observed(id, answerOf(route, now + 3), recorder.asking());
  expect(daemon.mailbox(id)?.[key]?.at).toBe(now + 3);
});

test('what could not be recorded does not count as read, nor as the newer one', async () => {
  await using daemon = await recording([id]);
  const { recorder, store } = daemon;
  await recorder.observed(id, answerOf('warmup', now), recorder.asking());
  const write = store.recordAnswer.bind(store);
  store.recordAnswer = () => Promise.reject(new Error('the disk is full'));
  const [first, second] = [recorder.asking(), recorder.asking()];
  await expect(recorder.observed(id, answerOf('stats', now), second)).rejects.toThrow('the disk is full');
  expect(recorder.hasRead(id, 'stats')).toBe(false);
  store.recordAnswer = write;
  await recorder.observed(id, answerOf('stats', now + 1), first);
  expect(daemon.mailbox(id)?.stats?.at).toBe(now + 1);
});

describe('beside a write', () => {
  test('one that was overtaken besides need not be asked for again', () => {
    const order = new AnswerOrder();
    const before = order.asking();
    order.wrote(id);
    order.taken('warmup', id, order.asking());
    expect(order.freshnessOf('warmup', id, before)).toBe('superseded');
  });

  test('a mailbox that left and came back starts over', () => {
    const order = new AnswerOrder();
    order.taken('stats', id, order.asking());
    order.forget(id);
    expect(order.hasTaken('stats', id)).toBe(false);
  });
});
