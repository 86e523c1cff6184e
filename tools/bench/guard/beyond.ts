// What the alerts beyond one mailbox cost on healthy fleets, and what they see: a domain that turns bad, counts that double.
import { defaultPolicy, type WarmupMode } from '../../../src/core/policy.ts';
import { alarmsOf } from './alarms.ts';
import { type Chance, seededChance, seedOf } from './chance.ts';
import type { Column } from './columns.ts';
import { burstAlerts, domainAlerts, mailboxesPerDomain, shiftAlerts } from './fleet.ts';
import { type History, pollsPerDay, simulateHistory } from './history.ts';

/** Days after which every ramp is over and all 28 days before the last two are there. */
const settledDays = 31;
const weekDays = 7;
/**
 * Chosen, as the size of a domain is, because with both the alerts about domains come as often as the policy expects: it does
 * not say for which rate and size. The lead of the alert in aggressive mode was not fitted.
 */
const healthyRate = 0.0015;
const clusteredRate = 0.001;
const meanCluster = 2;

/** Healthy mailboxes; clustered: with bounces that come together. */
export interface Healthy {
  readonly mode: WarmupMode;
  readonly isClustered: boolean;
}

const healthyDays = settledDays + 10 * weekDays;

function domainOf(column: Column, mode: WarmupMode, days: number, seed: number): readonly History[] {
  return Array.from({ length: mailboxesPerDomain }, (_, index) =>
    simulateHistory(mode, column, days, seededChance(seedOf(seed, mode, column.name, index))),
  );
}

const settled = (polls: readonly number[]) => polls.filter((poll) => poll >= settledDays * pollsPerDay).length;

function healthyColumn({ isClustered }: Healthy): Column {
  return isClustered
    ? { name: 'clustered', kind: 'steady', rate: () => clusteredRate, cluster: meanCluster }
    : { name: 'healthy', kind: 'steady', rate: () => healthyRate };
}

const countedWeeks = (healthyDays - settledDays) / weekDays;

/** False alerts of a mailbox in a week: of its domain, divided among its mailboxes, and its own. Each seed is a domain. */
export function falseAlerts(
  healthy: Healthy,
  domains: number,
  firstSeed = 0,
): { readonly domain: number; readonly burst: number } {
  const { mode } = healthy;
  const counts = { domain: 0, burst: 0 };
  for (let domain = 0; domain < domains; domain += 1) {
    const histories = domainOf(healthyColumn(healthy), mode, healthyDays, firstSeed + domain);
    counts.domain += settled(domainAlerts(histories, mode));
    for (const history of histories) counts.burst += settled(burstAlerts(history, mode));
  }
  const mailboxWeeks = domains * mailboxesPerDomain * countedWeeks;
  return { domain: counts.domain / mailboxWeeks, burst: counts.burst / mailboxWeeks };
}

/** False shared_bounces alerts of a fleet in a week. */
export function falseShifts(healthy: Healthy, mailboxes: number, fleets: number): number {
  let shifts = 0;
  for (let fleet = 0; fleet < fleets; fleet += 1) {
    const domains = Array.from({ length: mailboxes / mailboxesPerDomain }, (_, domain) =>
      domainOf(healthyColumn(healthy), healthy.mode, healthyDays, fleetSeed(fleet) + domain),
    );
    shifts += settled(shiftAlerts(domains, healthy.mode));
  }
  return shifts / (fleets * countedWeeks);
}

/** More than a fleet has domains: no two fleets share one. */
function fleetSeed(fleet: number): number {
  return (fleet + 1) * 100_000;
}

/** How a domain that turns bad was noticed. */
export interface BadDomain {
  /** From the alert to the first action on any of its mailboxes; negative where the action came first. */
  readonly medianLeadDays: number;
  /** The alert came within 14 days. */
  readonly seenShare: number;
}

/** The bad rate of each domain lies between these. */
const [leastBad, mostBad] = [0.03, 0.05];
const badDays = 14;

export function badDomains(mode: WarmupMode, domains: number): BadDomain {
  const leads: number[] = [];
  let seen = 0;
  for (let index = 0; index < domains; index += 1) {
    const chance: Chance = seededChance(seedOf('bad', mode, index));
    const onset = settledDays + Math.floor(chance() * weekDays * pollsPerDay) / pollsPerDay;
    const rate = leastBad + (mostBad - leastBad) * chance();
    const days = Math.ceil(onset) + badDays;
    const histories = domainOf({ name: 'bad', kind: 'together', onset, before: healthyRate, rate }, mode, days, index);
    const since = (poll: number | undefined) =>
      poll === undefined ? Number.POSITIVE_INFINITY : (poll + 1) / pollsPerDay - onset;
    const isAfter = (poll: number) => (poll + 1) / pollsPerDay > onset;
    const alert = since(domainAlerts(histories, mode).find(isAfter));
    const actions = histories.map((history) => {
      const watch = { policy: defaultPolicy, mode, history, polls: history.sent.length, judgeAll: false };
      const alarm = alarmsOf({ ...watch, stopFrom: onset * pollsPerDay }).find(({ poll }) => isAfter(poll));
      return since(alarm?.poll);
    });
    const action = Math.min(...actions);
    if (Number.isFinite(alert)) seen += 1;
    leads.push(Math.min(action, badDays) - Math.min(alert, badDays));
  }
  leads.sort((a, b) => a - b);
  return { medianLeadDays: leads[Math.floor(leads.length / 2)] ?? 0, seenShare: seen / domains };
}

const doubledDays = 3;

/** The share of fleets in which shared_bounces sees that all bounces are counted twice for three days. */
export function doubledSeen(mode: WarmupMode, mailboxes: number, fleets: number): number {
  const column: Column = { name: 'doubled', kind: 'steady', rate: () => healthyRate };
  let seen = 0;
  for (let fleet = 0; fleet < fleets; fleet += 1) {
    const domains = Array.from({ length: mailboxes / mailboxesPerDomain }, (_, domain) =>
      domainOf(column, mode, settledDays + doubledDays, fleetSeed(fleet) + domain).map(doubled),
    );
    if (settled(shiftAlerts(domains, mode)) > 0) seen += 1;
  }
  return seen / fleets;
}

function doubled(history: History): History {
  const bounced = history.bounced.map((count, poll) => (poll >= settledDays * pollsPerDay ? 2 * count : count));
  return { ...history, bounced };
}
