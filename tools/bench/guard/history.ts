// One simulated mailbox: what it sends and what bounces, poll by poll, whatever the guard does.
import type { WarmupMode } from '../../../src/core/policy.ts';
import { binomial, type Chance } from './chance.ts';
import { type Column, rateAt } from './columns.ts';

export const pollsPerDay = 8;
/** Emails a day at the start and at the end of the ramp (the API's document, section 2). */
export const ramps: Readonly<Record<WarmupMode, { readonly start: number; readonly max: number }>> = {
  slow: { start: 2, max: 20 },
  balanced: { start: 5, max: 40 },
  aggressive: { start: 10, max: 80 },
  recovery: { start: 1, max: 15 },
};
const rampDays = 28;
/** Of its target a mailbox sends between this share and all. */
const leastVolume = 0.85;
const firstOnsetDay = 14;
const lastOnsetDay = 60;
/** When the bounces of a DNS day come: so many on the same day, so many on the next, the others two to four days later. */
const dnsSameDay = 0.3;
const dnsNextDay = 0.4;

/** Counts between one poll and the one before; index = day x 8 + poll. */
export interface History {
  /** When the incident began, in days from the start; 0 without one. */
  readonly onset: number;
  readonly sent: Uint16Array;
  /** By the poll that first shows them. */
  readonly bounced: Uint16Array;
  /** By the poll before which they were sent, from the onset on: what the incident has cost so far. */
  readonly lost: Uint16Array;
}

/** Emails of a day, counted from 0. */
export function volumeOf(mode: WarmupMode, day: number, chance: Chance): number {
  const { start, max } = ramps[mode];
  const target = start + ((max - start) * Math.min(day, rampDays)) / rampDays;
  return Math.round(target * (leastVolume + (1 - leastVolume) * chance()));
}

/**
 * "At a random time" is read as at any of the day's polls, for every incident: only so does an emergency, which pools
 * today and yesterday, come first as often as the study says (58% of the blocks in aggressive; 99% when incidents
 * begin with the day). An incident of a day lasts 24 hours.
 */
function onsetOf(column: Column, chance: Chance): number {
  if (column.kind === 'steady') return 0;
  if (column.kind === 'together') return column.onset;
  const polls = (lastOnsetDay + 1 - firstOnsetDay) * pollsPerDay;
  return firstOnsetDay + Math.floor(polls * chance()) / pollsPerDay;
}

/**
 * When a bounce is seen, in days from the start, of an email that left at `time`. "Same day" and "next day" are read as any
 * moment of that calendar day, though not before the mail left: this reading gives the study's figures, while bounces
 * at once give a fifth too few before the action, and half a day's lateness a fifth too many.
 */
function arrivalOf(column: Column, onset: number, time: number, chance: Chance): number {
  if (column.kind !== 'dns' || time < onset || time >= onset + 1) return time;
  const kind = chance();
  const moment = chance();
  if (kind < dnsSameDay) return Math.max(time, Math.floor(time) + moment);
  if (kind < dnsSameDay + dnsNextDay) return Math.floor(time) + 1 + moment;
  return time + 2 + 2 * moment;
}

/**
 * Whether emails bounce, asked one after the other: each by itself, or in clusters of the same rate, whose size is geometric
 * (each bounce is followed by another one with the chance that gives the mean).
 */
function fates(column: Column, mode: WarmupMode, onset: number, chance: Chance): (time: number) => boolean {
  const cluster = column.kind === 'steady' ? (column.cluster ?? 1) : 1;
  let goesOn = false;
  return (time) => {
    const isBounce = goesOn || binomial(chance, 1, rateAt(column, mode, onset, time) / cluster) > 0;
    goesOn = isBounce && cluster > 1 && chance() < 1 - 1 / cluster;
    return isBounce;
  };
}

/**
 * Simulates `days` days. The emails of a day leave evenly spaced, from a random moment on (at random moments of their own,
 * the first two polls of a block would differ so much that slow's emergencies come first in 29%, not 19%). The fate
 * of each is independent of all others.
 */
export function simulateHistory(mode: WarmupMode, column: Column, days: number, chance: Chance): History {
  const onset = onsetOf(column, chance);
  const [sent, bounced, lost] = [0, 0, 0].map(() => new Uint16Array(days * pollsPerDay)) as [
    Uint16Array,
    Uint16Array,
    Uint16Array,
  ];
  const bounces = fates(column, mode, onset, chance);
  for (let day = 0; day < days; day += 1) {
    const volume = volumeOf(mode, day, chance);
    const phase = chance();
    for (let mail = 0; mail < volume; mail += 1) {
      const time = day + (mail + phase) / volume;
      const poll = Math.floor(time * pollsPerDay);
      sent[poll] = (sent[poll] ?? 0) + 1;
      if (!bounces(time)) continue;
      const seen = Math.floor(arrivalOf(column, onset, time, chance) * pollsPerDay);
      if (seen < bounced.length) bounced[seen] = (bounced[seen] ?? 0) + 1;
      if (time >= onset) lost[poll] = (lost[poll] ?? 0) + 1;
    }
  }
  return { onset, sent, bounced, lost };
}
