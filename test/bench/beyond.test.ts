// The benchmark of the alerts beyond one mailbox: on small cells, and never more alerts on healthy mailboxes than the policy says.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type WarmupMode, warmupModes } from '../../src/core/policy.ts';
import { badDomains, doubledSeen, falseAlerts, falseShifts } from '../../tools/bench/guard/beyond.ts';
import { beyondFigures, beyondText } from '../../tools/bench/guard/beyond-figures.ts';
import { seededChance, seedOf } from '../../tools/bench/guard/chance.ts';
import type { Column } from '../../tools/bench/guard/columns.ts';
import { domainAlerts } from '../../tools/bench/guard/fleet.ts';
import { simulateHistory } from '../../tools/bench/guard/history.ts';

// A part of the proof in `npm test`, all of it in `npm run proofs`.
const share = process.env['WARMWARDEN_SLOW'] ? 8 : 1;

/** False alerts a week at 500 healthy mailboxes, as the policy has them: of domains; bursts and shifts are hardly any. */
const policys: Readonly<Record<WarmupMode, number>> = { slow: 0.24, balanced: 0.01, aggressive: 0, recovery: 0.56 };
const weeks = 10;

/** Far above what chance makes of an expected count: once in millions of runs. */
const most = (expected: number) => expected + 5 * Math.sqrt(expected) + 3;

describe('a healthy fleet, whatever the seed', () => {
  test.each(warmupModes)('%s: no more alerts about domains and bursts than the policy says', (mode) => {
    const domains = 60;
    const runs = 2 * share;
    let [alerts, bursts] = [0, 0];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), (seed) => {
        const { domain, burst } = falseAlerts({ mode, isClustered: false }, domains, seed);
        alerts += domain * domains * 5 * weeks;
        bursts += burst * domains * 5 * weeks;
      }),
      { numRuns: runs },
    );
    const fleetWeeks = (runs * domains * 5 * weeks) / 500;
    expect(alerts).toBeLessThan(most((policys[mode] * 1.25 + 0.05) * fleetWeeks));
    expect(bursts).toBeLessThan(most(0.05 * fleetWeeks));
  });

  test('no shift of an account', () => {
    expect(falseShifts({ mode: 'balanced', isClustered: false }, 100, 2 * share)).toBeLessThanOrEqual(0.1);
  });
});

test('a domain at 3 to 5 % is seen, in aggressive days before any action', () => {
  const { medianLeadDays, seenShare } = badDomains('aggressive', 20);
  expect(seenShare).toBe(1);
  expect(medianLeadDays).toBeGreaterThan(0.5);
});

test('doubled counts are seen in a large fleet, and hardly in a small one', () => {
  expect([doubledSeen('balanced', 500, 1), doubledSeen('recovery', 60, 1)]).toEqual([1, 0]);
});

test('asking only where a bounce came, and while it fires, finds the alerts of every poll', () => {
  const column: Column = { name: 'bad', kind: 'together', onset: 10, before: 0.002, rate: 0.02 };
  for (let seed = 0; seed < 5; seed += 1) {
    const chance = (index: number) => seededChance(seedOf(seed, index));
    const histories = [0, 1, 2].map((index) => simulateHistory('balanced', column, 30, chance(index)));
    const alerts = domainAlerts(histories, 'balanced');
    expect(alerts.length).toBeGreaterThan(0);
    expect(alerts).toEqual(domainAlerts(histories, 'balanced', true));
  }
});

test('every mode has the figures of healthy, clustered and incident cells, and a line for people', () => {
  const figures = beyondFigures({ domains: 2, badDomains: 2, fleets: 0 }, () => {});
  const of = (mode: WarmupMode) =>
    figures.filter(({ figure }) => figure.startsWith(`${mode}/`)).map(({ figure }) => figure);
  const cells = (mode: WarmupMode) => [...new Set(of(mode).map((name) => name.split('/')[1]))];
  for (const mode of warmupModes) {
    expect(cells(mode)).toEqual([
      'healthy_500',
      'healthy_60',
      'clustered_500',
      'domain_3_to_5pct',
      'doubled_500',
      'doubled_60',
    ]);
  }
  expect(beyondText(figures).split('\n')).toHaveLength(figures.length + 1);
});
