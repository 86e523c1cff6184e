// What a soak holds its runs to notices planted faults: growth, a repeated change, a message that is lost, doubled or reworded.
import { expect, test } from 'vitest';
import type { LoggedRequest } from '../../tools/simulator/http.ts';
import type { ReceivedMessage } from '../support/receiver.ts';
import { ChangeBook, flatnessOf, MessageBook } from './checkers.ts';

test('what grows by more than its slack from the second quarter to the last is not flat', () => {
  const slack = { share: 0.1, plus: 5 };
  const steady = Array.from({ length: 40 }, (_, index) => 100 + (index % 3));
  const growing = steady.map((value, index) => value + index);
  expect([flatnessOf(steady, slack).flat, flatnessOf(growing, slack).flat]).toEqual([true, false]);
  expect(() => flatnessOf([1, 2, 3], slack)).toThrow('3 samples say nothing');
});

function post(at: number, body: NonNullable<LoggedRequest['body']>, status = 200): LoggedRequest {
  return { at, method: 'POST', path: '/v1/warmup', status, body: { mailbox_id: 'a', ...body } };
}
const recovery = { action: 'update_config', config: { warmup_mode: 'recovery' } };

test('a change is made once, also where its answer was lost; what is asked for again is a repetition', () => {
  const book = new ChangeBook([{ id: 'a', config: { mode: 'slow' }, running: true }], 0);
  book.take([post(1, recovery, 500)], 'not_made');
  book.take([post(1, recovery, 500), post(2, recovery, 500)], 'made');
  expect([book.made, book.repeated]).toEqual([['a recovery'], []]);
  book.take([post(3, recovery), post(4, { action: 'pause' }), post(5, { action: 'pause' })], 'not_made');
  expect([book.made, book.repeated]).toEqual([
    ['a recovery', 'a pause'],
    ['a recovery', 'a pause'],
  ]);
});

function message(id: string, status: number, said = 'firing', title = 'x'): ReceivedMessage {
  const alert = { fingerprint: 'f', rule: 'stale_data', status: said, object: null, title };
  const text = JSON.stringify({ data: { alerts: [alert] } });
  return { at: 0, to: 'hook', headers: { 'webhook-id': id }, status, text };
}

test('a message is accepted once, in the same words as before, and an alert is announced once', () => {
  const book = new MessageBook();
  const received = [message('1', 500), message('1', 200), message('2', 200, 'resolved')];
  book.take(received);
  expect([received, book.messages, book.attempts]).toEqual([[], 2, 3]);
  expect([book.doubled(), book.lost(), book.reworded(), book.disorder]).toEqual([[], [], [], []]);
  book.take([
    message('1', 200),
    message('2', 500, 'resolved', 'y'),
    message('3', 0),
    message('4', 200),
    message('5', 200),
  ]);
  expect([book.doubled(), book.lost(), book.reworded(), book.disorder]).toEqual([['1'], ['3'], ['2'], ['f firing']]);
});
