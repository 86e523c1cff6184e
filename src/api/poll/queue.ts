// Which poll of one account is made next, when the budget has a slot. docs/decisions/0006.
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
  /** How far apart the runs of each kind are, milliseconds. */
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** Requests a minute that the budget allows at present. */
  readonly allowedPerMinute: () => number;
  /** Of them, what may be spent at that moment beyond what the cadence needs; 0: nothing is read early. Default: all. */
  readonly sparePerMinute?: (now: number) => number;
  /** When a request of that kind may start, as far as it is about that kind alone. Default: at any time. */
  readonly opensAt?: (route: Route) => number;
  /** Spare requests read a mailbox's statistics again at the earliest after this, milliseconds; 0: never early. */
  readonly earlyMs: number;
}

/** After so many polls of one kind of reason in a row, one goes to a lesser reason: nothing starves. */
const sameInARow = 7;
/** Number of reasons, from the best on, whose polls go as fast as the budget allows. */
const pressingReasons = 2;
/** Runs of a kind that are remembered, to say since when the oldest poll is due. */
const runsKept = 100;

/**
 * In this order: health and the list; what somebody waits for (the second look of a breach); the first reading of
 * warm-up and statistics, mailbox by mailbox; what should be read soon (a drop in the list); what the cadence made due,
 * each kind with its fair share, statistics by risk, in turns with what else was never read; and with requests to spare
 * the list and statistics early. What somebody waits for and the first reading go as fast as the budget allows, the rest at
 * the pace of the demand. A poll that is under way, or due already, is not put in again. Times are milliseconds of the
 * monotonic clock.
 */
export class PollQueue {
  readonly #options: QueueOptions;
  readonly #mailboxes = new Set<string>();
  /** What was never read, and is not under way. */
  readonly #sweep = new Sweep();
  /** By the moment of the last poll: due is who was polled before the kind's last run. Without those of the sweep. */
  readonly #turns = Object.fromEntries(mailboxRoutes.map((route) => [route, new TurnOrder()])) as Readonly<
    Record<MailboxRoute, TurnOrder>
  >;
  /** The last runs of each kind, oldest first. */
  readonly #runs = Object.fromEntries(mailboxRoutes.map((route): [MailboxRoute, number[]] => [route, []])) as Record<
    MailboxRoute,
    number[]
  >;
  /** What each kind was given so far, in units of its fair share. */
  readonly #given = Object.fromEntries(mailboxRoutes.map((route) => [route, 0])) as Record<MailboxRoute, number>;
  readonly #account = new AccountPolls();
  readonly #later = new Later();
  /** By pollKey, first come first served. */
  readonly #waiting: Readonly<Record<Exclude<PollUrgency, 'usual'>, Map<string, WaitingPoll>>> = {
    urgent: new Map(),
    soon: new Map(),
  };
  /** By pollKey: when it was begun. */
  readonly #underWay = new Map<string, number>();
  readonly #risks: RiskOrder;
  readonly #earlyLists = new EarlyLists();
  #sparePerMinute = Number.POSITIVE_INFINITY;
  /** Of the polls that nothing presses. */
  readonly #pace = new Pace();
  /** All that the account's first list named was read for the first time. */
  #isSwept = false;
  /** Reasons for a poll of a mailbox, the best first. */
  readonly #reasons: readonly ((now: number) => Poll | undefined)[] = [
    (now) => this.#takeWaiting('urgent', now),
    (now) => this.#takeSweep('judging', now),
    (now) => this.#takeWaiting('soon', now),
    (now) => this.#takeDue(now),
  ];
  /** The reason of the last poll, and how many in a row had it. */
  #row = { reason: 0, length: 0 };
  #isDetailsTurn = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#risks = new RiskOrder(options.earlyMs);
  }

  /** What the present cadence asks of the present budget. */
  demand(): Demand {
    return demandOf({
      mailboxes: this.#mailboxes.size,
      allowedPerMinute: this.#options.allowedPerMinute(),
      sparePerMinute: this.#sparePerMinute,
      cadenceMs: this.#options.cadenceMs,
      early: this.#readsEarly,
    });
  }

  /** A mailbox of the account. Its warm-up and statistics are read before they are judged by, whenever they were read. */
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

  /** A mailbox that is gone takes all its polls along. */
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

  /** What a mailbox risks, as its last answers show it. */
  weigh(mailboxId: string, risk: Risk): void {
    if (this.#mailboxes.has(mailboxId)) this.#risks.weigh(mailboxId, weightOf(risk), !mayCrossToday(risk));
  }

  /** A run of the kind: everybody is due who was not polled since the last moment. */
  run(route: Route, now: number): void {
    if (route === 'health' || route === 'mailboxes') this.#account.run(route, now, this.demand().accountSpacingMs);
    else this.#runs[route] = [...this.#runs[route], now].slice(-runsKept);
  }

  /** The poll is made at that time, whatever the cadence says. urgent: somebody waits for it. */
  add(poll: Poll, dueAt: number, urgency: Exclude<PollUrgency, 'usual'> = 'urgent'): void {
    if (poll.route === 'health' || poll.route === 'mailboxes') this.#account.add(poll.route, dueAt);
    else this.#later.add(poll, dueAt, urgency);
  }

  /** A poll that failed is due again then, in its usual place. */
  retry(poll: Poll, dueAt: number): void {
    if (poll.mailboxId === null) this.add(poll, dueAt);
    else this.#later.add(poll, dueAt, 'usual');
  }

  /** The poll to make now, which is under way from now on; undefined when there is none. */
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
    // What goes as fast as the budget allows is spaced by the budget.
    if (inPace && pacePerMinute < this.#options.allowedPerMinute()) this.#pace.made(now, pacePerMinute);
    return poll;
  }

  /** A poll that was taken has been answered, or has failed. */
  done(poll: Poll): void {
    const key = pollKey(poll);
    const startedAt = this.#underWay.get(key);
    this.#underWay.delete(key);
    const id = this.#idOf(poll);
    if (startedAt === undefined || id === null) return;
    this.#turns[poll.route as MailboxRoute].set(id, startedAt);
    if (poll.route === 'stats' && this.#options.earlyMs > 0) this.#risks.served(id, startedAt);
  }

  /** An answer of so many bytes came, to a poll of this kind. */
  received(route: Route | 'warmup_write', bytes: number): void {
    this.#earlyLists.received(route, bytes);
  }

  /** A list was taken in; `stirred`: it gave a reason to read a mailbox soon. */
  listed(stirred: boolean): void {
    this.#earlyLists.listed(stirred);
  }

  /** When there will be something more to take, as far as it is known; null when nothing is foreseen. */
  nextDueAt(now: number): number | null {
    const times = accountRoutes.map((route) => (this.#isUnderWay(route) ? null : this.#account.dueAt(route)));
    times.push(this.#later.nextAt(), this.#listEarlyAt(now), this.#risks.nextRestedAt(), this.#pace.nextAt);
    times.push(...routes.map((route) => this.#opensAt(route)));
    const known = times.filter((time) => time !== null && time > now);
    return known.length === 0 ? null : Math.min(...known.map((time) => time ?? now));
  }

  /** Polls that are due, and since when the oldest is. Looks at every mailbox. */
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
      // What the sweep has yet to read needs no reading besides; what failed in it has no other place yet.
      else if (this.#sweep.hasten(id, route)) continue;
      else if (urgency === 'soon' || !this.#isSwept) this.#waiting.soon.set(pollKey(poll), { poll, dueAt });
      else if (!this.#underWay.has(pollKey(poll))) this.#putBack(route, id, now);
    }
  }

  /** Just before the last run: due, and behind those who have waited longer. */
  #putBack(route: MailboxRoute, id: string, now: number): void {
    const turns = this.#turns[route];
    turns.set(id, Math.min(turns.keyOf(id) ?? now, (this.#runs[route].at(-1) ?? 0) - 1));
  }

  /** `between`: so many polls of mailboxes were made since the last one of that kind. */
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

  /** By the best reason that there is; after many of one reason in a row a lesser one has its turn. */
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

  /** Nothing is left to be read for the first time of what may be asked for at present. */
  #isAllRead(now: number): boolean {
    return (this.#nextOfSweep('judging', now) ?? this.#nextOfSweep('details', now)) === null;
  }

  /**
   * What the cadence made due, and what the guard does not judge by and was never read, in turns. Not before a fleet was
   * judged for the first time; nothing is read early while there is something that was never read.
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

  /** The kind that is furthest behind its share; one that had nothing to ask has no claim to what it missed. */
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

  /** Whose statistics are read by risk: the oldest when they are too old; null when all were read lately. */
  #byRisk(now: number): string | null {
    if (!this.#readsEarly) return null;
    const oldest = this.#firstKey('stats');
    const tooOld = now - Math.max(this.#options.earlyMs, this.demand().statsCapMs);
    return oldest < tooOld ? this.#turns.stats.first() : this.#nextByRisk(now);
  }

  /** The next by risk who was not read lately for another reason. */
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
   * The list shows the whole fleet in one request: where the cadence leaves room it gets up to its full share of them, less
   * while lists show nothing new, and no more bytes than the polls of mailboxes.
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

  /** The mailbox of a poll, or null if it has none, or it has left. */
  #idOf({ mailboxId }: Poll): string | null {
    return mailboxId !== null && this.#mailboxes.has(mailboxId) ? mailboxId : null;
  }

  #isUnderWay(route: AccountRoute): boolean {
    return this.#underWay.has(pollKey({ route, mailboxId: null }));
  }
}

/** When the next poll may be made at an even pace. */
class Pace {
  #nextAt = 0;

  get nextAt(): number {
    return this.#nextAt;
  }

  /** Counts a poll that was made when it might be. A poll that came a little late does not delay the next. */
  made(now: number, perMinute: number): void {
    const gapMs = minuteMs / perMinute;
    this.#nextAt = Math.max(this.#nextAt, now - gapMs) + gapMs;
  }
}
