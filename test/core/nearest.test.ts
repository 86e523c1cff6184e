// Names that somebody probably meant: a part of one, or one that is mistyped.

import { expect, test } from 'vitest';
import { alertRules } from '../../src/core/alert-rules.ts';
import { namedMailbox } from '../../src/core/mailbox.ts';
import { suggestion } from '../../src/core/nearest.ts';
import { arrivedMailbox } from '../store/records.ts';

const wrongWith = (name: string, emails: readonly string[]) => {
  const named = namedMailbox(
    name,
    emails.map((email, index) => arrivedMailbox(`m${index}`, { email })),
  );
  return 'wrong' in named ? named.wrong : null;
};

test('a part of an address suggests up to three mailboxes that have it', () => {
  const emails = ['Priya@a.example', 'bob@a.example', 'priya.k@b.example', 'sales.priya@c.example', 'priya@d.example'];
  expect(wrongWith('priya', emails)).toBe(
    'No guarded mailbox is called priya. Did you mean Priya@a.example, priya.k@b.example or sales.priya@c.example?',
  );
  expect(wrongWith('acme/bob', emails)).toBe('No guarded mailbox is called acme/bob. Did you mean bob@a.example?');
});

test('a mistyped address suggests the nearest one, and another address none', () => {
  expect(wrongWith('pryia@a.example', ['priya@a.example', 'prio@a.example'])).toBe(
    'No guarded mailbox is called pryia@a.example. Did you mean priya@a.example?',
  );
  expect(wrongWith('paula@a.example', ['patrick@a.example', 'bob@a.example'])).toBe(
    'No guarded mailbox is called paula@a.example.',
  );
});

test('a part of a rule suggests the rules that have it', () => {
  expect(suggestion('dns_fail', alertRules)).toBe(' Did you mean dns_failing?');
  expect(suggestion('nothing_alike', alertRules)).toBe('');
});
