// Sentences with numbers for every reason, and numbers that do not mislead.
import { expect, test } from 'vitest';
import type { IncidentMailbox } from '../../src/core/incident.ts';
import { typedName } from '../../src/core/mailbox.ts';
import { reasons } from '../../src/core/verdict.ts';
import { explainVerdict } from '../../src/core/wording/explain.ts';
import { worstFirst } from '../../src/core/wording/incidents.ts';
import {
  counted,
  datesText,
  momentText,
  percentText,
  roughSpanText,
  spanText,
  timeText,
} from '../../src/core/wording/phrases.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
import { breach, sampleVerdict } from '../alerts/samples.ts';

test('every reason has sentences of its own', () => {
  const texts = reasons.map((reason) => explainVerdict({ ...breach, reason, bouncesUntilBreach: 1 }));
  expect(new Set(texts).size).toBe(reasons.length);
  for (const text of texts) expect(text).toMatch(/^[A-Z0-9].*\.$/);
});

test('verdicts in words', () => {
  expect(explainVerdict(sampleVerdict({ sent: 0 }))).toContain('No emails have been sent yet');
  const restarted = { sent: 0, bounced: 0, windowDays: 0, windowFrom: null, windowTo: null };
  expect(explainVerdict(sampleVerdict(restarted))).toContain('its bounce rate starts from zero');
  expect(explainVerdict(sampleVerdict({ warnings: ['a day in the future'] }))).toContain('Unusual data: a day in');
});

test('a name to type is one word of a shell, by the id if the address is none', () => {
  const typed = (id: string, email: string) => typedName({ account: 'acme', id, email });
  expect(typed('m1', 'bob@acme.example')).toBe('acme/bob@acme.example');
  expect(typed('m1', 'b/ob@acme.example')).toBe('acme/b/ob@acme.example');
  expect(typed('m1', "o'hara@acme.example")).toBe('acme/m1');
  expect(typed('m$(1)', "o'hara@acme.example")).toBe("'acme/m$(1)'");
});

test('members of an incident with one address are listed in the order of their accounts', () => {
  const members = ['b', 'a'].map((account) => ({ ...sampleIncident(1).members[0], account })) as IncidentMailbox[];
  const accounts = (some: readonly IncidentMailbox[]) => worstFirst(some).map(({ account }) => account);
  expect([accounts(members), accounts(members.toReversed())]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

test('a rate just over the limit never looks equal to it', () => {
  expect(percentText(10_004, 10_000)).toBe('1.0004%');
  expect(percentText(10_040, 10_000)).toBe('1.004%');
  expect(percentText(10_000, 10_000)).toBe('1%');
  expect(percentText(15_385, 10_000)).toBe('1.54%');
});

test('dates, spans and counts', () => {
  expect(datesText('2026-03-14', '2026-03-20')).toBe('14 to 20 March');
  expect(datesText('2026-02-28', '2026-03-06')).toBe('28 February to 6 March');
  expect(datesText('2025-12-28', '2026-01-03')).toBe('28 December 2025 to 3 January 2026');
  expect(datesText('2026-03-20', '2026-03-20')).toBe('20 March');
  expect([400, 59_600, 119_900, 3_600_000, 7_500_000, 86_399_000 * 3].map(spanText)).toEqual([
    '0.4 s',
    '60 s',
    '120 s',
    '60 min',
    '2 h 5 min',
    '2 days',
  ]);
  expect([2_700, 59_000, 90_000, 6_600_000, 10_000_000, 86_400_000 * 3].map(roughSpanText)).toEqual([
    '3 s',
    '59 s',
    '2 min',
    '110 min',
    '3 h',
    '3 days',
  ]);
  expect(counted(12_345, 'bounce')).toBe('12,345 bounces');
  expect([counted(0, 'bounce'), counted(1, 'bounce'), counted(2, 'bounce')]).toEqual([
    'no bounces',
    '1 bounce',
    '2 bounces',
  ]);
});

test('a time names its zone; without one it is UTC', () => {
  const at = Date.parse('2026-03-28T23:30:00Z');
  expect([timeText(at, 'UTC'), momentText(at, 'UTC')]).toEqual(['23:30 UTC', '28 March 23:30 UTC']);
  expect(momentText(at, 'Europe/Berlin')).toBe('29 March 00:30 Europe/Berlin');
  expect(timeText(at + 2 * 3_600_000, 'Europe/Berlin')).toBe('03:30 Europe/Berlin');
  expect(momentText(at, 'America/St_Johns')).toBe('28 March 21:00 America/St_Johns');
});
