// Chooses the next poll of an account when the budget has a slot. docs/decisions/0006.
import { type Route, routes } from '../../core/answers.ts';
import type { SweepPart } from '../../core/mailbox.ts';
import { minuteMs } from '../../core/time.ts';
import { type Demand, demandOf } from './forecast.ts';
import {
  AccountPolls,
  type AccountRoute,
  accountRoutes,
  betweenAccountPolls,
  EarlyLists,
  type LastRead,
  Later,
  type MailboxRoute,
  mailboxRoutes,
  type Poll,
  type PollUrgency,
  pollKey,
  type WaitingPoll,
} from './poll.ts';
import { mayCrossToday, type Risk, RiskOrder, TurnOrder, weightOf } from './risk.ts';
import { judgedRoutes, partOf, Sweep, type SweepPoll } from './sweep.ts';

export interface QueueOptions {
  /** Gaps between the runs of each kind, milliseconds. */
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** Requests a minute that the budget allows at present. */
  readonly allowedPerMinute: () => number;
  /**
   * Allowed requests a minute at that moment beyond the needs of the cadence; 0 switches early reads off. Default: all.
   */
  readonly sparePerMinute?: (now: number) => number;
  /** Earliest start of a request of that kind, by the kind's own limits alone. Default: at any time. */
  readonly opensAt?: (route: Route) => number;
  /** Minimum age of statistics before a spare request reads them again, milliseconds; 0 switches early reads off. */
  readonly earlyMs: number;
}

/** Maximum number of polls in a row for one reason. The next goes to a lower reason, so that none starves. */
const sameInARow = 7;
/** Number of top reasons whose polls go as fast as the budget allows. */
const pressingReasons = 2;
/** Number of runs of a kind that are kept, to know the due time of the oldest poll. */
const runsKept = 100;

/**
 * Order of polls: health and the list; urgent polls (the second look of a breach); the first reading of warm-up and
 * statistics, mailbox by mailbox; polls that are wanted soon (a drop in the list); due polls of the cadence, each kind
 * with its fair share, statistics by risk, in turns with other kinds that were never read; and with spare requests the
 * list and statistics early. Urgent polls and the first reading go as fast as the budget allows, the rest at the pace
 * of the demand. A poll that is in flight or due already is not added again. Times are milliseconds of the monotonic
 * clock.
 */
export class PollQueue {
  readonly #options: QueueOptions;
  readonly #mailboxes = new Set<string>();
  /** Kinds that were never read and are not in flight. */
  readonly #sweep = new Sweep();
  /**
   * Mailboxes by the time of their last poll. A mailbox is due if that was before the kind's last run. Mailboxes of the
   * sweep are not in it.
   */
  readonly #turns = Object.fromEntries(mailboxRoutes.map((route) => [route, new TurnOrder()])) as Readonly<
    Record<MailboxRoute, TurnOrder>
  >;
  /** Last runs of each kind, oldest first. */
  readonly #runs = Object.fromEntries(mailboxRoutes.map((route): [MailboxRoute, number[]] => [route, []])) as Record<
    MailboxRoute,
    number[]
  >;
  /** Polls of each kind so far, in units of its fair share. */
  readonly #given = Object.fromEntries(mailboxRoutes.map((route) => [route, 0])) as Record<MailboxRoute, number>;
  readonly #account = new AccountPolls();
  readonly #later = new Later();
  /** Waiting polls by pollKey, in order of arrival. */
  readonly #waiting: Readonly<Record<Exclude<PollUrgency, 'usual'>, Map<string, WaitingPoll>>> = {
    urgent: new Map(),
    soon: new Map(),
  };
  /** Start of each poll in flight, by pollKey. */
  readonly #underWay = new Map<string, number>();
  readonly #risks: RiskOrder;
  readonly #earlyLists = new EarlyLists();
  #sparePerMinute = Number.POSITIVE_INFINITY;
  /** Pace of polls without a pressing reason. */
  readonly #pace = new Pace();
  /** True if all mailboxes of the account's first list were read for the first time. */
  #isSwept = false;
  /** Reasons for a poll of a mailbox, best first. */
  readonly #reasons: readonly ((now: number) => Poll | undefined)[] = [
    (now) => this.#takeWaiting('urgent', now),
    (now) => this.#takeSweep('judging', now),
    (now) => this.#takeWaiting('soon', now),
    (now) => this.#takeDue(now),
  ];
  /** Reason of the last poll, and the number of polls in a row for it. */
  #row = { reason: 0, length: 0 };
  #isDetailsTurn = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#risks = new RiskOrder(options.earlyMs);
  }

  /** Returns the demand of the present cadence on the present budget. */
  demand(): Demand {
    return demandOf({
      mailboxes: this.#mailboxes.size,
      allowedPerMinute: this.#options.allowedPerMinute(),
      sparePerMinute: this.#sparePerMinute,
      cadenceMs: this.#options.cadenceMs,
      early: this.#readsEarly,
    });
  }

  /**
   * Adds a mailbox of the account. Its warm-up and statistics are read before it is judged, whenever they were last
   * read.
   */
  join(mailboxId: string, lastRead: LastRead, now: number): void {
    if (this.#mailboxes.has(mailboxId)) return;
    this.#mailboxes.add(mailboxId);
    const details = mailboxRoutes.filter((route) => partOf(route) === 'details');
    for (const route of details) {
      const readAt = lastRead[route];
      if (readAt !== undefined) this.#turns[route].set(mailboxId, Math.min(readAt, now));
    }
    this.#sweep.join(mailboxId, [...judgedRoutes, ...details.filter((route) => lastRead[route] === undefined)], now);
    this.#risks.weigh(mailboxId, 0, false);
  }

  /** Removes a mailbox with all its polls. */
  leave(mailboxId: string): void {
    if (!this.#mailboxes.delete(mailboxId)) return;
    this.#risks.leave(mailboxId);
    this.#sweep.leave(mailboxId);
    for (const route of mailboxRoutes) {
      this.#turns[route].delete(mailboxId);
      for (const waiting of Object.values(this.#waiting)) waiting.delete(pollKey({ route, mailboxId }));
      this.#later.delete({ route, mailboxId });
    }
  }

  /** Updates the risk of a mailbox after its last answers. */
  weigh(mailboxId: string, risk: Risk): void {
    if (this.#mailboxes.has(mailboxId)) this.#risks.weigh(mailboxId, weightOf(risk), !mayCrossToday(risk));
  }

  /** Makes a kind due by its schedule, for every mailbox that was not polled since. */
  run(route: Route, now: number): void {
    if (route === 'health' || route === 'mailboxes') this.#account.run(route, now, this.demand().accountSpacingMs);
    else this.#runs[route] = [...this.#runs[route], now].slice(-runsKept);
  }

  /** Adds a poll at a due time, regardless of the cadence. urgent: a person or a breach waits for it. */
  add(poll: Poll, dueAt: number, urgency: Exclude<PollUrgency, 'usual'> = 'urgent'): void {
    if (poll.route === 'health' || poll.route === 'mailboxes') this.#account.add(poll.route, dueAt);
    else this.#later.add(poll, dueAt, urgency);
  }

  /** Makes a failed poll due again at that time, in its usual place. */
  retry(poll: Poll, dueAt: number): void {
    if (poll.mailboxId === null) this.add(poll, dueAt);
    else this.#later.add(poll, dueAt, 'usual');
  }

  /** Returns the poll to make now and marks it as in flight, or returns undefined if there is none. */
  take(now: number, accountOnly = false): Poll | undefined {
    this.#sparePerMinute = this.#options.sparePerMinute?.(now) ?? Number.POSITIVE_INFINITY;
    this.#ripen(now);
    const inPace = now >= this.#pace.nextAt;
    const account = (between: number) => (inPace ? this.#takeAccount(now, between) : undefined);
    const poll = accountOnly
      ? account(0)
      : (account(betweenAccountPolls) ?? this.#takeMailbox(now, inPace) ?? account(0));
    if (!poll) return undefined;
    this.#underWay.set(pollKey(poll), now);
    const { pacePerMinute } = this.demand();
    // The budget spaces the polls that go as fast as it allows.
    if (inPace && pacePerMinute < this.#options.allowedPerMinute()) this.#pace.made(now, pacePerMinute);
    return poll;
  }

  /** Ends a poll that was answered or failed. */
  done(poll: Poll): void {
    const key = pollKey(poll);
    const startedAt = this.#underWay.get(key);
    this.#underWay.delete(key);
    const id = this.#idOf(poll);
    if (startedAt === undefined || id === null) return;
    this.#turns[poll.route as MailboxRoute].set(id, startedAt);
    if (poll.route === 'stats' && this.#options.earlyMs > 0) this.#risks.served(id, startedAt);
  }

  /** Counts the bytes of an answer to a poll of this kind. */
  received(route: Route | 'warmup_write', bytes: number): void {
    this.#earlyLists.received(route, bytes);
  }

  /** Records a list. `stirred`: it gave a reason to read a mailbox soon. */
  listed(stirred: boolean): void {
    this.#earlyLists.listed(stirred);
  }

  /** Returns the time at which the next poll may be available, or null if none is foreseen. */
  nextDueAt(now: number): number | null {
    const times = accountRoutes.map((route) => (this.#isUnderWay(route) ? null : this.#account.dueAt(route)));
    times.push(this.#later.nextAt(), this.#listEarlyAt(now), this.#risks.nextRestedAt(), this.#pace.nextAt);
    times.push(...routes.map((route) => this.#opensAt(route)));
    const known = times.filter((time) => time !== null && time > now);
    return known.length === 0 ? null : Math.min(...known.map((time) => time ?? now));
  }

  /** Returns the number of due polls and the due time of the oldest. Walks all mailboxes. */
  backlog(now: number): { readonly length: number; readonly oldestDueAt: number | null } {
    let [length, oldestDueAt] = [0, Number.POSITIVE_INFINITY];
    const add = (polls: number, dueAt: number | null) => {
      if (polls === 0 || dueAt === null || dueAt > now) return;
      length += polls;
      oldestDueAt = Math.min(oldestDueAt, dueAt);
    };
    for (const route of accountRoutes) add(1, this.#account.dueAt(route));
    for (const waiting of Object.values(this.#waiting)) for (const { dueAt } of waiting.values()) add(1, dueAt);
    add(this.#sweep.polls, this.#sweep.since);
    for (const route of mailboxRoutes) {
      const [turns, runs] = [this.#turns[route], this.#runs[route]];
      const oldest = turns.keyOf(turns.first() ?? '') ?? now;
      add(turns.countBelow(runs.at(-1) ?? 0), runs.find((run) => run > oldest) ?? now);
    }
    return { length, oldestDueAt: length === 0 ? null : oldestDueAt };
  }

  #ripen(now: number): void {
    for (let ripe = this.#later.take(now); ripe; ripe = this.#later.take(now)) {
      const { poll, dueAt, urgency } = ripe;
      const id = this.#idOf(poll);
      if (id === null) continue;
      const route = poll.route as MailboxRoute;
      if (urgency === 'urgent') this.#waiting.urgent.set(pollKey(poll), { poll, dueAt });
      // A poll that the sweep has yet to make is not added. A poll that failed in the sweep has no other place yet.
      else if (this.#sweep.hasten(id, route)) continue;
      else if (urgency === 'soon' || !this.#isSwept) this.#waiting.soon.set(pollKey(poll), { poll, dueAt });
      else if (!this.#underWay.has(pollKey(poll))) this.#putBack(route, id, now);
    }
  }

  /** Moves a mailbox just before the last run: due, and behind mailboxes that have waited longer. */
  #putBack(route: MailboxRoute, id: string, now: number): void {
    const turns = this.#turns[route];
    turns.set(id, Math.min(turns.keyOf(id) ?? now, (this.#runs[route].at(-1) ?? 0) - 1));
  }

  /** Takes a poll of the account. `between`: minimum number of mailbox polls since the last poll of that kind. */
  #takeAccount(now: number, between: number): Poll | undefined {
    const isFree = (one: AccountRoute) =>
      this.#account.isSpaced(one, between) && !this.#isUnderWay(one) && this.#isOpen(one, now);
    const isDue = (dueAt: number | null) => dueAt !== null && dueAt <= now;
    const due = accountRoutes.find((one) => isDue(this.#account.dueAt(one)) && isFree(one));
    const route = due ?? (isFree('mailboxes') && isDue(this.#listEarlyAt(now)) ? 'mailboxes' : undefined);
    if (!route) return undefined;
    this.#account.taken(route, now);
    return { route, mailboxId: null };
  }

  /**
   * Takes a poll of a mailbox for the best reason. After many polls for one reason in a row, a lower reason has its
   * turn.
   */
  #takeMailbox(now: number, inPace: boolean): Poll | undefined {
    const { reason: last, length } = this.#row;
    const count = inPace ? this.#reasons.length : pressingReasons;
    const first = length >= sameInARow ? last + 1 : 0;
    for (let step = 0; step < count; step += 1) {
      const reason = (first + step) % count;
      const poll = this.#reasons[reason]?.(now);
      if (!poll) continue;
      this.#row = { reason, length: reason === last ? length + 1 : 1 };
      return poll;
    }
    return undefined;
  }

  #takeWaiting(urgency: Exclude<PollUrgency, 'usual'>, now: number): Poll | undefined {
    const waiting = this.#waiting[urgency];
    for (const [key, { poll }] of waiting) {
      if (this.#underWay.has(key) || !this.#isOpen(poll.route, now)) continue;
      waiting.delete(key);
      const id = this.#idOf(poll);
      if (id !== null) return this.#takeOf(poll.route as MailboxRoute, id);
    }
    return undefined;
  }

  #takeSweep(part: SweepPart, now: number): Poll | undefined {
    const next = this.#nextOfSweep(part, now);
    return next ? this.#takeOf(next.route, next.mailboxId) : undefined;
  }

  #nextOfSweep(part: SweepPart, now: number): SweepPoll | null {
    return this.#sweep.next(part, (route) => this.#isOpen(route, now));
  }

  /** True if no permitted kind is left to be read for the first time. */
  #isAllRead(now: number): boolean {
    return (this.#nextOfSweep('judging', now) ?? this.#nextOfSweep('details', now)) === null;
  }

  /**
   * Takes due polls of the cadence in turns with details that were never read. Waits until the fleet was judged for the
   * first time. There are no early reads while anything was never read.
   */
  #takeDue(now: number): Poll | undefined {
    if (!this.#isSwept && this.#nextOfSweep('judging', now)) return undefined;
    const due = this.#dueRoutes(now);
    const detail = this.#isDetailsTurn || due.length === 0 ? this.#takeSweep('details', now) : undefined;
    this.#isDetailsTurn = !detail;
    if (detail) return detail;
    const byRisk = this.#byRisk(now);
    const early = byRisk !== null && !due.includes('stats') && this.#isOpen('stats', now) && this.#isAllRead(now);
    return this.#takeByShare(early ? ['stats', ...due] : due, byRisk);
  }

  #firstKey(route: MailboxRoute): number {
    const turns = this.#turns[route];
    const first = turns.first();
    return (first === null ? null : turns.keyOf(first)) ?? Number.POSITIVE_INFINITY;
  }

  #dueRoutes(now: number): MailboxRoute[] {
    const isDue = (route: MailboxRoute) => this.#firstKey(route) < (this.#runs[route].at(-1) ?? 0);
    return mailboxRoutes.filter((route) => isDue(route) && this.#isOpen(route, now));
  }

  #opensAt(route: Route): number {
    return this.#options.opensAt?.(route) ?? Number.NEGATIVE_INFINITY;
  }

  #isOpen(route: Route, now: number): boolean {
    return this.#opensAt(route) <= now;
  }

  get #readsEarly(): boolean {
    return this.#options.earlyMs > 0 && this.#sparePerMinute > 0;
  }

  /**
   * Takes the kind that is furthest behind its share. A kind without due polls has no claim to the turns that it
   * missed.
   */
  #takeByShare(routes: readonly MailboxRoute[], byRisk: string | null): Poll | undefined {
    let [first] = routes;
    if (!first) return undefined;
    for (const route of routes) if (this.#given[route] < this.#given[first]) first = route;
    const level = this.#given[first];
    for (const route of mailboxRoutes) this.#given[route] = Math.max(this.#given[route], level);
    this.#given[first] = level + this.demand().turnMs[first];
    const id = first === 'stats' && byRisk !== null ? byRisk : this.#turns[first].first();
    return id === null ? undefined : this.#takeOf(first, id);
  }

  /**
   * Returns the mailbox whose statistics are read by risk: the oldest if they are too old, or null if all were read
   * recently.
   */
  #byRisk(now: number): string | null {
    if (!this.#readsEarly) return null;
    const oldest = this.#firstKey('stats');
    const tooOld = now - Math.max(this.#options.earlyMs, this.demand().statsCapMs);
    return oldest < tooOld ? this.#turns.stats.first() : this.#nextByRisk(now);
  }

  /** Returns the next mailbox by risk that was not read recently for another reason. */
  #nextByRisk(now: number): string | null {
    const { earlyMs } = this.#options;
    for (let id = this.#risks.next(now); id !== null; id = this.#risks.next(now)) {
      const last = this.#turns.stats.keyOf(id);
      if (last !== null && last <= now - earlyMs) return id;
      this.#risks.postpone(id, last);
    }
    return null;
  }

  /**
   * Returns the time of an early list. The list shows the whole fleet in one request: if the cadence leaves room, it
   * gets up to its full share of requests, fewer while lists show no change, and no more bytes than the polls of
   * mailboxes.
   */
  #listEarlyAt(now: number): number | null {
    if (!this.#readsEarly || this.#mailboxes.size === 0 || this.#isUnderWay('mailboxes') || !this.#isAllRead(now))
      return null;
    const { fitsWithList, accountSpacingMs } = this.demand();
    if (!fitsWithList) return null;
    const { cadenceMs } = this.#options;
    return this.#earlyLists.mayAskFrom(this.#account.askedAt('mailboxes'), {
      leastMs: accountSpacingMs,
      cadenceMs: cadenceMs.mailboxes,
    });
  }

  #takeOf(route: MailboxRoute, mailboxId: string): Poll {
    this.#account.mailboxPolled();
    this.#turns[route].delete(mailboxId);
    this.#sweep.taken({ route, mailboxId });
    this.#isSwept ||= this.#sweep.next('judging') === null;
    if (route === 'stats') this.#risks.taken(mailboxId);
    const poll = { route, mailboxId };
    const { urgent, soon } = this.#waiting;
    urgent.delete(pollKey(poll));
    soon.delete(pollKey(poll));
    return poll;
  }

  /** Returns the mailbox of a poll, or null if it has none or the mailbox has left. */
  #idOf({ mailboxId }: Poll): string | null {
    return mailboxId !== null && this.#mailboxes.has(mailboxId) ? mailboxId : null;
  }

  #isUnderWay(route: AccountRoute): boolean {
    return this.#underWay.has(pollKey({ route, mailboxId: null }));
  }
}

/** Spaces polls evenly. */
class Pace {
  #nextAt = 0;

  get nextAt(): number {
    return this.#nextAt;
  }

  /** Counts a poll that was made in time. A poll that came slightly late does not delay the next. */
  made(now: number, perMinute: number): void {
    const gapMs = minuteMs / perMinute;
    this.#nextAt = Math.max(this.#nextAt, now - gapMs) + gapMs;
  }
}
