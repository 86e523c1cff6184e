// The mailboxes that the configuration names one by one: which of them no list holds, and which are reported already.
import { expect, test } from 'vitest';
import { missedMailboxes, reportedMissing } from '../../src/account/record/roster.ts';
import { expectedNames } from '../../src/config/mailbox-rules.ts';
import { dayMs } from '../../src/core/time.ts';
import { sampleAlert, start } from '../alerts/samples.ts';

test('what has no glob and is not excluded is expected to be listed', () => {
  const include = ['*@acme.example', 'ann@acme.example', 'b?b@acme.example', 'm7', 'old@acme.example'];
  expect(expectedNames({ mailboxes: { include, exclude: ['old@*'] } })).toEqual(['ann@acme.example', 'm7']);
});

test('a mailbox that was listed before is reported under its id, and by its name only when that has ended', () => {
  const missing = sampleAlert(1, { rule: 'mailbox_missing' });
  expect(reportedMissing([missing, sampleAlert(2)])).toEqual([{ id: 'm1', email: 'bob1@acme.example' }]);
  expect(reportedMissing([{ ...missing, status: 'resolved' }])).toEqual([]);
});

test('a mailbox that the configuration names is waited for longer than a week', () => {
  const missing = sampleAlert(1, { rule: 'mailbox_missing' });
  const after = (expected: readonly string[]) =>
    missedMailboxes([missing], { arrived: [], selects: () => true, expected, now: start + 8 * dayMs }).forgotten;
  expect(after([])).toEqual([missing]);
  expect(after(['Bob1@acme.example'])).toEqual([]);
  expect(after(['m1'])).toEqual([]);
});

test('an alert about a name ends when the configuration has it no more', () => {
  const named = sampleAlert(1, { rule: 'mailbox_missing', mailboxId: null, email: null, object: 'ann@acme.example' });
  const after = (expected: readonly string[]) =>
    missedMailboxes([named, sampleAlert(2, { rule: 'mailbox_missing' })], {
      arrived: [],
      selects: () => true,
      expected,
      now: start,
    }).forgotten;
  expect(after([])).toEqual([named]);
  expect(after(['ann@acme.example'])).toEqual([]);
});
