// Measurements: one counts once, however often and by however many mailboxes it is read; and one that gets too old is announced.

import { expect, test } from 'vitest';
import { conditionsAfter } from '../../../src/alerts/rules.ts';
import type { AlertRule } from '../../../src/core/alert-rules.ts';
import type { Route } from '../../../src/core/answers.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs } from '../../../src/core/time.ts';
import { alertBook, conditionOf, sampleContext, sampleMailbox, start, withDns } from '../samples.ts';

type Seen = readonly [id: string, madeAt: EpochMs | null, good: boolean];

const dnsOf = ([id, madeAt, good]: Seen) => withDns({ id, spf: good, checkedAt: checkedAt(madeAt) });

function withListing([id, madeAt, good]: Seen): MailboxState {
  const found = { listed: !good, lists: good ? [] : ['zen.example'], found: good ? 0 : 1, checked: 60 };
  const answer = { domain: 'acme.example', ip: '192.0.2.7', checkedAt: checkedAt(madeAt), ...found };
  return sampleMailbox({ id, email: `${id}@acme.example`, blacklist: { at: start, answer } });
}

const checkedAt = (madeAt: EpochMs | null) => (madeAt === null ? null : new Date(madeAt).toISOString());

/** What is told of a rule while these answers are read one after the other. */
function alertsSentOf(rule: AlertRule, route: Route, seen: readonly Seen[]): readonly string[] {
  const fleet = new Map<string, MailboxState>();
  const book = alertBook();
  return seen.flatMap((one) => {
    const mailbox = route === 'dns' ? dnsOf(one) : withListing(one);
    const before = fleet.get(mailbox.id) ?? null;
    const neighbours = () => [...fleet.values()].filter(({ id }) => id !== mailbox.id);
    fleet.set(mailbox.id, mailbox);
    const all = conditionsAfter(route, mailbox, sampleContext({ before, neighbours }));
    const conditions = all.filter(({ subject }) => subject.rule === rule);
    return book.see(conditions).transitions.map(({ kind }) => kind);
  });
}

/** `a1- b2+`: mailbox a shows the first measurement, which is bad, then mailbox b the second one, which is good; time 0 is none. */
const seenIn = (text: string) =>
  text.split(' ').map((one): Seen => {
    const [id = '', time, result] = one;
    return [id, time === '0' ? null : start + Number(time) * hourMs, result === '+'];
  });

test.each([
  ['one measurement read three times is seen once', 'a1- a1- a1-', ''],
  ['two measurements are seen twice', 'a1- a2-', 'firing'],
  ['one measurement that two mailboxes show is seen once', 'a1- b1-', ''],
  ['two mailboxes with a measurement each are seen twice', 'a1- b2-', 'firing'],
  ['where the API tells no time, each answer counts', 'a0- a0-', 'firing'],
  ['another result at the same time is another measurement', 'a1+ a1- a2-', 'firing'],
  ['a pass that a neighbour showed first ends it', 'a1- a2- b3+ a3+', 'firing resolved'],
])('dns_failing: %s', (_name, seen, notified) => {
  expect(alertsSentOf('dns_failing', 'dns', seenIn(seen)).join(' ')).toBe(notified);
});

test.each([
  ['one clean measurement read twice does not end it', 'a1- a2+ a2+', 'firing'],
  ['two clean measurements end it', 'a1- a2+ a3+', 'firing resolved'],
  ['of two mailboxes with one clean measurement it is one', 'a1- b1- b2+ a2+', 'firing'],
  ['the next clean one ends it, whoever shows it', 'a1- b1- b2+ a2+ b3+', 'firing resolved'],
])('blacklisted: %s', (_name, seen, notified) => {
  expect(alertsSentOf('blacklisted', 'blacklist', seenIn(seen)).join(' ')).toBe(notified);
});

function stale(answered: Route | 'time', mailbox: MailboxState, unreadSince = Number.NEGATIVE_INFINITY) {
  const staleMeasurement = () => ({ olderThanMs: 24 * hourMs, unreadSince });
  return conditionOf('dns', answered, mailbox, { staleMeasurement, now: start + minuteMs });
}

test('stale_data: by the time of the measurement when it was read, and not before a second look', () => {
  expect(stale('dns', dnsOf(['a', start - 25 * hourMs, true]))).toMatchObject({ active: true, observations: 2 });
  expect(stale('dns', dnsOf(['a', start - 23 * hourMs, true])).active).toBe(false);
  expect(stale('dns', dnsOf(['a', null, true])).active).toBe('unknown');
  expect(stale('dns', dnsOf(['a', start - 25 * hourMs, true])).facts.sentences[0]).toBe(
    'The API made its last DNS check of acme.example on 19 March 09:02 UTC, although Warmwarden asked it for a new one.',
  );
});

test('stale_data: time alone says only that no poll brought an answer', () => {
  expect(stale('time', dnsOf(['a', start - 25 * hourMs, true])).active).toBe('unknown');
  expect(stale('time', dnsOf(['a', start, true]), start - minuteMs).active).toBe('unknown');
  expect(stale('time', dnsOf(['a', start, true]), start + minuteMs)).toMatchObject({ active: true });
  expect(stale('time', sampleMailbox(), start + minuteMs).facts.sentences[0]).toContain('has not read any DNS check');
});
