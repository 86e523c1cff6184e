// Findings about many mailboxes, their ips and domains, their placement and the list: fires, clears and says nothing, row by row.

import { expect, test } from 'vitest';
import { tune } from '../../../src/alerts/condition.ts';
import { step } from '../../../src/alerts/engine.ts';
import type { BlacklistAnswer, StatsRow } from '../../../src/core/answers.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { defaultRuleSettings } from '../../../src/core/rule-settings.ts';
import { addDays, dayMs, type EpochMs, hourMs, utcDate } from '../../../src/core/time.ts';
import type { Verdict } from '../../../src/core/verdict.ts';
import {
  alertBook,
  conditionOf as condition,
  judged,
  sampleMailbox,
  sampleVerdict,
  start,
  withDns,
} from '../samples.ts';

test('mailboxes of one domain that disagree do not make its alert flap', () => {
  const [broken, fine] = [withDns({ id: 'm1', spf: false }), withDns({ id: 'm2', spf: true })];
  const book = alertBook();
  const see = (mailbox: MailboxState, other: MailboxState) =>
    book.see([condition('dns_failing', 'dns', mailbox, { neighbours: () => [other] })]);
  for (let round = 0; round < 5; round += 1) {
    see(broken, fine);
    see(fine, broken);
  }
  expect(book.kinds()).toEqual(['firing']);
  see(withDns({ id: 'm1', spf: true }), fine);
  expect(book.kinds()).toEqual(['firing', 'resolved']);
});

function listed(change: Partial<BlacklistAnswer>): MailboxState {
  const answer = { domain: 'acme.example', ip: '192.0.2.7', checkedAt: null, listed: true, found: null, checked: 60 };
  return sampleMailbox({ blacklist: { at: start, answer: { ...answer, lists: [], ...change } } });
}
const blacklists = (change: Partial<(typeof defaultRuleSettings)['blacklisted']>) => ({
  rules: { ...defaultRuleSettings, blacklisted: { ...defaultRuleSettings.blacklisted, ...change } },
});

const two = listed({ lists: ['zen.spamhaus.org', 'dnsbl.obscure.example'], found: 2 });

test.each([
  ['two lists', two, {}, true, 'warning'],
  ['a major list', two, { major: ['*.SPAMHAUS.org'] }, true, 'critical'],
  ['ignored lists only', two, { ignore: ['*.obscure.example', 'zen.*'] }, false, 'warning'],
  ['fewer than min_lists', two, { ignore: ['zen.*'], minLists: 2 }, false, 'warning'],
  ['lists without names', listed({}), {}, true, 'warning'],
  ['nothing checked', listed({ listed: null }), {}, 'unknown', 'warning'],
] as const)('blacklisted: %s', (_, mailbox, settings, active, severity) => {
  const found = condition('blacklisted', 'blacklist', mailbox, blacklists(settings));
  expect(tune([found], defaultRuleSettings)).toMatchObject([{ active, severity }]);
});

test('blacklisted is about the ip, at once, and says on which lists it is', () => {
  const { subject, observations, facts } = condition('blacklisted', 'blacklist', two);
  expect([subject.object, subject.mailboxId, observations]).toEqual(['192.0.2.7', null, 1]);
  expect(facts.sentences[0]).toMatch(/on 2 blacklists of 60 checked: zen\.spamhaus\.org and dnsbl\./);
});

test('an ip is off the lists when no mailbox on it is seen listed any more', () => {
  const clear = listed({ listed: false, found: 0 });
  const other = { ...listed({ lists: ['zen'], found: 1 }), id: 'm2' };
  expect(condition('blacklisted', 'blacklist', clear, { neighbours: () => [other] }).active).toBe('unknown');
  expect(condition('blacklisted', 'blacklist', clear, { neighbours: () => [clear] })).toMatchObject({
    active: false,
    clearObservations: 2,
  });
});

test('an ip or a domain names all its mailboxes, also one whose answer counted already', () => {
  const checked = listed({ checkedAt: new Date(start).toISOString() });
  const of = (id: string) => ({ ...checked, id, email: `${id}@acme.example` });
  const [first, second] = [of('zoe'), of('amy')];
  const [fires] = step([condition('blacklisted', 'blacklist', first)], () => undefined, start).changed;
  expect(fires?.facts.sentences.at(-1)).toMatch(/^zoe@acme\.example sends from it\./);
  const again = condition('blacklisted', 'blacklist', second, { neighbours: () => [first] });
  const { changed, transitions } = step([again], () => fires, start);
  expect([again.active, transitions]).toEqual(['unknown', []]);
  expect(changed[0]?.facts.sentences.at(-1)).toMatch(/^amy@acme\.example and zoe@acme\.example send from it\./);
  // The words do not depend on whose answer came last.
  const back = condition('blacklisted', 'blacklist', first, { neighbours: () => [second] });
  expect(step([back], () => changed[0], start).changed).toEqual([]);
  const many = ['m2', 'm3', 'm4', 'm5'].map((id) => withDns({ id, spf: false }));
  const broken = condition('dns_failing', 'dns', withDns({ id: 'm1', spf: false }), { neighbours: () => many });
  expect(broken.facts.sentences.join(' ')).toContain('m1@acme.example, m2@acme.example, m3@acme.example and 2 other');
});

/** Days up to today, oldest first, each `emails sent, percent in an inbox, health score`; `7*` before a day: seven of it. */
function withDays(text: string, now = start, score = 90): MailboxState {
  const days = text.split(' ').flatMap((day) => {
    const [count, one] = day.includes('*') ? day.split('*') : ['1', day];
    return Array.from({ length: Number(count) }, () => (one ?? '').split(',').map(Number));
  });
  const rows = days.map(([sent = 0, inbox = 95, health], index): StatsRow => {
    const counts = { sent, delivered: sent, bounced: 0, opened: 0, replied: 0, spamLanded: 0, bounceRatePercent: 0 };
    const date = addDays(utcDate(now), index + 1 - days.length);
    return { date, ...counts, inboxRatePercent: inbox, healthScore: health ?? null };
  });
  const mailbox = sampleMailbox({ verdict: { at: now, answer: sampleVerdict() } });
  const entry = { at: now, answer: { ...mailbox.entry.answer, healthScore: score } };
  return { ...mailbox, entry, stats: { at: now, answer: { rows } } };
}

test.each([
  ['79 % of 40 emails', '20,79 20,79', true],
  ['80 %', '20,80 20,80', 'unknown'],
  ['between 80 and 85 %', '20,84 20,85', 'unknown'],
  ['85 %', '20,85 20,85', false],
  ['10 % of 29 emails', '10,10 19,10', 'unknown'],
  ['nothing in an inbox, more than seven days ago', '500,0 7*10,95', false],
])('reputation_low by inbox rate: %s', (_, days, active) => {
  expect(condition('inbox rate', 'stats', withDays(days)).active).toBe(active);
});

test('reputation_low: its marks can be configured', () => {
  const rules = { ...defaultRuleSettings, reputationLow: { inboxBelowPpm: 950_000, minMails: 5, scoreDrop: 15 } };
  expect(condition('inbox rate', 'stats', withDays('6,94'), { rules }).active).toBe(true);
});

test.each([
  ['15 points below the best of seven days', '9,95,98 9,95,80', 83, true],
  ['14.5 points below it', '9,95,98 9,95,80', 83.5, 'unknown'],
  ['10 points below it', '9,95,98 9,95,80', 88, false],
  ['an older best', '9,95,99 7*9,95,80', 80, false],
  ['no score on any day', '9', 90, 'unknown'],
])('reputation_low by health score: %s', (_, days, score, active) => {
  expect(condition('health score', 'mailboxes', withDays(days, start, score)).active).toBe(active);
});

const wednesday = Date.parse('2026-03-18T12:30:00Z');
const monday = Date.parse('2026-03-16T20:00:00Z');

test.each<[string, string, EpochMs, Partial<Verdict>, boolean]>([
  // Sent on Sunday last; Monday and Tuesday are whole days with zeros.
  ['two whole sending days', '14*20 0 0 0', wednesday, {}, true],
  ['two days, and emails on the third', '14*20 0 0 3', wednesday, {}, false],
  ['one day', '14*20 0 0', wednesday - dayMs, {}, false],
  ['a second day that is not over everywhere before noon', '14*20 0 0 0', wednesday - hourMs, {}, false],
  ['two days of a paused mailbox', '14*20 0 0 0', wednesday, { run: 'paused', reason: 'already_paused' }, false],
  ['a weekend of a mailbox that never sends then', '5*20 0 0 0', monday, {}, false],
  ['two days after such a weekend', '5*20 0 0 0 0 0', monday + 2 * dayMs, {}, true],
])('S11: counts that stand still, with zeros: %s', (_, days, now, change, active) => {
  const mailbox = { ...withDays(days, now), verdict: { at: now, answer: sampleVerdict(change) } };
  expect(condition('statistics', 'stats', mailbox, { now }).active).toBe(active);
});

test('settings: another severity and `for`, and a rule that is off ends what fires', () => {
  const found = condition('stale_data', 'stats', judged({ reason: 'stale_data' }));
  const of = { ...defaultRuleSettings.of, stale_data: { enabled: true, severity: 'info', forMs: hourMs } as const };
  expect(tune([found], { ...defaultRuleSettings, of })).toMatchObject([
    { active: true, severity: 'info', forMs: hourMs },
  ]);
  const off = { ...defaultRuleSettings.of, stale_data: { ...defaultRuleSettings.of.stale_data, enabled: false } };
  const firing = step([found], () => undefined, start).changed[0];
  const changes = step(tune([found], { ...defaultRuleSettings, of: off }), () => firing, start);
  expect(changes.transitions).toMatchObject([{ kind: 'resolved' }]);
  expect(changes.transitions[0]?.alert.facts.sentences[0]).toContain('is off');
});
