// The two ways of asking: round robin of four endpoints, and the queue that the daemon uses, on the same fleet and slots.

import { demandOf } from '../../../src/api/poll/forecast.ts';
import { PollQueue } from '../../../src/api/poll/queue.ts';
import { armedBounces } from '../../../src/api/poll/risk.ts';
import type { Route } from '../../../src/core/answers.ts';
import { bouncesLeft, countsAt, type FleetMailbox, healthScore, isOver, weekMs } from './fleet.ts';

const minuteMs = 60_000;
/** Only warm-up and statistics are still to be read. */
const readAtStart = { mailbox: 0, dns: 0, blacklist: 0 };
const hourMs = 60 * minuteMs;
type Cadence = Readonly<Record<Route, number>>;

/** The cadences that are shipped, and how long after the hour or the quarter they run. */
export const shippedMs: Cadence = {
  health: minuteMs,
  mailboxes: minuteMs,
  stats: 15 * minuteMs,
  warmup: 30 * minuteMs,
  mailbox: 6 * hourMs,
  dns: 6 * hourMs,
  blacklist: 6 * hourMs,
};
/** Nearly all requests are for statistics, as the targets once assumed. */
export const othersDailyMs: Cadence = {
  ...shippedMs,
  warmup: 24 * hourMs,
  mailbox: 24 * hourMs,
  dns: 24 * hourMs,
  blacklist: 24 * hourMs,
};
const afterMs: Partial<Record<Route, number>> = {
  mailbox: 29 * minuteMs,
  dns: 17 * minuteMs,
  blacklist: 41 * minuteMs,
};
/** As shipped: the least time between two readings of a mailbox's statistics. */
const earlyMs = minuteMs;
/** The shipped headroom leaves 97 of 100. */
const allowedShare = 0.97;
/** As shipped: `poll.spare_share`. Round robin has no extra polls: it makes all that are allowed. */
const spareShare = 0.5;

/** Requests start so far apart. */
export function slotMsOf(requestsPerMinute: number): number {
  return minuteMs / (allowedShare * requestsPerMinute);
}

function spareOf(slotMs: number): number {
  return (spareShare * minuteMs) / (allowedShare * slotMs);
}

/** Stats, warm-up, DNS and blacklist of one mailbox after the other; how late each crossing is seen, milliseconds. */
export function roundRobin(fleet: readonly FleetMailbox[], slotMs: number): readonly number[] {
  const roundMs = fleet.length * 4 * slotMs;
  return fleet.flatMap(({ crossedAt }, index) => {
    if (crossedAt === Number.POSITIVE_INFINITY) return [];
    const first = index * 4 * slotMs;
    return [first + Math.ceil((crossedAt - first) / roundMs) * roundMs - crossedAt];
  });
}

/** The share of what is allowed that reads statistics while every kind has something to ask. */
export function statsShareOf(mailboxes: number, slotMs: number): number {
  const allowedPerMinute = minuteMs / slotMs;
  const sparePerMinute = spareOf(slotMs);
  const { turnMs } = demandOf({ mailboxes, allowedPerMinute, sparePerMinute, cadenceMs: shippedMs, early: true });
  return (mailboxes * minuteMs) / turnMs.stats / allowedPerMinute;
}

export interface Asking {
  readonly slotMs: number;
  /** The list shows the health score of each moment; otherwise it never changes. */
  readonly scoreMoves: boolean;
  readonly cadenceMs: Cadence;
}

/** How late the daemon's queue sees each crossing, milliseconds. */
export function ours(fleet: readonly FleetMailbox[], { slotMs, scoreMoves, cadenceMs }: Asking): readonly number[] {
  const [allowedPerMinute, sparePerMinute] = [() => minuteMs / slotMs, () => spareOf(slotMs)];
  const queue = new PollQueue({ cadenceMs, allowedPerMinute, sparePerMinute, earlyMs });
  for (const index of fleet.keys()) queue.join(String(index), readAtStart, 0);
  for (let swept = 0; swept < 2 * fleet.length; swept += 1) {
    const poll = queue.take(0);
    if (poll) queue.done(poll);
  }
  const weigh = (index: number, at: number) => {
    const mailbox = fleet[index];
    if (mailbox) queue.weigh(String(index), riskOf(mailbox, at));
  };
  for (const index of fleet.keys()) weigh(index, 0);
  const seenAt = new Map<number, number>();
  const listed = scoreMoves ? listOf(fleet) : () => [];
  let cronAt = 0;
  for (let now = slotMs; now < weekMs; now += slotMs) {
    for (; cronAt + minuteMs <= now; cronAt += minuteMs) {
      for (const route of Object.keys(cadenceMs) as Route[])
        if ((cronAt - (afterMs[route] ?? 0)) % cadenceMs[route] === 0) queue.run(route, cronAt);
    }
    const poll = queue.take(now);
    if (!poll) continue;
    queue.done(poll);
    if (poll.route === 'mailboxes') {
      for (const index of listed(now)) queue.add({ route: 'stats', mailboxId: String(index) }, now, 'soon');
    }
    if (poll.route !== 'stats') continue;
    const index = Number(poll.mailboxId);
    if ((fleet[index]?.crossedAt ?? Number.POSITIVE_INFINITY) <= now && !seenAt.has(index)) seenAt.set(index, now);
    weigh(index, now);
  }
  // What is not seen by the week's end counts as seen there.
  return fleet.flatMap(({ crossedAt }, index) =>
    crossedAt === Number.POSITIVE_INFINITY ? [] : [(seenAt.get(index) ?? weekMs) - crossedAt],
  );
}

function riskOf(mailbox: FleetMailbox, at: number) {
  const counts = countsAt(mailbox, at);
  const left = bouncesLeft(counts);
  // Once over the limit it was acted upon.
  const over = isOver(counts);
  return {
    sendsPerDay: over ? 0 : mailbox.dailyLimit,
    sendsLeftToday: over ? 0 : mailbox.dailyLimit - counts.sentToday,
    bouncesLeft: left === 0 ? armedBounces : left,
  };
}

/** Asked for the list at a moment: whose score fell since the last time. Only a bounce lowers it. */
function listOf(fleet: readonly FleetMailbox[]): (at: number) => readonly number[] {
  const bounces = fleet
    .flatMap((mailbox, index) => [...mailbox.bounces].map((at) => ({ at, index })))
    .toSorted((a, b) => a.at - b.at);
  let [next, last] = [0, 0];
  return (at) => {
    const touched = new Set<number>();
    for (let one = bounces[next]; one && one.at <= at; one = bounces[next]) {
      touched.add(one.index);
      next += 1;
    }
    const from = last;
    last = at;
    return [...touched].filter((index) => {
      const mailbox = fleet[index];
      return mailbox && healthScore(countsAt(mailbox, at)) < healthScore(countsAt(mailbox, from));
    });
  };
}
