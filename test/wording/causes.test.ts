// The root cause beside the number: what changed near the bounces.
import { expect, test } from 'vitest';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { causeSentences, changeSentence } from '../../src/core/wording/causes.ts';
import { breach, sampleMailbox, start } from '../alerts/samples.ts';

const seen = { at: start, since: start - hourMs };
const causes = (change: Partial<MailboxState>) => causeSentences(sampleMailbox(change), breach, 'UTC');

test.each([
  ['Barracuda, Spamhaus', 'Barracuda', 'left a blacklist', 'Spamhaus'],
  ['Barracuda', 'Barracuda, Spamhaus', 'was added to a blacklist', 'Spamhaus'],
  ['Barracuda', 'Spamhaus', 'changed from Barracuda to Spamhaus', ''],
  ['3 lists', '2 lists', 'changed from 3 lists to 2 lists', ''],
  ['Barracuda', 'none', 'left the blacklists', ''],
])('listed by %s, then by %s: it %s', (from, to, said, list) => {
  const text = changeSentence({ what: 'listing', from, to, since: start, at: start + 1 }, 'UTC');
  expect(text).toMatch(new RegExp(`${said} .*${list}\\.$`));
});

test('a DNS record that broke, a listing and a failed connection near the bounces are named with their times', () => {
  const [dkim, listing, connection] = causes({
    changes: [
      { ...seen, what: 'dkim', from: 'pass', to: 'fail' },
      { ...seen, what: 'listing', from: 'none', to: 'zen.spamhaus.org' },
      { ...seen, what: 'connection', from: 'connected', to: 'IMAP login failed' },
    ],
  });
  expect(dkim).toMatch(/^DKIM changed from pass to fail between 20 March \d\d:\d\d and \d\d:\d\d UTC\.$/);
  expect(listing).toMatch(/^Its sending address was added to a blacklist between .*: zen\.spamhaus\.org\.$/);
  expect(connection).toMatch(/^Its connection failed between .*: IMAP login failed\.$/);
});

test('what one look at the DNS found is one sentence, and one about the records', () => {
  const changes = (['spf', 'dkim'] as const).flatMap((what) => [
    { ...seen, what, from: 'pass', to: 'fail' },
    { ...seen, what: `${what}_record` as const, from: 'v=1', to: null },
  ]);
  expect(causes({ changes })).toEqual([
    expect.stringMatching(/^SPF and DKIM changed from pass to fail between 20 March \d\d:\d\d and \d\d:\d\d UTC\.$/),
    'The SPF and DKIM records changed at the same time.',
  ]);
  expect(causes({ changes: changes.slice(1, 2) })).toEqual([expect.stringMatching(/^The SPF record changed between /)]);
});

test('a change long before the window explains nothing', () => {
  const old = {
    at: start - 30 * dayMs,
    since: start - 31 * dayMs,
    what: 'mode',
    from: 'slow',
    to: 'balanced',
  } as const;
  expect(causes({ changes: [old] })).toEqual([]);
});

test('where nothing changed in what is watched, it says so, and where to look instead', () => {
  const fine = { status: 'pass', pass: true, record: null };
  const dns = { at: start, answer: { domain: null, checkedAt: null, records: { spf: fine, dkim: fine, dmarc: fine } } };
  expect(causes({ dns })).toEqual([
    'Nothing that Warmwarden watches (DNS) changed around that time: check the recipient list of the mailbox.',
  ]);
  const failing = {
    ...dns,
    answer: { ...dns.answer, records: { ...dns.answer.records, spf: { ...fine, pass: false } } },
  };
  expect(causes({ dns: failing })).toEqual(['SPF was already failing before that time.']);
});
