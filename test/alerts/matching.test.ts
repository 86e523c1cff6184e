// Routes and silences on alerts that belong to no account: the circuit breaker's, and Warmwarden's own.
import { describe, expect, test } from 'vitest';
import { channelsFor, matches } from '../../src/alerts/routing.ts';
import type { Alert } from '../../src/core/alert.ts';
import { sampleAlert } from './samples.ts';

/** What the breaker of an API holds of these accounts. */
function heldOf(...accounts: string[]): Alert {
  const facts = { title: 'held', sentences: [], numbers: {}, accounts };
  const subject = { account: '', mailboxId: null, email: null, object: 'https://api.example' };
  return sampleAlert(1, { rule: 'guard_held', ...subject, severity: 'critical', facts });
}

const own = sampleAlert(1, { rule: 'store_failing', account: '', mailboxId: null, email: null });
const routes = [
  { match: { account: ['acme'] }, channels: ['acme-slack'] },
  { match: { account: ['beta'] }, channels: ['beta-slack'] },
  { match: { rule: ['guard_*'], account: ['g*'] }, channels: ['gamma-slack'] },
];
const channels = ['acme-slack', 'beta-slack', 'gamma-slack'].map((name) => ({ name, type: 'slack' }));

describe('a route by account', () => {
  test.each([
    [heldOf('acme'), ['acme-slack']],
    [heldOf('acme', 'beta'), ['acme-slack', 'beta-slack']],
    [heldOf('gamma'), ['gamma-slack']],
    // Critical, and of no route's account: it is for everybody.
    [heldOf('delta'), ['acme-slack', 'beta-slack', 'gamma-slack']],
  ])('takes a hold on mailboxes of the account', (alert, notified) => {
    expect(channelsFor(alert, routes, channels)).toEqual(notified);
  });

  test('keeps nothing of Warmwarden itself from being told', () => {
    expect(channelsFor(own, routes, channels)).toEqual(['acme-slack', 'beta-slack']);
  });

  test('takes the other alerts of its account only', () => {
    expect(channelsFor(sampleAlert(1, { account: 'beta' }), routes, channels)).toEqual(['beta-slack']);
  });
});

describe('a silence by account', () => {
  test('mutes a hold while all that is held is on silenced accounts', () => {
    expect(matches(heldOf('acme'), { account: ['acme'] })).toBe(true);
    expect(matches(heldOf('acme', 'beta'), { account: ['acme', 'b*'] })).toBe(true);
  });

  test('does not mute what is held of another account', () => {
    expect(matches(heldOf('acme', 'beta'), { account: ['acme'] })).toBe(false);
  });

  test('does not mute what is about Warmwarden itself', () => {
    expect(matches(own, { account: ['acme'] })).toBe(false);
    expect(matches(own, { rule: ['store_failing'] })).toBe(true);
  });
});
