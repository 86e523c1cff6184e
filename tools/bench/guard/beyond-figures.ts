// The figures of the alerts beyond one mailbox, held against what the guard's policy expects of them.
import { type WarmupMode, warmupModes } from '../../../src/core/policy.ts';
import { type Figure, rounded } from '../figure.ts';
import { isWithin } from './acceptance.ts';
import { badDomains, doubledSeen, falseAlerts, falseShifts } from './beyond.ts';

/** How much is simulated; tests take less. */
export interface BeyondScale {
  /** Healthy domains, for false alerts. */
  readonly domains: number;
  readonly badDomains: number;
  readonly fleets: number;
}

export const wholeScale: BeyondScale = { domains: 2_000, badDomains: 400, fleets: 4 };

const [largeFleet, smallFleet] = [500, 60];

/** False shared_bounces alerts a week at 500 healthy mailboxes: the policy's own figures. */
const expectedDomainAlerts: Readonly<Record<WarmupMode, number>> = {
  slow: 0.24,
  balanced: 0.01,
  aggressive: 0,
  recovery: 0.56,
};

/** Days from the alert about an aggressive domain at 3 to 5% to the first action on one of its mailboxes: the policy's figure. */
const expectedLeadDays = 1.25;
/** In the other modes a second bounce acts about as soon; the alert need not be first. */
const latestLeadDays = -0.5;

/**
 * With clustered bounces the policy expects nothing; these are what was measured when the rules were built, rounded up.
 * Bursts of an aggressive mailbox are what bounces that come together look like.
 */
const mostClustered: Readonly<
  Record<WarmupMode, { readonly domain: number; readonly burst: number; readonly shift: number }>
> = {
  slow: { domain: 0.5, burst: 0.1, shift: 0.5 },
  balanced: { domain: 0.5, burst: 0.1, shift: 0.5 },
  aggressive: { domain: 0.2, burst: 15, shift: 0.5 },
  recovery: { domain: 0.5, burst: 0.1, shift: 0.5 },
};

/** shared_bounces: at least this share of doubled counts is seen in a large fleet; of a small one nothing is promised. */
const leastSeenLarge = 0.5;
const leastSeenDomains = 0.95;

/** The figures of every mode. `told`: a mode is done. */
export function beyondFigures(scale: BeyondScale, notified: (mode: WarmupMode) => void): readonly Figure[] {
  return warmupModes.flatMap((mode) => {
    const figures = [...healthyFigures(mode, scale), ...clusteredFigures(mode, scale), ...incidentFigures(mode, scale)];
    notified(mode);
    return figures;
  });
}

function figure(name: string, ours: number, target: number, holds: boolean): Figure {
  return { bench: 'guard', figure: name, ours: rounded(ours), peer: null, ratio: null, target: rounded(target), holds };
}

const near = (name: string, ours: number, target: number, measure: 'rate' | 'days' = 'rate') =>
  figure(name, ours, target, isWithin(measure, ours, target));
const atMost = (name: string, ours: number, target: number) => figure(name, ours, target, ours <= target);
const atLeast = (name: string, ours: number, target: number) => figure(name, ours, target, ours >= target);

function healthyFigures(mode: WarmupMode, { domains, fleets }: BeyondScale): readonly Figure[] {
  const healthy = { mode, isClustered: false };
  const { domain, burst } = falseAlerts(healthy, domains);
  return [largeFleet, smallFleet].flatMap((mailboxes) => {
    const cell = `${mode}/healthy_${mailboxes}`;
    const expected = (expectedDomainAlerts[mode] * mailboxes) / largeFleet;
    return [
      near(`${cell}/domain_over_limit_per_week`, domain * mailboxes, expected),
      near(`${cell}/bounce_burst_per_week`, burst * mailboxes, 0),
      near(`${cell}/account_shift_per_week`, falseShifts(healthy, mailboxes, fleets), 0),
    ];
  });
}

function clusteredFigures(mode: WarmupMode, { domains, fleets }: BeyondScale): readonly Figure[] {
  const clustered = { mode, isClustered: true };
  const { domain, burst } = falseAlerts(clustered, domains);
  const most = mostClustered[mode];
  const cell = `${mode}/clustered_${largeFleet}`;
  return [
    atMost(`${cell}/domain_over_limit_per_week`, domain * largeFleet, most.domain),
    atMost(`${cell}/bounce_burst_per_week`, burst * largeFleet, most.burst),
    atMost(`${cell}/account_shift_per_week`, falseShifts(clustered, largeFleet, fleets), most.shift),
  ];
}

function incidentFigures(mode: WarmupMode, scale: BeyondScale): readonly Figure[] {
  const { medianLeadDays, seenShare } = badDomains(mode, scale.badDomains);
  const lead = `${mode}/domain_3_to_5pct/lead_days`;
  return [
    mode === 'aggressive'
      ? near(lead, medianLeadDays, expectedLeadDays, 'days')
      : atLeast(lead, medianLeadDays, latestLeadDays),
    atLeast(`${mode}/domain_3_to_5pct/seen_share`, seenShare, leastSeenDomains),
    atLeast(
      `${mode}/doubled_${largeFleet}/seen_share`,
      doubledSeen(mode, largeFleet, 2 * scale.fleets),
      leastSeenLarge,
    ),
    atLeast(`${mode}/doubled_${smallFleet}/seen_share`, doubledSeen(mode, smallFleet, 2 * scale.fleets), 0),
  ];
}

const nameWidth = 52;

/** For people: a line a figure, `!` where it misses. */
export function beyondText(figures: readonly Figure[]): string {
  const lines = figures.map(({ figure: name, ours, target, holds }) =>
    `${name.padEnd(nameWidth)}${String(ours).padEnd(12)}${String(target).padEnd(8)}${holds ? '' : '!'}`.trimEnd(),
  );
  return [`${'beyond one mailbox'.padEnd(nameWidth)}${'measured'.padEnd(12)}target`, ...lines].join('\n');
}
