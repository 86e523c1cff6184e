// Equal answers of many mailboxes, read from a store: one object, however often it begins anew.
import { expect, test } from 'vitest';
import { DamagedRowError } from '../../src/store/failure.ts';
import { SharedAnswers } from '../../src/store/schema/stored.ts';
import { answers as everyAnswer } from './records.ts';

const key = (route: string, n = 1) => ({ account: 'acme', mailbox_id: `m${n}`, route });
const dns = JSON.stringify(everyAnswer.dns.answer);

test('mailboxes with the same DNS records, or the same details, share one answer; other answers are their own', () => {
  const answers = new SharedAnswers();
  for (const route of ['dns', 'mailbox']) {
    const first = answers.read(dns, key(route));
    expect(first).toEqual(everyAnswer.dns.answer);
    expect(answers.read(dns, key(route, 2))).toBe(first);
  }
  expect(answers.read(dns, key('warmup'))).not.toBe(answers.read(dns, key('warmup', 2)));
});

test('a row that is no JSON is named, also after others with the same text', () => {
  const answers = new SharedAnswers();
  for (const n of [1, 2]) expect(() => answers.read('{"domain":', key('dns', n))).toThrow(DamagedRowError);
  expect(() => answers.read('{"domain":', key('dns', 2))).toThrow('m2');
});

test('of many different answers, only the newest are remembered', () => {
  const answers = new SharedAnswers();
  const first = answers.read(dns, key('dns'));
  for (let n = 0; n < 2_000; n += 1) answers.read(`{"domain":"${n}.example"}`, key('dns', n));
  expect(answers.read(dns, key('dns'))).not.toBe(first);
  expect(answers.read(dns, key('dns'))).toEqual(first);
});
