// First sweep of an account: the first look at mailboxes that no process has judged, its progress and its end.

import { type MailboxRoute, mailboxRoutes, type Poll, partOf } from '../api/poll/poll.ts';
import { isToBeSeenAgain } from '../core/alert.ts';
import type { Route } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState, SweepPart, SweepProgress } from '../core/mailbox.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { sweepText } from '../core/wording/forecast.ts';
import { inTurns, type World } from '../world/world.ts';
import { isUnsettled } from './record/guarded-account.ts';

// Pace of a part of a first sweep, and the time that is left. Times are milliseconds of the monotonic clock.

/** The pace is estimated from the budget during this time, and measured afterwards. */
const measuredAfterMs = minuteMs;
/** The end cannot be foreseen if no poll has ended for this time, or for this many times the usual interval. */
const stalledMs = 2 * minuteMs;
const stalledPolls = 3;

class SweepPace {
  readonly #since: number;
  #lastAt: number;
  #done = 0;

  constructor(now: number) {
    this.#since = now;
    this.#lastAt = now;
  }

  /** End of the last poll, or the start before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Counts a poll that has ended. */
  done(now: number): void {
    this.#done += 1;
    this.#lastAt = now;
  }

  /**
   * Returns the time that this many polls will take, or null if it cannot be foreseen. `perMinute`: requests that the
   * budget has for them.
   */
  leftMs(polls: number, perMinute: number, now: number): number | null {
    const spentMs = this.#lastAt - this.#since;
    const everyMs = spentMs < measuredAfterMs ? minuteMs / perMinute : spentMs / this.#done;
    const stalled = now - this.#lastAt > Math.max(stalledMs, stalledPolls * everyMs);
    return polls > 0 && stalled ? null : polls * everyMs;
  }
}

// Answers that are still missing in a part of a first sweep, by mailbox.

class UnreadMailboxes {
  /** A bit for each route, by mailbox. Bits save memory in a fleet of new mailboxes. */
  readonly #routes = new Map<string, number>();
  #polls = 0;

  /** Number of mailboxes with missing answers. */
  get mailboxes(): number {
    return this.#routes.size;
  }

  get polls(): number {
    return this.#polls;
  }

  add(mailboxId: string, routes: readonly MailboxRoute[]): void {
    let waited = this.#routes.get(mailboxId) ?? 0;
    for (const route of routes) {
      if ((waited & bitOf(route)) === 0) this.#polls += 1;
      waited |= bitOf(route);
    }
    if (waited !== 0) this.#routes.set(mailboxId, waited);
  }

  /** Removes a poll that was answered or failed. Returns false if it was not pending. */
  delete(mailboxId: string, route: MailboxRoute): boolean {
    const routes = this.#routes.get(mailboxId) ?? 0;
    const left = routes & ~bitOf(route);
    if (left === routes) return false;
    this.#polls -= 1;
    if (left === 0) this.#routes.delete(mailboxId);
    else this.#routes.set(mailboxId, left);
    return true;
  }

  leave(mailboxId: string): void {
    const routes = this.#routes.get(mailboxId) ?? 0;
    for (const route of mailboxRoutes) if ((routes & bitOf(route)) !== 0) this.#polls -= 1;
    this.#routes.delete(mailboxId);
  }
}

const bitOf = (route: MailboxRoute) => 1 << mailboxRoutes.indexOf(route);

/** Longest wait for second looks, for actions in progress, and for details that will be read soon. */
const patienceMs = 5 * minuteMs;
/** Interval of progress messages in the log. */
const progressEveryMs = minuteMs;
/** Expected time of a second look after the last answer of a part. */
const secondLooksMs = minuteMs;
/** A promised end is replaced if it is off by more than this, and by more than this share of the promised time. */
const toleratedMs = minuteMs;
const toleratedShare = 0.25;
const judgingRoutes = mailboxRoutes.filter((route) => partOf(route) === 'judging');
const detailRoutes = mailboxRoutes.filter((route) => partOf(route) === 'details');

interface SweepParts {
  readonly account: string;
  readonly fleet: Fleet;
  readonly world: World;
  /** Requests a minute that the budget has for a part. */
  readonly perMinute: (part: SweepPart) => number;
  /** Called when a part is over, so that its findings can be announced. */
  readonly over: () => void;
}

/** Starts once in a process, with the account's first mailbox list. */
export class FirstSweep {
  readonly #parts: SweepParts;
  readonly #newcomers = new Set<string>();
  /** New mailboxes whose first judgement is settled. Later findings are news. */
  readonly #settled = new Set<string>();
  /** Polls of new mailboxes that have not ended. */
  readonly #unread: Readonly<Record<SweepPart, UnreadMailboxes>> = {
    judging: new UnreadMailboxes(),
    details: new UnreadMailboxes(),
  };
  #part: SweepPart = 'judging';
  readonly #since: EpochMs;
  #keptFrom: EpochMs;
  #pace: SweepPace;
  /** Promised end of the current part, or null if no end can be foreseen. */
  #promise: { readonly madeAt: EpochMs; readonly doneAt: EpochMs } | null = null;
  #lastSaidAt: number;

  constructor(parts: SweepParts) {
    this.#parts = parts;
    const { clock } = parts.world;
    this.#since = clock.now();
    this.#keptFrom = this.#since;
    this.#lastSaidAt = clock.monotonic();
    this.#pace = new SweepPace(clock.monotonic());
  }

  /** Starts the sweep with the mailboxes of the first list. Those that were never judged take part. */
  async begin(mailboxes: readonly MailboxState[]): Promise<void> {
    const { clock } = this.#parts.world;
    this.#keptFrom = clock.now();
    this.#pace = new SweepPace(clock.monotonic());
    await this.#add(mailboxes);
    if ((this.#leftMs('judging') ?? 0) > progressEveryMs) this.#say();
  }

  /** Adds mailboxes that arrive while the sweep is running. */
  async join(arrived: readonly MailboxState[]): Promise<void> {
    if (this.#newcomers.size > 0) await this.#add(arrived);
  }

  async #add(mailboxes: readonly MailboxState[]): Promise<void> {
    const { judging, details } = this.#unread;
    await inTurns(mailboxes, (piece) => {
      for (const mailbox of piece) {
        if (!isUnjudged(mailbox)) continue;
        this.#newcomers.add(mailbox.id);
        judging.add(mailbox.id, judgingRoutes);
        details.add(
          mailbox.id,
          detailRoutes.filter((route) => readAt(mailbox, route) === null),
        );
      }
    });
    this.show();
  }

  /** Counts a poll that ended with an answer or a failure. */
  asked({ route, mailboxId }: Poll): void {
    if (this.#newcomers.size === 0 || mailboxId === null) return;
    const part = partOf(route as MailboxRoute);
    const counts = this.#unread[part].delete(mailboxId, route as MailboxRoute);
    if (counts && part === this.#part) this.#pace.done(this.#parts.world.clock.monotonic());
    if (counts) this.show();
  }

  /** Removes a mailbox that has left from the sweep. */
  leave({ id }: MailboxState): void {
    this.#newcomers.delete(id);
    for (const unread of Object.values(this.#unread)) unread.leave(id);
  }

  /**
   * Returns true if the sweep is running and the answer belongs to the first look at the mailbox. A null route stands
   * for the outcome of an action.
   */
  isFirstLook(mailboxId: string, route: Route | null): boolean {
    if (!this.#newcomers.has(mailboxId)) return false;
    if (mailboxRoutes.some((one) => one === route && partOf(one) === 'details')) return true;
    const known = this.#parts.fleet.mailbox(this.#parts.account, mailboxId);
    if (known && !isUnsettled(known)) this.#settled.add(mailboxId);
    return !this.#settled.has(mailboxId);
  }

  /** Publishes the progress to the fleet, logs it each minute, and ends a part that is over. */
  show(): void {
    const { account, fleet, world, over } = this.#parts;
    if (this.#isPartOver()) {
      if (this.#part === 'judging' && this.#unread.details.polls > 0) this.#beginDetails();
      else this.#newcomers.clear();
      over();
    }
    if (this.#newcomers.size === 0) {
      if (fleet.sweep(account)) world.log.info({ account }, 'first sweep done');
      this.end();
      return;
    }
    fleet.putSweep(this.#progress());
    if (world.clock.monotonic() - this.#lastSaidAt >= progressEveryMs) this.#say();
  }

  /** Ends the sweep, also when its account is no longer guarded. */
  end(): void {
    this.#newcomers.clear();
    this.#settled.clear();
    this.#parts.fleet.endSweep(this.#parts.account);
  }

  #beginDetails(): void {
    const { clock } = this.#parts.world;
    this.#part = 'details';
    this.#keptFrom = clock.now();
    this.#pace = new SweepPace(clock.monotonic());
    this.#promise = null;
  }

  #isPartOver(): boolean {
    if (this.#newcomers.size === 0 || this.#unread[this.#part].polls > 0) return false;
    if (this.#parts.world.clock.monotonic() - this.#pace.lastAt >= patienceMs) return true;
    const detailsMs = this.#part === 'judging' ? this.#leftMs('details') : null;
    const detailsEndSoon = detailsMs !== null && detailsMs > 0 && detailsMs <= patienceMs;
    return !detailsEndSoon && !this.#isUnsettled();
  }

  /** Returns true if a finding waits for its second look, or an action is in progress. */
  #isUnsettled(): boolean {
    const { fleet, account } = this.#parts;
    for (const alert of fleet.alertsOf(account)) {
      if (isToBeSeenAgain(alert)) return true;
    }
    return [...this.#newcomers].some((id) => {
      const known = fleet.mailbox(account, id);
      // A mailbox without a verdict is not waited for.
      return known !== undefined && known.verdict !== null && isUnsettled(known);
    });
  }

  #leftMs(part: SweepPart): number | null {
    const perMinute = this.#parts.perMinute(part);
    const now = this.#parts.world.clock.monotonic();
    const pace = part === this.#part ? this.#pace : new SweepPace(now);
    return pace.leftMs(this.#unread[part].polls, perMinute, now);
  }

  /**
   * Returns the time left in the current part, or null if it cannot be foreseen. It includes details that will be read
   * soon, or a second look once all is read.
   */
  #wholeLeftMs(): number | null {
    const { judging, details } = this.#unread;
    const [partMs, detailsMs] = [this.#leftMs(this.#part), this.#leftMs('details') ?? 0];
    if (this.#part === 'details' || partMs === null) return partMs;
    if (judging.polls + details.polls === 0) return secondLooksMs;
    return partMs + (detailsMs <= patienceMs ? detailsMs : 0);
  }

  /** Returns the promised end of the part. A promise is kept until it has passed or is far off. */
  #doneAt(): EpochMs | null {
    const leftMs = this.#wholeLeftMs();
    const now = this.#parts.world.clock.now();
    if (leftMs === null) this.#promise = null;
    else {
      const { madeAt, doneAt } = this.#promise ?? { madeAt: now, doneAt: Number.NEGATIVE_INFINITY };
      const offMs = Math.abs(now + leftMs - doneAt);
      const isKept = doneAt >= now && offMs <= Math.max(toleratedMs, toleratedShare * (doneAt - madeAt));
      if (!isKept) this.#promise = { madeAt: now, doneAt: now + leftMs };
    }
    return this.#promise?.doneAt ?? null;
  }

  #progress(): SweepProgress {
    const { account, fleet } = this.#parts;
    const mailboxes = fleet.mailboxCount(account);
    const unread = this.#unread[this.#part];
    return {
      account,
      since: this.#since,
      mailboxes,
      part: this.#part,
      read: mailboxes - unread.mailboxes,
      doneAt: this.#doneAt(),
      keptFrom: this.#keptFrom,
    };
  }

  #say(): void {
    const { clock, log } = this.#parts.world;
    this.#lastSaidAt = clock.monotonic();
    const progress = this.#progress();
    const { account, mailboxes, read, doneAt } = progress;
    const numbers = { mailboxes, read, polls_left: this.#unread[this.#part].polls };
    // All times of the log are in UTC.
    const zone = 'UTC';
    const doneAtText = doneAt === null ? null : new Date(doneAt).toISOString();
    log.info({ account, ...numbers, done_at: doneAtText }, sweepText(progress, { now: clock.now(), zone }));
  }
}

/** Returns the time of the last answer of that kind, or null if there is none. */
export function readAt(mailbox: MailboxState, route: MailboxRoute): EpochMs | null {
  return (route === 'mailbox' ? mailbox.detail : mailbox[route])?.at ?? null;
}

/** True if no process has judged an answer about the mailbox. */
export function isUnjudged({ memory }: MailboxState): boolean {
  return memory === null;
}
