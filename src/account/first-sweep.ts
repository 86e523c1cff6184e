// The first sweep of an account: the first look at mailboxes that no process ever judged, how far it is, and its end.

import { type MailboxRoute, mailboxRoutes, type Poll } from '../api/poll/poll.ts';
import { partOf } from '../api/poll/sweep.ts';
import { isToBeSeenAgain } from '../core/alert.ts';
import type { Route } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState, SweepPart, SweepProgress } from '../core/mailbox.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { sweepText } from '../core/wording/forecast.ts';
import { inTurns, type World } from '../world/world.ts';
import { isUnsettled } from './record/guarded-account.ts';

// How fast a part of a first sweep goes, and how long it will still take. Times are milliseconds of the monotonic clock.

/** Before that the budget says how fast it will be; then what was measured does. */
const measuredAfterMs = minuteMs;
/** Without an end of a poll for so long, or for so many times the usual, nothing can be foreseen. */
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

  /** When a poll came to its end last; the beginning before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** A poll came to its end. */
  done(now: number): void {
    this.#done += 1;
    this.#lastAt = now;
  }

  /** How long that many polls will take; null while that can't be foreseen. `perMinute`: what the budget has for them. */
  leftMs(polls: number, perMinute: number, now: number): number | null {
    const spentMs = this.#lastAt - this.#since;
    const everyMs = spentMs < measuredAfterMs ? minuteMs / perMinute : spentMs / this.#done;
    const stalled = now - this.#lastAt > Math.max(stalledMs, stalledPolls * everyMs);
    return polls > 0 && stalled ? null : polls * everyMs;
  }
}

// Which answers of which mailboxes are still to come: a part of a first sweep, counted.

class Unread {
  /** By mailbox: a bit for each route. A fleet of newcomers has few of anything else. */
  readonly #routes = new Map<string, number>();
  #polls = 0;

  /** Mailboxes of which something is still to come. */
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

  /** It came, or failed. False when it was not waited for. */
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

/** What must be seen twice, is being done, or will be read so soon is waited for at most this long. */
const patienceMs = 5 * minuteMs;
/** A sweep that takes longer says this often how far it is. */
const progressEveryMs = minuteMs;
/** After the last answer of a part a second look takes about so long. */
const secondLooksMs = minuteMs;
/** A promised end that is off by more than this, and by more than this share of the time it promised, is no longer kept. */
const toleratedMs = minuteMs;
const toleratedShare = 0.25;
const judgingRoutes = mailboxRoutes.filter((route) => partOf(route) === 'judging');
const detailRoutes = mailboxRoutes.filter((route) => partOf(route) === 'details');

interface SweepParts {
  readonly account: string;
  readonly fleet: Fleet;
  readonly world: World;
  /** Requests a minute that the budget has for that part. */
  readonly perMinute: (part: SweepPart) => number;
  /** Called when a part is over: what it found can be announced. */
  readonly over: () => void;
}

/** Begins once in a process, with the account's first mailbox list. */
export class FirstSweep {
  readonly #parts: SweepParts;
  readonly #newcomers = new Set<string>();
  /** Those of them whose first judgement is settled: what comes after it is news. */
  readonly #settled = new Set<string>();
  /** What of them was not asked to the end yet. */
  readonly #unread: Readonly<Record<SweepPart, Unread>> = { judging: new Unread(), details: new Unread() };
  #part: SweepPart = 'judging';
  readonly #since: EpochMs;
  #keptFrom: EpochMs;
  #pace: SweepPace;
  /** Promised end of the current part; null if no end can be foreseen. */
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

  /** The mailboxes of the first list: those of them that were never judged are looked at for the first time. */
  async begin(mailboxes: readonly MailboxState[]): Promise<void> {
    const { clock } = this.#parts.world;
    this.#keptFrom = clock.now();
    this.#pace = new SweepPace(clock.monotonic());
    await this.#add(mailboxes);
    if ((this.#leftMs('judging') ?? 0) > progressEveryMs) this.#say();
  }

  /** Mailboxes that arrive while it goes on are looked at with the rest. */
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

  /** A poll came to its end, with an answer or a failure. */
  asked({ route, mailboxId }: Poll): void {
    if (this.#newcomers.size === 0 || mailboxId === null) return;
    const part = partOf(route as MailboxRoute);
    const counts = this.#unread[part].delete(mailboxId, route as MailboxRoute);
    if (counts && part === this.#part) this.#pace.done(this.#parts.world.clock.monotonic());
    if (counts) this.show();
  }

  /** A mailbox left: nothing more is asked about it. */
  leave({ id }: MailboxState): void {
    this.#newcomers.delete(id);
    for (const unread of Object.values(this.#unread)) unread.leave(id);
  }

  /** Whether it goes on, and that answer (null: the outcome of an action) belongs to the first look at the mailbox. */
  isFirstLook(mailboxId: string, route: Route | null): boolean {
    if (!this.#newcomers.has(mailboxId)) return false;
    if (mailboxRoutes.some((one) => one === route && partOf(one) === 'details')) return true;
    const known = this.#parts.fleet.mailbox(this.#parts.account, mailboxId);
    if (known && !isUnsettled(known)) this.#settled.add(mailboxId);
    return !this.#settled.has(mailboxId);
  }

  /** Puts into the picture how far it is, says so each minute, and ends what is over. */
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

  /** Its account is no longer guarded. */
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

  /** Something waits for its second look, or is being done. */
  #isUnsettled(): boolean {
    const { fleet, account } = this.#parts;
    for (const alert of fleet.alertsOf(account)) {
      if (isToBeSeenAgain(alert)) return true;
    }
    return [...this.#newcomers].some((id) => {
      const known = fleet.mailbox(account, id);
      // One that could not be judged yet is not waited for.
      return known !== undefined && known.verdict !== null && isUnsettled(known);
    });
  }

  #leftMs(part: SweepPart): number | null {
    const perMinute = this.#parts.perMinute(part);
    const now = this.#parts.world.clock.monotonic();
    const pace = part === this.#part ? this.#pace : new SweepPace(now);
    return pace.leftMs(this.#unread[part].polls, perMinute, now);
  }

  /** With all of the part read, what is left to be read soon is waited for, or a second look. */
  #wholeLeftMs(): number | null {
    const { judging, details } = this.#unread;
    const [partMs, detailsMs] = [this.#leftMs(this.#part), this.#leftMs('details') ?? 0];
    if (this.#part === 'details' || partMs === null) return partMs;
    if (judging.polls + details.polls === 0) return secondLooksMs;
    return partMs + (detailsMs <= patienceMs ? detailsMs : 0);
  }

  /** One promise a part, kept while it can be: it is made again when it is over, or turns out to be far off. */
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
    // As all times of the log.
    const zone = 'UTC';
    const doneAtText = doneAt === null ? null : new Date(doneAt).toISOString();
    log.info({ account, ...numbers, done_at: doneAtText }, sweepText(progress, { now: clock.now(), zone }));
  }
}

/** When that kind of answer was read last; null when it never was. */
export function readAt(mailbox: MailboxState, route: MailboxRoute): EpochMs | null {
  return (route === 'mailbox' ? mailbox.detail : mailbox[route])?.at ?? null;
}

/** No answer about it was ever judged, by this process or an earlier one. */
export function isUnjudged({ memory }: MailboxState): boolean {
  return memory === null;
}
