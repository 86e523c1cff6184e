// Findings about many mailboxes, their ips and domains, their placement and the list: fires, clears and says nothing, row by row.

import { expect, test } from 'vitest';
import { tune } from '../../../src/alerts/condition.ts';
import { step } from '../../../src/alerts/engine.ts';
import { conditionsAfter } from '../../../src/alerts/rules.ts';
import type { Alert } from '../../../src/core/alert.ts';
import { alertRules } from '../../../src/core/alert-rules.ts';
import type { BlacklistAnswer, Route, StatsRow } from '../../../src/core/answers.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { defaultRuleSettings } from '../../../src/core/rule-settings.ts';
import { addDays, dayMs, type EpochMs, hourMs, utcDate } from '../../../src/core/time.ts';
import { sampleContext, sampleMailbox, sampleVerdict, start } from '../samples.ts';

type Context = Parameters<typeof sampleContext>[0];

/** `what`: a rule, or one of its causes. */
function condition(what: string, answered: Route, mailbox: MailboxState, context: Context = {}) {
  const all = conditionsAfter(answered, mailbox, sampleContext(context));
  const found = all.find(({ subject }) => subject.rule === what || subject.object === what);
  if (!found) throw new Error(`${answered} says nothing of ${what}`);
  return found;
}

function withDns(id: string, spf: boolean | null): MailboxState {
  const record = (pass: boolean | null) => ({
    status: pass === null ? 'temperror' : pass ? 'pass' : 'fail',
    pass,
    record: null,
  });
  const records = { spf: record(spf), dkim: record(true), dmarc: record(true) };
  const email = `${id}@acme.example`;
  return sampleMailbox({ id, email, dns: { at: start, answer: { domain: 'acme.example', checkedAt: null, records } } });
}

test('mailboxes of one domain that disagree do not make its alert flap', () => {
  const [broken, fine] = [withDns('m1', false), withDns('m2', true)];
  const alerts = new Map<string, Alert>();
  const notified: string[] = [];
  const see = (mailbox: MailboxState, other: MailboxState) => {
    const found = condition('dns_failing', 'dns', mailbox, { neighbours: () => [other] });
    const changes = step([found], (fingerprint) => alerts.get(fingerprint), start);
    for (const alert of changes.changed) alerts.set(alert.fingerprint, alert);
    notified.push(...changes.transitions.map(({ kind }) => kind));
  };
  for (let round = 0; round < 5; round += 1) {
    see(broken, fine);
    see(fine, broken);
  }
  expect(notified).toEqual(['firing']);
  const mended = withDns('m1', true);
  see(fine, broken);
  expect(notified).toEqual(['firing']);
  see(mended, fine);
  expect(notified).toEqual(['firing', 'resolved']);
});

function listed(change: Partial<BlacklistAnswer>): MailboxState {
  const answer = { domain: 'acme.example', ip: '192.0.2.7', checkedAt: null, listed: true, found: null, checked: 60 };
  return sampleMailbox({ blacklist: { at: start, answer: { ...answer, lists: [], ...change } } });
}
const blacklists = (change: Partial<(typeof defaultRuleSettings)['blacklisted']>) => ({
  rules: { ...defaultRuleSettings, blacklisted: { ...defaultRuleSettings.blacklisted, ...change } },
});

test('blacklisted: a major list is critical, an ignored one counts for nothing, and min_lists sets the mark', () => {
  const two = listed({ lists: ['zen.spamhaus.org', 'dnsbl.obscure.example'], found: 2 });
  expect(condition('blacklisted', 'blacklist', two)).toMatchObject({ active: true, severity: 'warning' });
  const major = condition('blacklisted', 'blacklist', two, blacklists({ major: ['*.SPAMHAUS.org'] }));
  expect(major).toMatchObject({ active: true, severity: 'critical' });
  expect(tune([major], defaultRuleSettings)[0]?.severity).toBe('critical');
  const ignored = blacklists({ ignore: ['*.obscure.example', 'zen.*'] });
  expect(condition('blacklisted', 'blacklist', two, ignored).active).toBe(false);
  const fewer = condition('blacklisted', 'blacklist', two, blacklists({ ignore: ['zen.*'], minLists: 2 }));
  expect(fewer.active).toBe(false);
  expect(condition('blacklisted', 'blacklist', listed({}), {}).active).toBe(true);
  expect(condition('blacklisted', 'blacklist', listed({ listed: null }), {}).active).toBe('unknown');
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
  const of = (id: string) => ({
    ...listed({ checkedAt: new Date(start).toISOString() }),
    id,
    email: `${id}@acme.example`,
  });
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
  const many = ['m2', 'm3', 'm4', 'm5'].map((id) => withDns(id, false));
  expect(
    condition('dns_failing', 'dns', withDns('m1', false), { neighbours: () => many }).facts.sentences.join(' '),
  ).toContain('This affects m1@acme.example, m2@acme.example, m3@acme.example and 2 other mailboxes.');
});

/** Days up to today, oldest first: [sent, inbox percent, health score]. */
function withDays(days: readonly (readonly [number, number?, number?])[], now = start, score = 90): MailboxState {
  const today = utcDate(now);
  const rows = days.map(([sent, inbox = 95, health]): StatsRow => {
    const counts = { sent, delivered: sent, bounced: 0, opened: 0, replied: 0, spamLanded: 0 };
    return {
      date: null,
      ...counts,
      inboxRatePercent: inbox,
      bounceRatePercent: 0,
      healthScore: health ?? null,
    };
  });
  const dated = rows.map((row, index) => ({ ...row, date: addDays(today, index + 1 - rows.length) }));
  const mailbox = sampleMailbox({ verdict: { at: now, answer: sampleVerdict() } });
  const entry = { at: now, answer: { ...mailbox.entry.answer, healthScore: score } };
  return { ...mailbox, entry, stats: { at: now, answer: { rows: dated } } };
}

test('reputation_low: under 80 % of at least 30 emails fires, five points above it ends, between says nothing', () => {
  const at = (...days: readonly (readonly [number, number?])[]) =>
    condition('inbox rate', 'stats', withDays(days)).active;
  expect(at([20, 79], [20, 79])).toBe(true);
  expect(at([20, 80], [20, 80])).toBe('unknown');
  expect(at([20, 84], [20, 85])).toBe('unknown');
  expect(at([20, 85], [20, 85])).toBe(false);
  expect(at([10, 10], [19, 10])).toBe('unknown');
  // Older than seven days counts for nothing.
  expect(at([500, 0], ...Array.from({ length: 7 }, () => [10, 95] as const))).toBe(false);
  const rules = { ...defaultRuleSettings, reputationLow: { inboxBelowPpm: 950_000, minMails: 5, scoreDrop: 15 } };
  expect(condition('inbox rate', 'stats', withDays([[6, 94]]), { rules }).active).toBe(true);
});

test('reputation_low: 15 points below the best of seven days fires, ten end it, an older best is forgotten', () => {
  const at = (best: number, score: number) =>
    condition(
      'health score',
      'mailboxes',
      withDays(
        [
          [9, 95, best],
          [9, 95, 80],
        ],
        start,
        score,
      ),
    ).active;
  expect(at(98, 83)).toBe(true);
  expect(at(98, 83.5)).toBe('unknown');
  expect(at(98, 88)).toBe(false);
  const old = withDays([[9, 95, 99], ...Array.from({ length: 7 }, () => [9, 95, 80] as const)], start, 80);
  expect(condition('health score', 'stats', old).active).toBe(false);
  expect(condition('health score', 'stats', withDays([[9, 95]])).active).toBe('unknown');
});

const frozen = (mailbox: MailboxState, now: EpochMs) => condition('statistics', 'stats', mailbox, { now }).active;

test('S11: counts that stand still through two whole sending days are stale, though the days go on with zeros', () => {
  const monday = Date.parse('2026-03-16T12:30:00Z');
  const daily = Array.from({ length: 14 }, () => [20] as const);
  const wednesday = monday + 2 * dayMs;
  // Sent on Sunday last; Monday and Tuesday are whole days with zeros.
  expect(frozen(withDays([...daily, [0], [0], [0]], wednesday), wednesday)).toBe(true);
  expect(frozen(withDays([...daily, [0], [0], [3]], wednesday), wednesday)).toBe(false);
  expect(frozen(withDays([...daily, [0], [0]], wednesday - dayMs), wednesday - dayMs)).toBe(false);
  // Tuesday is not over everywhere before noon.
  expect(frozen(withDays([...daily, [0], [0], [0]], wednesday - hourMs), wednesday - hourMs)).toBe(false);
  const paused = { ...withDays([...daily, [0], [0], [0]], wednesday) };
  const notRunning = { at: wednesday, answer: sampleVerdict({ run: 'paused', reason: 'already_paused' }) };
  expect(frozen({ ...paused, verdict: notRunning }, wednesday)).toBe(false);
});

test('a quiet weekend of a mailbox that never sends at weekends is no stale data', () => {
  const monday = Date.parse('2026-03-16T20:00:00Z');
  const week = [[20], [20], [20], [20], [20]] as const;
  const quiet = [[0], [0]] as const;
  expect(frozen(withDays([...week, ...quiet, [0]], monday), monday)).toBe(false);
  const later = monday + 2 * dayMs;
  expect(frozen(withDays([...week, ...quiet, [0], [0], [0]], later), later)).toBe(true);
});

test('settings: another severity and `for`, and a rule that is off ends what fires', () => {
  const found = condition(
    'stale_data',
    'stats',
    sampleMailbox({ verdict: { at: start, answer: sampleVerdict({ reason: 'stale_data' }) } }),
  );
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

test('every condition carries the severity and the `for` that its settings have by default', () => {
  const mailbox = { ...withDays([[9, 95]]), ...withDns('m1', false), ...{ blacklist: listed({}).blacklist } };
  const all = (['stats', 'mailbox', 'mailboxes', 'dns', 'blacklist'] as const).flatMap((answered) =>
    conditionsAfter(answered, mailbox, sampleContext()),
  );
  expect(all.length).toBeGreaterThan(10);
  for (const { subject, severity, forMs } of all) {
    const { rule, object } = subject;
    const usual = defaultRuleSettings.of[rule];
    expect({ rule, object, severity, forMs }).toEqual({
      ...{ rule, object, forMs: usual.forMs },
      severity: object === 'status' ? 'warning' : usual.severity,
    });
  }
  expect(Object.keys(defaultRuleSettings.of).sort()).toEqual([...alertRules].sort());
});
