// Patterns that match no mailbox, and what was probably meant.
import { expect, test } from 'vitest';
import { idlePatterns } from '../../src/core/mailbox-pattern.ts';

const mailboxes = [
  { id: 'box-1', email: 'Ann@acme.example' },
  { id: 'box-2', email: 'sales-1@north.example' },
];

test.each([
  ['*@acme.example', null],
  ['ANN@acme.example', null],
  ['box-2', null],
  ['*@acme.exmaple', ' (did you mean *@acme.example?)'],
  ['sales-*@nort.example', ' (did you mean sales-*@north.example?)'],
  ['sales-*@acme.exampel', ''],
  ['ann@acne.example', ' (did you mean Ann@acme.example?)'],
  ['box-3', ' (did you mean box-1?)'],
  ['*@other.example', ''],
  ['nobody*', ''],
])('%s', (pattern, hint) => {
  const idle = idlePatterns([{ place: 'p', pattern }], mailboxes);
  expect(idle.map((one) => one.hint)).toEqual(hint === null ? [] : [hint]);
});
