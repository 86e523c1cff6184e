// Which poll of one account is made next, when the budget has a slot. DESIGN.md section 6; docs/decisions/0006.
import type { Route } from '../model/answers.ts';
import { type Demand, demandOf } from './demand.ts';
import { Later } from './later.ts';
import { type MailboxRoute, mailboxRoutes, type Poll, pollKey } from './poll.ts';
import { mayCrossToday, type Risk, weightOf } from './risk.ts';
import { RiskOrder } from './risk-order.ts';
import { SlotHeap } from './slot-heap.ts';

export interface QueueOptions {
  /** How far apart the runs of each kind are, milliseconds. */
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** Requests a minute that the budget allows at present. */
  readonly allowedPerMinute: () => number;
  /** Spare requests read a mailbox's statistics again at the earliest after this, milliseconds; 0: never early. */
  readonly earlyMs: number;
}

const accountRoutes = ['mailboxes', 'health'] as const;
type AccountRoute = (typeof accountRoutes)[number];

/** The first sweep stands before everything that the cadence made due: keys far below every moment, in its own order. */
const sweepStart = -1e15;
const sweepEnd = -1e12;
/** Asked for by nobody yet, and due. */
const never = -1;
/** After so many urgent or first polls in a row, one goes to what the cadence made due: nothing starves. */
const urgentInARow = 7;
/** Runs of a kind that are remembered, to say since when the oldest poll is due. */
const runsKept = 100;

interface AccountPoll {
  dueAt: number | null;
  askedAt: number;
}

/**
 * In this order: health and the list; what somebody waits for (a second look, a drop in the list); the first sweep,
 * mailbox by mailbox; what the cadence made due, each kind with its fair share, statistics by risk; and with requests
 * to spare the list and statistics early. A poll that is under way, or due already, is not put in again. Times are
 * milliseconds of the monotonic clock. A slot of the budget costs O(log n); a mailbox takes constant memory.
 */
export class PollQueue {
  readonly #options: QueueOptions;
  readonly #slots = new Map<string, number>();
  readonly #ids: (string | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  /** By the moment of the last poll: due is who was polled before the kind's last run. Without those under way. */
  readonly #turns = Object.fromEntries(mailboxRoutes.map((route) => [route, new SlotHeap()])) as Readonly<
    Record<MailboxRoute, SlotHeap>
  >;
  /** The last runs of each kind, oldest first. */
  readonly #runs = Object.fromEntries(mailboxRoutes.map((route) => [route, [0]])) as Record<MailboxRoute, number[]>;
  /** What each kind was given so far, in units of its fair share. */
  readonly #given = Object.fromEntries(mailboxRoutes.map((route) => [route, 0])) as Record<MailboxRoute, number>;
  readonly #account: Readonly<Record<AccountRoute, AccountPoll>> = {
    mailboxes: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY },
    health: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY },
  };
  readonly #later = new Later();
  /** What somebody waits for, by pollKey, first come first served, with its due time. */
  readonly #urgent = new Map<string, { readonly poll: Poll; readonly dueAt: number }>();
  /** By pollKey: when it was begun. */
  readonly #underWay = new Map<string, number>();
  readonly #risks: RiskOrder;
  /** The demand as it was summed up last, and for what. */
  #summed: { readonly mailboxes: number; readonly allowedPerMinute: number; readonly demand: Demand } | null = null;
  #swept = 0;
  #urgentRow = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#risks = new RiskOrder(options.earlyMs);
  }

  /** What the present cadence asks of the present budget. */
  demand(): Demand {
    const [mailboxes, allowedPerMinute] = [this.#slots.size, this.#options.allowedPerMinute()];
    const last = this.#summed;
    if (last?.mailboxes === mailboxes && last.allowedPerMinute === allowedPerMinute) return last.demand;
    const { cadenceMs, earlyMs } = this.#options;
    const demand = demandOf({ mailboxes, allowedPerMinute, cadenceMs, early: earlyMs > 0 });
    this.#summed = { mailboxes, allowedPerMinute, demand };
    return demand;
  }

  /** A mailbox of the account: its warm-up and statistics are read in the first sweep, and so are the kinds that are `due`. */
  join(mailboxId: string, due: ReadonlySet<MailboxRoute>, now: number): void {
    if (this.#slots.has(mailboxId)) return;
    const slot = this.#freeSlots.pop() ?? this.#ids.length;
    this.#ids[slot] = mailboxId;
    this.#slots.set(mailboxId, slot);
    for (const route of mailboxRoutes) this.#turns[route].set(slot, due.has(route) ? never : now);
    for (const route of ['warmup', 'stats'] as const) this.#turns[route].set(slot, sweepStart + this.#swept++);
    this.#risks.weigh(slot, 0, false);
  }

  /** A mailbox that is gone takes all its polls along. */
  leave(mailboxId: string): void {
    const slot = this.#slots.get(mailboxId);
    if (slot === undefined) return;
    this.#slots.delete(mailboxId);
    this.#ids[slot] = undefined;
    this.#freeSlots.push(slot);
    this.#risks.leave(slot);
    for (const route of mailboxRoutes) {
      this.#turns[route].delete(slot);
      this.#urgent.delete(pollKey({ route, mailboxId }));
      this.#later.delete({ route, mailboxId });
    }
  }

  /** What a mailbox risks, as its last answers show it. */
  weigh(mailboxId: string, risk: Risk): void {
    const slot = this.#slots.get(mailboxId);
    if (slot !== undefined) this.#risks.weigh(slot, weightOf(risk), !mayCrossToday(risk));
  }

  /** A run of the kind: everybody is due who was not polled since the last moment. */
  run(route: Route, now: number): void {
    if (route === 'health' || route === 'mailboxes') {
      const one = this.#account[route];
      one.dueAt ??= Math.max(now, one.askedAt + this.demand().accountSpacingMs);
      return;
    }
    this.#runs[route] = [...this.#runs[route], now].slice(-runsKept);
  }

  /** Somebody waits for this poll: it goes before everything that the cadence made due. */
  add(poll: Poll, dueAt: number): void {
    if (poll.route === 'health' || poll.route === 'mailboxes') {
      const one = this.#account[poll.route];
      one.dueAt = Math.min(one.dueAt ?? Number.POSITIVE_INFINITY, dueAt);
    } else this.#later.add(poll, dueAt, true);
  }

  /** A poll that failed is due again then, in its usual place. */
  retry(poll: Poll, dueAt: number): void {
    if (poll.mailboxId === null) this.add(poll, dueAt);
    else this.#later.add(poll, dueAt, false);
  }

  /** The poll to make now, which is under way from now on; undefined when there is none. */
  take(now: number, accountOnly = false): Poll | undefined {
    this.#ripen(now);
    const poll = this.#takeAccount(now) ?? (accountOnly ? undefined : this.#takeMailbox(now));
    if (poll) this.#underWay.set(pollKey(poll), now);
    return poll;
  }

  /** A poll that was taken has been answered, or has failed. */
  done(poll: Poll): void {
    const key = pollKey(poll);
    const startedAt = this.#underWay.get(key);
    this.#underWay.delete(key);
    if (startedAt === undefined || poll.mailboxId === null) return;
    const slot = this.#slots.get(poll.mailboxId);
    if (slot === undefined) return;
    this.#turns[poll.route as MailboxRoute].set(slot, startedAt);
    if (poll.route === 'stats' && this.#options.earlyMs > 0) this.#risks.served(slot, startedAt);
  }

  /** When there will be something more to take, as far as it is known; null when nothing is foreseen. */
  nextDueAt(now: number): number | null {
    const times = accountRoutes.map((route) => (this.#isUnderWay(route) ? null : this.#account[route].dueAt));
    times.push(this.#later.nextAt());
    times.push(this.#listEarlyAt(), this.#risks.nextRestedAt());
    const known = times.filter((time) => time !== null && time > now);
    return known.length === 0 ? null : Math.min(...known.map((time) => time ?? now));
  }

  /** Polls that are due, and since when the oldest is. Looks at every mailbox. */
  backlog(now: number): { readonly length: number; readonly oldestDueAt: number | null } {
    const dues = accountRoutes.map((route) => this.#account[route].dueAt).filter((at) => at !== null && at <= now);
    let length = dues.length + this.#urgent.size;
    for (const { dueAt } of this.#urgent.values()) dues.push(dueAt);
    for (const route of mailboxRoutes) {
      const [turns, runs] = [this.#turns[route], this.#runs[route]];
      const waiting = turns.countBelow(runs.at(-1) ?? 0);
      if (waiting === 0) continue;
      length += waiting;
      const oldest = turns.keyOf(turns.first() ?? 0) ?? now;
      dues.push(runs.find((run) => run > oldest) ?? now);
    }
    return { length, oldestDueAt: dues.length === 0 ? null : Math.min(...dues.map((at) => at ?? now)) };
  }

  #ripen(now: number): void {
    for (let ripe = this.#later.take(now); ripe; ripe = this.#later.take(now)) {
      const { poll, dueAt, urgent } = ripe;
      const slot = this.#slots.get(poll.mailboxId ?? '');
      if (urgent) this.#urgent.set(pollKey(poll), { poll, dueAt });
      else if (slot !== undefined && !this.#underWay.has(pollKey(poll))) {
        const route = poll.route as MailboxRoute;
        const turns = this.#turns[route];
        // Just before the last run: due, and behind those who have waited longer.
        turns.set(slot, Math.min(turns.keyOf(slot) ?? now, (this.#runs[route].at(-1) ?? 0) - 1));
      }
    }
  }

  #takeAccount(now: number): Poll | undefined {
    for (const route of accountRoutes) {
      const one = this.#account[route];
      if (one.dueAt === null || one.dueAt > now || this.#isUnderWay(route)) continue;
      return this.#takeOne(one, route, now);
    }
    const earlyAt = this.#listEarlyAt();
    return earlyAt !== null && earlyAt <= now ? this.#takeOne(this.#account.mailboxes, 'mailboxes', now) : undefined;
  }

  #takeOne(one: AccountPoll, route: AccountRoute, now: number): Poll {
    one.dueAt = null;
    one.askedAt = now;
    return { route, mailboxId: null };
  }

  #takeMailbox(now: number): Poll | undefined {
    const starving = this.#urgentRow >= urgentInARow ? this.#takeByShare(this.#dueRoutes()) : undefined;
    const urgent = starving ? undefined : (this.#takeUrgent() ?? this.#takeSweep());
    this.#urgentRow = urgent ? this.#urgentRow + 1 : 0;
    if (starving || urgent) return starving ?? urgent;
    const due = this.#dueRoutes();
    const byRisk = this.#byRisk(now);
    return this.#takeByShare(byRisk === null || due.includes('stats') ? due : ['stats', ...due], byRisk);
  }

  #takeUrgent(): Poll | undefined {
    for (const [key, { poll }] of this.#urgent) {
      if (this.#underWay.has(key)) continue;
      this.#urgent.delete(key);
      const slot = this.#slots.get(poll.mailboxId ?? '');
      if (slot !== undefined) return this.#takeSlot(poll.route as MailboxRoute, slot);
    }
    return undefined;
  }

  #takeSweep(): Poll | undefined {
    const [warmup, stats] = [this.#firstKey('warmup'), this.#firstKey('stats')];
    const route = warmup < stats ? 'warmup' : 'stats';
    if (Math.min(warmup, stats) > sweepEnd) return undefined;
    return this.#takeSlot(route, this.#turns[route].first() ?? 0);
  }

  #firstKey(route: MailboxRoute): number {
    const turns = this.#turns[route];
    const first = turns.first();
    return (first === null ? null : turns.keyOf(first)) ?? Number.POSITIVE_INFINITY;
  }

  #dueRoutes(): MailboxRoute[] {
    return mailboxRoutes.filter((route) => {
      const key = this.#firstKey(route);
      return key > sweepEnd && key < (this.#runs[route].at(-1) ?? 0);
    });
  }

  /** The kind that is furthest behind its share; one that had nothing to ask has no claim to what it missed. */
  #takeByShare(routes: readonly MailboxRoute[], byRisk: number | null = null): Poll | undefined {
    let [first] = routes;
    if (!first) return undefined;
    for (const route of routes) if (this.#given[route] < this.#given[first]) first = route;
    const level = this.#given[first];
    for (const route of mailboxRoutes) this.#given[route] = Math.max(this.#given[route], level);
    this.#given[first] = level + this.demand().turnMs[first];
    const slot = first === 'stats' && byRisk !== null ? byRisk : this.#turns[first].first();
    return slot === null ? undefined : this.#takeSlot(first, slot);
  }

  /** Whose statistics are read by risk: the oldest when they are too old; null when all were read lately. */
  #byRisk(now: number): number | null {
    if (this.#options.earlyMs === 0) return null;
    const oldest = this.#firstKey('stats');
    const tooOld = now - Math.max(this.#options.earlyMs, this.demand().statsCapMs);
    return oldest > sweepEnd && oldest < tooOld ? this.#turns.stats.first() : this.#nextByRisk(now);
  }

  /** The next by risk who was not read lately for another reason. */
  #nextByRisk(now: number): number | null {
    const { earlyMs } = this.#options;
    for (let slot = this.#risks.next(now); slot !== null; slot = this.#risks.next(now)) {
      const last = this.#turns.stats.keyOf(slot);
      if (last !== null && last <= now - earlyMs) return slot;
      this.#risks.postpone(slot, last);
    }
    return null;
  }

  /** The list shows the whole fleet in one request: where the cadence leaves room it gets its full share of them. */
  #listEarlyAt(): number | null {
    if (this.#options.earlyMs === 0 || this.#slots.size === 0 || this.#isUnderWay('mailboxes')) return null;
    const { fitsWithList, accountSpacingMs } = this.demand();
    return fitsWithList ? this.#account.mailboxes.askedAt + accountSpacingMs : null;
  }

  #takeSlot(route: MailboxRoute, slot: number): Poll {
    this.#turns[route].delete(slot);
    if (route === 'stats') this.#risks.taken(slot);
    const poll = { route, mailboxId: this.#ids[slot] ?? '' };
    this.#urgent.delete(pollKey(poll));
    return poll;
  }

  #isUnderWay(route: AccountRoute): boolean {
    return this.#underWay.has(pollKey({ route, mailboxId: null }));
  }
}
