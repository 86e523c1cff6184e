// Agenda of an account: what is polled next, and when. Schedules, answers, lists and people put polls into its queue.

import { judgedRoutes, type MailboxRoute, mailboxRoutes, type Poll, pollKey } from '../api/poll/poll.ts';
import type { PollQueue } from '../api/poll/queue.ts';
import { riskOf } from '../api/poll/risk.ts';
import { type Alert, fingerprintOf, isToBeSeenAgain } from '../core/alert.ts';
import { alertRules, ruleBook } from '../core/alert-rules.ts';
import { type MeasuredRoute, measuredRoutes, type Route, type StaleMeasurement } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { domainOf, type MailboxState } from '../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs } from '../core/time.ts';
import { turnEveryMs } from '../core/write-scope.ts';
import type { Schedule } from '../world/schedule.ts';
import { type Clock, nextTurn, type World } from '../world/world.ts';
import { isUnjudged, readAt } from './first-sweep.ts';
import type { GuardedAccount } from './record/guarded-account.ts';
import type { RosterChanges } from './record/roster.ts';

// Cadence: asks the schedules, at each of their steps, which kinds of answers have become due.

/** Number of due polls without an answer after which each kind of answer is stale. */
const staleRuns = { stats: 3, warmup: 3, dns: 4, blacklist: 4 } as const;
type Staling = keyof typeof staleRuns;
const stalingRoutes = Object.keys(staleRuns) as readonly Staling[];

export class Cadence {
  readonly #schedules: Readonly<Record<Route, Schedule>>;
  readonly #clock: Clock;
  /** Due times of the last polls since the start, oldest first. */
  readonly #runs: Record<Staling, readonly EpochMs[]> = { stats: [], warmup: [], dns: [], blacklist: [] };
  #seenAt: EpochMs = Number.NEGATIVE_INFINITY;

  constructor(schedules: Readonly<Record<Route, Schedule>>, clock: Clock) {
    this.#schedules = schedules;
    this.#clock = clock;
  }

  get statsWereDue(): boolean {
    return this.#runs.stats.length > 0;
  }

  /** Returns the time before which answers are stale, or -Infinity if too few polls were due since the start. */
  staleFrom(route: Staling): EpochMs {
    this.#now();
    return this.#runs[route].at(-staleRuns[route]) ?? Number.NEGATIVE_INFINITY;
  }

  /** Reports the routes that have become due until the signal aborts. Each turn of the loop calls `turned`. */
  async keep(due: (routes: readonly Route[]) => void, signal: AbortSignal, turned: () => void): Promise<void> {
    const routes = Object.keys(this.#schedules) as Route[];
    const stepMs = Math.min(...Object.values(this.#schedules).map((schedule) => schedule.stepMs));
    let asked = this.#now();
    while (!signal.aborted) {
      turned();
      await this.#clock.sleep(Math.min(stepMs - (this.#clock.now() % stepMs), turnEveryMs), signal);
      const now = this.#now();
      if (Math.floor(now / stepMs) === Math.floor(asked / stepMs)) continue;
      // The same minute begins for all accounts of a daemon.
      await this.#clock.busy(() => nextTurn());
      const ran = routes.filter((route) => this.#schedules[route].dueBetween(asked, now));
      for (const route of stalingRoutes)
        if (ran.includes(route)) this.#runs[route] = [...this.#runs[route], now].slice(-staleRuns[route]);
      due(ran);
      asked = now;
    }
  }

  /** If the clock was set back, future due times become a minute ago: any new answer would otherwise seem older. */
  #now(): EpochMs {
    const now = this.#clock.now();
    if (now < this.#seenAt)
      for (const route of stalingRoutes)
        this.#runs[route] = this.#runs[route].map((at) => Math.min(at, now - minuteMs));
    this.#seenAt = now;
    return now;
  }
}

// Staleness of an account's data, by polls that were due in vain and by the time that the budget needs for a round.

interface StalenessParts {
  readonly clock: Clock;
  readonly cadence: Cadence;
  readonly mailboxes: () => number;
  readonly pacePerMinute: () => number;
  readonly gapMs: (route: MeasuredRoute) => number;
}

/** Minimum age of a stale measurement. Fresh ones are requested at most hourly: a younger one may be waiting. */
const leastStaleMs = 2 * hourMs;

export class Staleness {
  readonly #parts: StalenessParts;
  readonly #startedAt: number;

  constructor(parts: StalenessParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.monotonic();
  }

  /** Answers are stale when three polls were due since then, and the budget had time for three rounds. */
  before(route: 'stats' | 'warmup'): EpochMs {
    const { cadence, clock } = this.#parts;
    return Math.min(cadence.staleFrom(route), clock.now() - staleRuns[route] * this.#roundMs(judgedRoutes.length));
  }

  /** Returns the age at which a measurement is stale, and the time since when no poll was answered. */
  measurement(route: MeasuredRoute): StaleMeasurement {
    const { cadence, clock, gapMs } = this.#parts;
    const runs = staleRuns[route];
    const unreadSince = Math.min(cadence.staleFrom(route), clock.now() - runs * this.#roundMs(mailboxRoutes.length));
    return { olderThanMs: Math.max(runs * gapMs(route), leastStaleMs), unreadSince };
  }

  /** Returns true if statistics were due since the start, and the budget had time for a round. */
  seenAgain(): boolean {
    const { cadence, clock } = this.#parts;
    return cadence.statsWereDue && clock.monotonic() - this.#startedAt > this.#roundMs(judgedRoutes.length);
  }

  /** Returns the time that one round of this many kinds of answers takes, at least a minute. */
  #roundMs(kinds: number): number {
    const { mailboxes, pacePerMinute } = this.#parts;
    return Math.max(minuteMs, (kinds * mailboxes() * minuteMs) / pacePerMinute());
  }
}

// Second looks: alerts that wait for a second observation.

/** Lookup is by fingerprint: in a storm an account has as many alerts as mailboxes, and each answer asks. */
function alertsShownBy(mailbox: MailboxState, route: Route, fleet: Pick<Fleet, 'alert'>): readonly Alert[] {
  const rules = alertRules.filter((rule) => ruleBook[rule].seenTwiceBy?.includes(route));
  if (rules.length === 0) return [];
  const { account, id, email, dns, blacklist } = mailbox;
  const causes = route === 'mailbox' ? ['connection', 'status'] : [route];
  const objects = [dns?.answer.domain, domainOf(email), blacklist?.answer.ip].filter((one) => typeof one === 'string');
  const abouts = [
    ...causes.map((object) => ({ mailboxId: id, object })),
    ...objects.map((object) => ({ mailboxId: null, object })),
  ];
  return rules.flatMap((rule) =>
    abouts.flatMap((about) => fleet.alert(fingerprintOf({ rule, account, email: null, ...about })) ?? []),
  );
}

// Fresh measurements: the API measures DNS and blacklists now, instead of answering from its cache (refresh=true).

/** Minimum interval of fresh measurements of one mailbox and kind. Each costs the API lookups. */
const atMostEveryMs = hourMs;

export class FreshMeasurements {
  readonly #account: string;
  readonly #fleet: Fleet;
  /** Measurements that a person wants, by pollKey. */
  readonly #wanted = new Set<string>();
  /** Times of the last fresh measurements on the monotonic clock, by pollKey. */
  readonly #askedAt = new Map<string, number>();

  constructor(account: string, fleet: Fleet) {
    this.#account = account;
    this.#fleet = fleet;
  }

  want(mailboxId: string): void {
    for (const route of measuredRoutes) this.#wanted.add(pollKey({ route, mailboxId }));
  }

  isWanted(poll: Poll): boolean {
    return this.#wanted.has(pollKey(poll));
  }

  /** Returns the earliest time, on the monotonic clock, at which the poll may request a fresh measurement. */
  mayAskFrom(poll: Poll): number {
    return (this.#askedAt.get(pollKey(poll)) ?? Number.NEGATIVE_INFINITY) + atMostEveryMs;
  }

  leave(mailboxId: string): void {
    for (const route of measuredRoutes) {
      this.#wanted.delete(pollKey({ route, mailboxId }));
      this.#askedAt.delete(pollKey({ route, mailboxId }));
    }
  }

  /** Returns true, and records the request, if a person wants a fresh measurement or it may decide an alert. */
  take(poll: Poll, now: number): boolean {
    const key = pollKey(poll);
    const mailbox = this.#fleet.mailbox(this.#account, poll.mailboxId ?? '');
    if (!mailbox || now < this.mayAskFrom(poll)) return false;
    const wanted = this.#wanted.delete(key);
    // The next answer may fire or resolve an alert.
    if (!wanted && alertsShownBy(mailbox, poll.route, this.#fleet).length === 0) return false;
    this.#askedAt.set(key, now);
    return true;
  }
}

const secondLookAfterMs = minuteMs;

interface AgendaParts {
  readonly world: World;
  readonly fleet: Fleet;
  readonly queue: PollQueue;
  readonly fresh: FreshMeasurements;
  readonly policyFor: GuardedAccount['policyFor'];
}

export class Agenda {
  readonly #parts: AgendaParts;

  constructor(parts: AgendaParts) {
    this.#parts = parts;
  }

  /** Queues unjudged mailboxes first. Others wait for the cadence, or come soon if an alert needs a second look. */
  join(mailboxes: readonly MailboxState[]): void {
    const { queue, world } = this.#parts;
    const now = world.clock.monotonic();
    const aheadMs = now - world.clock.now();
    const [unjudged, judged] = [mailboxes.filter(isUnjudged), mailboxes.filter((one) => !isUnjudged(one))];
    for (const mailbox of [...unjudged, ...judged]) {
      const lastRead = mailboxRoutes.flatMap((route) => {
        const at = readAt(mailbox, route);
        return at === null ? [] : [[route, at + aheadMs] as const];
      });
      queue.join(mailbox.id, Object.fromEntries(lastRead), now);
      for (const route of mailboxRoutes) if (this.#isAwaited(mailbox, route)) this.#lookAgain(mailbox, route, now);
      this.#weigh(mailbox);
    }
  }

  leave(mailboxes: readonly MailboxState[]): void {
    for (const { id } of mailboxes) this.#parts.queue.leave(id);
  }

  stir(stirred: RosterChanges['stirred']): void {
    const { queue, world } = this.#parts;
    const now = world.clock.monotonic();
    for (const { id, routes } of stirred) for (const route of routes) queue.add({ route, mailboxId: id }, now, 'soon');
  }

  /** Updates the queue after an answer about a mailbox: its risk may have changed, or it needs a second look. */
  answered(mailbox: MailboxState, route: MailboxRoute): void {
    const { fresh, queue, world } = this.#parts;
    const { id: mailboxId } = mailbox;
    this.#weigh(mailbox);
    const now = world.clock.monotonic();
    const poll = { route, mailboxId };
    if (fresh.isWanted(poll)) queue.add(poll, fresh.mayAskFrom(poll));
    if (mailbox.verdict?.answer.reason === 'first_sight')
      queue.add({ route: 'stats', mailboxId }, now + secondLookAfterMs);
    if (this.#isAwaited(mailbox, route)) this.#lookAgain(mailbox, route, now);
  }

  /** Returns true if an alert waits for another answer of that route about the mailbox, its domain or its IP address. */
  #isAwaited(mailbox: MailboxState, route: Route): boolean {
    return alertsShownBy(mailbox, route, this.#parts.fleet).some(isToBeSeenAgain);
  }

  /** Queues a second look when a fresh measurement is allowed: an earlier look would show the same one. */
  #lookAgain({ id: mailboxId }: MailboxState, route: MailboxRoute, now: number): void {
    const { fresh, queue } = this.#parts;
    const poll = { route, mailboxId };
    queue.add(poll, Math.max(now + secondLookAfterMs, fresh.mayAskFrom(poll)), 'soon');
  }

  ask(mailboxId: string, routes: readonly MailboxRoute[]): void {
    const now = this.#parts.world.clock.monotonic();
    for (const route of routes) this.#parts.queue.add({ route, mailboxId }, now);
  }

  #weigh(mailbox: MailboxState): void {
    const { policyFor, queue, world } = this.#parts;
    const risk = riskOf(mailbox, policyFor(mailbox).minBounces, world.clock.now());
    if (risk) queue.weigh(mailbox.id, risk);
  }
}
