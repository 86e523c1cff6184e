// What a release of the circuit breaker promises: never an action where an emergency stop forbids it.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/fleet/fleet.ts';
import { closedBreaker } from '../../src/model/breaker.ts';
import type { WriteScope } from '../../src/model/write-scope.ts';
import { releasedTexts, releasePlan } from '../../src/operator/release-plan.ts';
import { now } from '../serve/example-fleet.ts';
import { stillWorld } from '../serve/running-server.ts';

const api = 'https://api.example';
const world = stillWorld();
const keys = ['acme/m1', 'acme/m2', 'beta/m3'];

function stage(stops: readonly WriteScope[], held = keys) {
  const fleet = new Fleet();
  const entries = held.map((key, index) => ({
    ...{ key, account: key.slice(0, 4), email: `${key.slice(5)}@x.example`, domain: 'x.example', at: now, held: true },
    ...{ firstSight: false, statsAt: now, weight: 9 - index },
  }));
  fleet.putBreaker(api, { ...closedBreaker, openSince: now, entries });
  for (const scope of stops) fleet.putWritesOff({ scope, since: now, until: null, by: 'bob', reason: 'a look' });
  const plan = releasePlan({ fleet, world }, new Map([[api, held]]));
  return { plan, effect: plan.effect.join(' '), released: releasedTexts({ fleet, world }, held).join(' ') };
}

test('without a stop, Warmwarden acts at once', () => {
  const { effect, released } = stage([]);
  expect(effect).toBe(
    'Warmwarden will immediately act on 3 mailboxes that the circuit breaker is holding: m1@x.example, m2@x.example, m3@x.example.',
  );
  expect(released).toBe('Released: Warmwarden now acts on 3 mailboxes. See `warmwarden status`.');
});

test('during an emergency stop, neither the preview nor the answer says that it acts', () => {
  const { effect, released } = stage([{ kind: 'everything' }]);
  for (const said of [effect, released]) {
    expect(said).toContain('Warmwarden does NOT act on 3 mailboxes while writes are off.');
    expect(said).toContain('Writes are off for all accounts (bob: a look). To allow them: `warmwarden writes on`.');
    expect(said).not.toMatch(/immediately|now acts/);
  }
});

test('a stop of some says on how many it acts, and another stop is another plan', () => {
  const some = stage([{ kind: 'account', account: 'beta' }]);
  expect(some.effect).toContain(
    'Warmwarden does NOT act on 1 mailbox while writes are off. It immediately acts on 2 others. Writes are off for account beta',
  );
  expect(some.released).toContain('It immediately acts on 2 others.');
  expect(some.plan.about).not.toEqual(stage([]).plan.about);
});

test('an open breaker that holds nothing only closes', () => {
  const { effect, released } = stage([], []);
  expect(effect).toBe('The circuit breaker will close. It is holding no action.');
  expect(released).toBe('The circuit breaker is closed. It was holding no action.');
});
