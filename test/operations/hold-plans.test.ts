// What `breaker apply` promises: never an action where an emergency stop forbids it.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import type { VerdictAction } from '../../src/core/verdict.ts';
import type { WriteScope } from '../../src/core/write-scope.ts';
import { appliedTexts, applyPlan } from '../../src/operations/holds.ts';
import { mailbox, now, verdict } from '../web/example-fleet.ts';
import { stillWorld } from '../web/running-server.ts';

const api = 'https://api.example';
const world = stillWorld();
const keys = ['acme/m1', 'acme/m2', 'beta/m3'];

function stage(stops: readonly WriteScope[], held = keys, wanted: Readonly<Record<string, VerdictAction>> = {}) {
  const fleet = new Fleet();
  for (const key of held) {
    const answer = verdict({ action: 'hold', reason: 'circuit_breaker', wanted: wanted[key] ?? 'recovery' });
    const [account = '', id = ''] = key.split('/');
    fleet.putMailbox({ ...mailbox(id, `${id}@x.example`), account, verdict: { at: now, answer } });
  }
  const entries = held.map((key, index) => ({
    ...{ key, account: key.slice(0, 4), email: `${key.slice(5)}@x.example`, domain: 'x.example', at: now, held: true },
    ...{ firstSight: false, statsAt: now, weight: 9 - index },
  }));
  fleet.putBreaker(api, { ...closedBreaker, openSince: now, entries });
  for (const scope of stops) fleet.putWritesOff({ scope, since: now, until: null, by: 'bob', reason: 'a look' });
  const plan = applyPlan({ fleet, world }, new Map([[api, held]]));
  return { plan, effect: plan.effect.join(' '), applied: appliedTexts({ fleet, world }, held).join(' ') };
}

test('the preview says which mailboxes are paused and which are switched, and another action is another plan', () => {
  const { effect, plan } = stage([], keys, { 'beta/m3': 'pause', 'acme/m2': 'hold' });
  expect(effect).toBe(
    [
      'Warmwarden will immediately act on 3 mailboxes that the circuit breaker is holding.',
      'Warmwarden will pause the warm-up of 1 mailbox, until a person resumes it: m3@x.example.',
      'Warmwarden will switch 1 mailbox to recovery mode: m1@x.example.',
      'Warmwarden will first judge 1 mailbox on fresh data: m2@x.example.',
    ].join(' '),
  );
  expect(plan.about).not.toEqual(stage([]).plan.about);
  const many = Array.from({ length: 12 }, (_, number) => `acme/m${number}`);
  expect(stage([], many).effect).toMatch(/m9@x\.example and 2 more\.$/);
});

test('during an emergency stop, neither the preview nor the answer says that it acts', () => {
  const { effect, applied } = stage([{ kind: 'everything' }]);
  for (const said of [effect, applied]) {
    expect(said).toContain('Warmwarden does NOT act on 3 mailboxes while writes are off.');
    expect(said).toContain('Writes are off for all accounts (bob: a look). To allow them: `warmwarden writes on`.');
    expect(said).not.toMatch(/immediately|now acts/);
  }
});
