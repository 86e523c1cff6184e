// The name that somebody probably meant.
import { expect, test } from 'vitest';
import { namedMailbox } from '../../src/core/mailbox.ts';
import { didYouMean } from '../../src/core/nearest.ts';
import { arrivedMailbox } from '../store/records.ts';

test.each([
  ['dns', ['dns_failing'], ''],
  ['dns_fail', ['dns_failing', 'data'], ' (did you mean dns_failing?)'],
  ['paula@a.example', ['patrick@a.example', 'bob@a.example'], ''],
  ['x', ['y'], ''],
])('%s among %j', (word, known, hint) => {
  expect(didYouMean(word, known)).toBe(hint);
});

test('a mailbox that is mistyped, or named under another account, is named', () => {
  const mailboxes = [arrivedMailbox('m1', { account: 'acme', email: 'priya@a.example' })];
  expect(namedMailbox('pryia@a.example', mailboxes)).toEqual({
    wrong: 'No guarded mailbox is called pryia@a.example (did you mean priya@a.example?).',
  });
  expect(namedMailbox('beta/priya@a.example', mailboxes)).toEqual({
    wrong: 'No guarded mailbox is called beta/priya@a.example (did you mean priya@a.example?).',
  });
});
