// Agenda of an account: what is polled next, and when. Schedules, answers, lists and people put polls into its queue.

import type { Failure } from '../api/http/failure.ts';
import { judgedRoutes, type MailboxRoute, mailboxRoutes, type Poll, pollKey } from '../api/poll/poll.ts';
import type { PollQueue } from '../api/poll/queue.ts';
import { riskOf } from '../api/poll/risk.ts';
import { type Alert, fingerprintOf, isToBeSeenAgain } from '../core/alert.ts';
import { alertRules, ruleBook } from '../core/alert-rules.ts';
import { type MeasuredRoute, measuredRoutes, type Route, routes, type StaleMeasurement } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { domainOf, type MailboxState } from '../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs, secondMs } from '../core/time.ts';
import type { Schedule } from '../world/schedule.ts';
import type { Clock, World } from '../world/world.ts';
import { isUnjudged, readAt } from './first-sweep.ts';
import type { GuardedAccount } from './record/guarded-account.ts';
import type { RosterChanges } from './record/roster.ts';

// Cadence: the kinds of answers that become due by their schedules, and the age at which answers are stale, by polls
// that were due in vain and by the time that the budget needs for a round.

/** Number of due polls without an answer after which each kind of answer is stale. */
const staleRuns = { stats: 3, warmup: 3, dns: 4, blacklist: 4 } as const;
type Staling = keyof typeof staleRuns;
const stalingRoutes = Object.keys(staleRuns) as readonly Staling[];
/** Minimum age of a stale measurement. Fresh ones are requested at most hourly: a younger one may be waiting. */
const leastStaleMs = 2 * hourMs;

interface CadenceParts {
  readonly schedules: Readonly<Record<Route, Schedule>>;
  readonly clock: Clock;
  readonly mailboxes: () => number;
  readonly pacePerMinute: () => number;
}

export class Cadence {
  readonly #parts: CadenceParts;
  /** Due times of the last polls since the start, oldest first. */
  readonly #runs: Record<Staling, readonly EpochMs[]> = { stats: [], warmup: [], dns: [], blacklist: [] };
  readonly #stepMs: number;
  readonly #startedAt: number;
  #seenAt: EpochMs;
  #askedAt: EpochMs;

  constructor(parts: CadenceParts) {
    this.#parts = parts;
    this.#stepMs = Math.min(...Object.values(parts.schedules).map(({ stepMs }) => stepMs));
    this.#startedAt = parts.clock.monotonic();
    this.#seenAt = parts.clock.now();
    this.#askedAt = this.#seenAt;
  }

  /** Returns the time until a kind of answer may become due, milliseconds. */
  get stepEndsInMs(): number {
    return this.#stepMs - (this.#parts.clock.now() % this.#stepMs);
  }

  /** Returns the routes that have become due since the last call. */
  due(): readonly Route[] {
    const now = this.#now();
    const askedAt = this.#askedAt;
    if (Math.floor(now / this.#stepMs) === Math.floor(askedAt / this.#stepMs)) return [];
    this.#askedAt = now;
    const due = routes.filter((route) => this.#parts.schedules[route].dueBetween(askedAt, now));
    for (const route of stalingRoutes)
      if (due.includes(route)) this.#runs[route] = [...this.#runs[route], now].slice(-staleRuns[route]);
    return due;
  }

  /** Answers are stale when three polls were due since then, and the budget had time for three rounds. */
  staleBefore(route: 'stats' | 'warmup'): EpochMs {
    return this.#unreadSince(route, judgedRoutes.length);
  }

  /** Returns the age at which a measurement is stale, and the time since when no poll was answered. */
  staleMeasurement(route: MeasuredRoute): StaleMeasurement {
    const { clock, schedules } = this.#parts;
    const olderThanMs = Math.max(staleRuns[route] * schedules[route].gaps(clock.now()).longestMs, leastStaleMs);
    return { olderThanMs, unreadSince: this.#unreadSince(route, mailboxRoutes.length) };
  }

  /** Returns true if statistics were due since the start, and the budget had time for a round. */
  seenAgain(): boolean {
    const sinceStartMs = this.#parts.clock.monotonic() - this.#startedAt;
    return this.#runs.stats.length > 0 && sinceStartMs > this.#roundMs(judgedRoutes.length);
  }

  /** Returns the time before which answers are stale, or -Infinity if too few polls were due since the start. */
  #unreadSince(route: Staling, kinds: number): EpochMs {
    const roundsMs = staleRuns[route] * this.#roundMs(kinds);
    const now = this.#now();
    return Math.min(this.#runs[route].at(-staleRuns[route]) ?? Number.NEGATIVE_INFINITY, now - roundsMs);
  }

  /** Returns the time that one round of this many kinds of answers takes, at least a minute. */
  #roundMs(kinds: number): number {
    const { mailboxes, pacePerMinute } = this.#parts;
    return Math.max(minuteMs, (kinds * mailboxes() * minuteMs) / pacePerMinute());
  }

  /** If the clock was set back, future due times become a minute ago: any new answer would otherwise seem older. */
  #now(): EpochMs {
    const now = this.#parts.clock.now();
    if (now < this.#seenAt)
      for (const route of stalingRoutes)
        this.#runs[route] = this.#runs[route].map((at) => Math.min(at, now - minuteMs));
    this.#seenAt = now;
    return now;
  }
}

// Second looks: alerts that wait for a second observation.

/** Alerts about the mailbox, and about the domain or the IP address that it shares with others. */
function alertsShownBy(mailbox: MailboxState, route: Route, fleet: Fleet): readonly Alert[] {
  const rules = alertRules.filter((rule) => ruleBook[rule].seenTwiceBy?.includes(route));
  const { account, email, dns, blacklist } = mailbox;
  const objects = [dns?.answer.domain, domainOf(email), blacklist?.answer.ip].filter((one) => typeof one === 'string');
  const shared = rules.flatMap((rule) =>
    objects.flatMap(
      (object) => fleet.alert(fingerprintOf({ rule, account, mailboxId: null, email: null, object })) ?? [],
    ),
  );
  return [...fleet.alertsAbout(mailbox).filter(({ rule }) => rules.includes(rule)), ...shared];
}

const secondLookAfterMs = minuteMs;
/**
 * Minimum interval of fresh measurements of one mailbox and kind, where the API measures DNS and blacklists now instead
 * of answering from its cache (refresh=true). Each costs the API lookups.
 */
const freshAtMostEveryMs = hourMs;

/** A failed poll is retried after a second, or what the API asked for, plus a random time below base x 2^failures, up to a cap. */
const retryBaseMs = 5 * secondMs;
const retryCapMs = 5 * minuteMs;
/** Cap for routes that are read a few times a day: one that fails for good costs at most one request an hour. */
const rareRetryCapMs = hourMs;
const rareRoutes: ReadonlySet<Poll['route']> = new Set(['mailbox', 'dns', 'blacklist']);

interface AgendaParts {
  readonly account: string;
  readonly world: World;
  readonly fleet: Fleet;
  readonly queue: PollQueue;
  readonly policyFor: GuardedAccount['policyFor'];
}

export class Agenda {
  readonly #parts: AgendaParts;
  /** Fresh measurements that a person wants, by pollKey. */
  readonly #wanted = new Set<string>();
  /** Times of the last fresh measurements on the monotonic clock, by pollKey. */
  readonly #freshAt = new Map<string, number>();
  /** Consecutive failures of polls, by pollKey. */
  readonly #failures = new Map<string, number>();

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
    for (const { id: mailboxId } of mailboxes) {
      this.#parts.queue.leave(mailboxId);
      for (const route of mailboxRoutes)
        for (const known of [this.#wanted, this.#freshAt, this.#failures]) known.delete(pollKey({ route, mailboxId }));
    }
  }

  stir(stirred: RosterChanges['stirred']): void {
    const { queue, world } = this.#parts;
    const now = world.clock.monotonic();
    for (const { id, routes } of stirred) for (const route of routes) queue.add({ route, mailboxId: id }, now, 'soon');
  }

  /** Updates the queue after an answer about a mailbox: its risk may have changed, or it needs a second look. */
  answered(mailbox: MailboxState, route: MailboxRoute): void {
    const { queue, world } = this.#parts;
    const { id: mailboxId } = mailbox;
    this.#weigh(mailbox);
    const now = world.clock.monotonic();
    const poll = { route, mailboxId };
    if (this.#wanted.has(pollKey(poll))) queue.add(poll, this.#mayBeFreshFrom(poll));
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
    const poll = { route, mailboxId };
    this.#parts.queue.add(poll, Math.max(now + secondLookAfterMs, this.#mayBeFreshFrom(poll)), 'soon');
  }

  /** Queues all polls of a mailbox. Returns the times of measurements that wait because one was made recently. */
  refresh(mailboxId: string): readonly { readonly route: MeasuredRoute; readonly at: EpochMs }[] {
    const { clock } = this.#parts.world;
    this.ask(mailboxId, mailboxRoutes);
    return measuredRoutes.flatMap((route) => {
      this.#wanted.add(pollKey({ route, mailboxId }));
      const waitMs = this.#mayBeFreshFrom({ route, mailboxId }) - clock.monotonic();
      return waitMs > 0 ? [{ route, at: clock.now() + waitMs }] : [];
    });
  }

  /** Returns the earliest time, on the monotonic clock, at which the poll may request a fresh measurement. */
  #mayBeFreshFrom(poll: Poll): number {
    return (this.#freshAt.get(pollKey(poll)) ?? Number.NEGATIVE_INFINITY) + freshAtMostEveryMs;
  }

  /** Returns true, and records the request, if a person wants a fresh measurement or it may decide an alert. */
  takeFresh(poll: Poll): boolean {
    const { account, fleet, world } = this.#parts;
    const key = pollKey(poll);
    const now = world.clock.monotonic();
    const mailbox = fleet.mailbox(account, poll.mailboxId ?? '');
    if (!mailbox || now < this.#mayBeFreshFrom(poll)) return false;
    const isWanted = this.#wanted.delete(key);
    // The next answer may fire or resolve an alert.
    if (!isWanted && alertsShownBy(mailbox, poll.route, fleet).length === 0) return false;
    this.#freshAt.set(key, now);
    return true;
  }

  ask(mailboxId: string, routes: readonly MailboxRoute[]): void {
    const now = this.#parts.world.clock.monotonic();
    for (const route of routes) this.#parts.queue.add({ route, mailboxId }, now);
  }

  succeeded(poll: Poll): void {
    this.#failures.delete(pollKey(poll));
  }

  failed(poll: Poll, { kind, retryAfterMs }: Failure): void {
    const { queue, world } = this.#parts;
    // The list shows whether the mailbox is gone.
    if (kind === 'missing' && poll.mailboxId !== null) {
      queue.run('mailboxes', world.clock.monotonic());
      return;
    }
    const leastMs = kind === 'unavailable' ? (retryAfterMs ?? 0) : 0;
    // The next run of the schedule repeats a refusal. After a 429, the throttle holds the retry back.
    if (kind !== 'refused') this.#retry(poll, rareRoutes.has(poll.route) ? rareRetryCapMs : retryCapMs, leastMs);
  }

  /** Schedules a retry for an answer that could not be recorded. No decision rests on the answer before. */
  retryUnrecorded(poll: Poll): void {
    this.#retry(poll, retryCapMs);
  }

  /** `leastMs`: minimum wait that the API asked for. */
  #retry(poll: Poll, longestMs: number, leastMs = 0): void {
    const { clock, random } = this.#parts.world;
    const failures = (this.#failures.get(pollKey(poll)) ?? 0) + 1;
    this.#failures.set(pollKey(poll), failures);
    const cap = Math.min(retryBaseMs * 2 ** Math.min(failures, 20), longestMs);
    this.#parts.queue.add(poll, clock.monotonic() + Math.max(leastMs, secondMs) + random() * cap, 'usual');
  }

  #weigh(mailbox: MailboxState): void {
    const { policyFor, queue, world } = this.#parts;
    const risk = riskOf(mailbox, policyFor(mailbox).minBounces, world.clock.now());
    if (risk) queue.weigh(mailbox.id, risk);
  }
}
