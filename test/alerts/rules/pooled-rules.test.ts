// The alerts beyond one mailbox: what they say, when they know nothing, and who is notified.
import { describe, expect, test } from 'vitest';
import {
  accountShiftAlert,
  type DomainFinding,
  domainOverLimit,
  type ShiftFinding,
} from '../../../src/alerts/rules/pooled-rules.ts';
import { minuteMs } from '../../../src/core/time.ts';
import { start } from '../samples.ts';

const known = { counted: 5, unknown: 0, pending: 0, oldestAt: () => start - 20 * minuteMs };
const excess = { sent: 290, bounced: 9, allowed: 5_800_000, from: '2026-03-19', to: '2026-03-20', mailboxes: 5 };
const week = {
  sent: 900,
  bounced: 9,
  allowed: 18_000_000,
  from: '2026-03-14',
  to: '2026-03-20',
  isWithinLimits: false,
};

function domain(change: Partial<DomainFinding> = {}): DomainFinding {
  const worst = () => [
    { email: 'a@acme.example', sent: 60, bounced: 4 },
    { email: 'b@acme.example', sent: 58, bounced: 3 },
  ];
  return { account: 'agency', domain: 'acme.example', excess, week: () => week, worst, ...known, ...change };
}

const calm = { excess: null, week: () => ({ ...week, isWithinLimits: true }) };

describe('shared_bounces of a domain', () => {
  test.each<[string, Partial<DomainFinding>, boolean | 'unknown']>([
    ['nothing that is counted', { counted: 0, unknown: 5 }, 'unknown'],
    ['neither an excess nor a calm week', { excess: null }, 'unknown'],
    ['a calm week', calm, false],
    ['a calm week while one is unknown', { ...calm, unknown: 1 }, 'unknown'],
    ['no rows', { excess: null, week: () => null }, 'unknown'],
  ])('with %s', (_, change, active) => {
    expect(domainOverLimit(domain(change), start).active).toBe(active);
  });

  test('ends with the counts of the week', () => {
    expect(domainOverLimit(domain(calm), start).facts).toMatchObject({
      title: 'acme.example: bounces are within the limits again',
      sentences: ['9 bounces in 900 emails from 14 to 20 March; their bounce limits allow 18.'],
    });
  });
});

const last = { sent: 18_400, bounced: 74, allowed: 0, from: '2026-03-19', to: '2026-03-20' };
const before = { sent: 257_600, bounced: 515, allowed: 0, from: '2026-02-19', to: '2026-03-18' };
const shift = { last, before, domains: 61, isShifted: true, hasEnded: false };

const usual = { ...shift, isShifted: false, hasEnded: true };

function account(change: Partial<ShiftFinding> = {}): ShiftFinding {
  return { account: 'agency', shift, ...known, counted: 500, ...change };
}

describe('shared_bounces of an account', () => {
  test.each<[string, Partial<ShiftFinding>, boolean | 'unknown']>([
    ['a shift', {}, true],
    ['a shift while a tenth is unknown', { counted: 450, unknown: 40, pending: 10 }, true],
    ['a shift while more than a tenth is unknown', { counted: 449, unknown: 41, pending: 10 }, 'unknown'],
    ['a rate between', { shift: { ...shift, isShifted: false } }, 'unknown'],
    ['a rate as before', { shift: usual }, false],
    ['a rate as before while most are unknown', { shift: usual, unknown: 400 }, 'unknown'],
    ['too little to compare', { shift: null }, 'unknown'],
  ])('with %s', (_, change, active) => {
    expect(accountShiftAlert(account(change), start).active).toBe(active);
  });
});

test('mailboxes that are not counted are named as such', () => {
  const said = (unknown: number) => accountShiftAlert(account({ unknown }), start).facts.sentences;
  expect(said(1)).toContain('1 mailbox is not counted, because its data is missing, unreadable or too old.');
  expect(said(2)).toContain('2 mailboxes are not counted, because their data is missing, unreadable or too old.');
});
