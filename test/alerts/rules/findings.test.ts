// Findings about ips and domains, placement, the list and measurements: what fires, clears and says nothing, row by row. One
// measurement counts once, however often and by however many mailboxes it is read.
import { expect, test } from 'vitest';
import { conditionsAfter } from '../../../src/account/record/account-alerts.ts';
import { tune } from '../../../src/alerts/condition.ts';
import { step } from '../../../src/alerts/engine.ts';
import { configMatchesNothing } from '../../../src/alerts/rules/daemon-rules.ts';
import { type AlertRule, defaultRuleSettings } from '../../../src/core/alert-rules.ts';
import type { BlacklistAnswer, Route, StatsRow } from '../../../src/core/answers.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { addDays, dayMs, type EpochMs, hourMs, minuteMs, utcDate } from '../../../src/core/time.ts';
import type { Verdict } from '../../../src/core/verdict.ts';
import {
  alertBook,
  conditionOf,
  judged,
  sampleContext,
  sampleMailbox,
  sampleVerdict,
  start,
  withDns,
} from '../samples.ts';

test('mailboxes of one domain that disagree do not make its alert flap', () => {
  const [broken, fine] = [withDns({ id: 'm1', spf: false }), withDns({ id: 'm2', spf: true })];
  const book = alertBook();
  const see = (mailbox: MailboxState, other: MailboxState) =>
    book.see([conditionOf('dns_failing', 'dns', mailbox, { neighbours: () => [other] })]);
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
  const found = conditionOf('blacklisted', 'blacklist', mailbox, blacklists(settings));
  expect(tune([found], defaultRuleSettings)).toMatchObject([{ active, severity }]);
});

test('an ip is off the lists when no mailbox on it is seen listed any more', () => {
  const clear = listed({ listed: false, found: 0 });
  const other = { ...listed({ lists: ['zen'], found: 1 }), id: 'm2' };
  expect(conditionOf('blacklisted', 'blacklist', clear, { neighbours: () => [other] }).active).toBe('unknown');
  expect(conditionOf('blacklisted', 'blacklist', clear, { neighbours: () => [clear] })).toMatchObject({
    active: false,
    clearObservations: 2,
  });
});

test('an ip or a domain names all its mailboxes, also one whose answer counted already', () => {
  const checked = listed({ checkedAt: new Date(start).toISOString() });
  const of = (id: string) => ({ ...checked, id, email: `${id}@acme.example` });
  const [first, second] = [of('zoe'), of('amy')];
  const [fires] = step([conditionOf('blacklisted', 'blacklist', first)], () => undefined, start).changed;
  expect(fires?.facts.sentences.at(-1)).toMatch(/^zoe@acme\.example sends from it\./);
  const again = conditionOf('blacklisted', 'blacklist', second, { neighbours: () => [first] });
  const { changed, transitions } = step([again], () => fires, start);
  expect([again.active, transitions]).toEqual(['unknown', []]);
  expect(changed[0]?.facts.sentences.at(-1)).toMatch(/^amy@acme\.example and zoe@acme\.example send from it\./);
  // The words do not depend on whose answer came last.
  const back = conditionOf('blacklisted', 'blacklist', first, { neighbours: () => [second] });
  expect(step([back], () => changed[0], start).changed).toEqual([]);
  const many = ['m2', 'm3', 'm4', 'm5'].map((id) => withDns({ id, spf: false }));
  const broken = conditionOf('dns_failing', 'dns', withDns({ id: 'm1', spf: false }), { neighbours: () => many });
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
  ['79% of 40 emails', '20,79 20,79', true],
  ['80%', '20,80 20,80', 'unknown'],
  ['between 80 and 85%', '20,84 20,85', 'unknown'],
  ['85%', '20,85 20,85', false],
  ['10% of 29 emails', '10,10 19,10', 'unknown'],
  ['nothing in an inbox, more than seven days ago', '500,0 7*10,95', false],
])('reputation_low by inbox rate: %s', (_, days, active) => {
  expect(conditionOf('inbox rate', 'stats', withDays(days)).active).toBe(active);
});

test('reputation_low: its marks can be configured', () => {
  const rules = { ...defaultRuleSettings, reputationLow: { inboxBelowPpm: 950_000, minMails: 5, scoreDrop: 15 } };
  expect(conditionOf('inbox rate', 'stats', withDays('6,94'), { rules }).active).toBe(true);
});

test.each([
  ['15 points below the best of seven days', '9,95,98 9,95,80', 83, true],
  ['14.5 points below it', '9,95,98 9,95,80', 83.5, 'unknown'],
  ['10 points below it', '9,95,98 9,95,80', 88, false],
  ['an older best', '9,95,99 7*9,95,80', 80, false],
  ['no score on any day', '9', 90, 'unknown'],
])('reputation_low by health score: %s', (_, days, score, active) => {
  expect(conditionOf('health score', 'mailboxes', withDays(days, start, score)).active).toBe(active);
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
  expect(conditionOf('statistics', 'stats', mailbox, { now }).active).toBe(active);
});

test('settings: another severity and `for`, and a rule that is off ends what fires', () => {
  const found = conditionOf('stale_data', 'stats', judged({ reason: 'stale_data' }));
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

type Seen = readonly [id: string, madeAt: EpochMs | null, good: boolean];

const dnsOf = ([id, madeAt, good]: Seen) => withDns({ id, spf: good, checkedAt: checkedAt(madeAt) });

const withListing = ([id, madeAt, good]: Seen): MailboxState => ({
  ...listed({ checkedAt: checkedAt(madeAt), listed: !good, lists: good ? [] : ['zen.example'], found: good ? 0 : 1 }),
  ...{ id, email: `${id}@acme.example` },
});

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
  // An answer that says no moment is as new as its reading.
  expect(stale('dns', dnsOf(['a', null, true])).active).toBe(false);
});

test('stale_data: time alone says only that no poll brought an answer', () => {
  expect(stale('time', dnsOf(['a', start - 25 * hourMs, true])).active).toBe('unknown');
  expect(stale('time', dnsOf(['a', start, true]), start - minuteMs).active).toBe('unknown');
  expect(stale('time', dnsOf(['a', start, true]), start + minuteMs)).toMatchObject({ active: true });
  expect(stale('time', sampleMailbox(), start + minuteMs).facts.sentences[0]).toContain('has not read any DNS check');
});

test('of patterns that match no mailbox a further one is told, also beyond those shown, and a corrected one is not', () => {
  const book = alertBook();
  const see = (names: string) => {
    const idle = [...names].map((pattern, at) => ({ place: `exclude[${at}]`, pattern, hint: '' }));
    book.see([configMatchesNothing('acme', idle, book.only())]);
  };
  for (const names of ['abcdef', 'abcdef', 'bcdef', 'bcdefg', 'bcdefgh']) see(names);
  expect(book.kinds()).toEqual(['firing', 'worsened', 'worsened']);
});
