// First sweep of an account: the first look at mailboxes that no process has judged, its progress and its end.

import { isJudgedRoute, judgedRoutes, type MailboxRoute, mailboxRoutes, type Poll } from '../api/poll/poll.ts';
import { isToBeSeenAgain } from '../core/alert.ts';
import type { Route } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState, SweepProgress } from '../core/mailbox.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { sweepText } from '../core/wording/forecast.ts';
import type { World } from '../world/world.ts';
import { isUnsettled } from './record/guarded-account.ts';

/** The end cannot be foreseen if no poll has ended for this time, or for this many times the usual interval. */
const stalledMs = 2 * minuteMs;
const stalledPolls = 3;
/** Longest wait for second looks, actions in progress, connections, DNS and blacklists after the last mailbox. */
const patienceMs = 5 * minuteMs;
const progressEveryMs = minuteMs;
/** Expected time of a second look after the last answer. */
const secondLooksMs = minuteMs;

interface SweepParts {
  readonly account: string;
  readonly fleet: Fleet;
  readonly world: World;
  readonly perMinute: () => number;
  readonly over: () => void;
}

interface Unread {
  readonly polls: number;
  readonly mailboxes: number;
}

/** Starts once in a process, with the account's first mailbox list. */
export class FirstSweep {
  readonly #parts: SweepParts;
  /** Kinds of answers that each new mailbox still lacks. */
  readonly #newcomers = new Map<string, Set<MailboxRoute>>();
  /** New mailboxes whose first judgement is settled. Later findings are news. */
  readonly #settled = new Set<string>();
  readonly #since: EpochMs;
  /** End of the last poll for a first judgement, or the start, on the monotonic clock. */
  #lastAt: number;
  #lastSaidAt: number;

  constructor(parts: SweepParts) {
    this.#parts = parts;
    const { clock } = parts.world;
    this.#since = clock.now();
    this.#lastSaidAt = clock.monotonic();
    this.#lastAt = clock.monotonic();
  }

  /** Starts the sweep with the mailboxes of the first list. Those that were never judged take part. */
  begin(mailboxes: readonly MailboxState[]): void {
    this.#lastAt = this.#parts.world.clock.monotonic();
    this.#add(mailboxes);
    const unread = this.#unread();
    if ((this.#leftMs(unread) ?? 0) > progressEveryMs) this.#say(unread);
  }

  join(arrived: readonly MailboxState[]): void {
    if (this.#newcomers.size > 0) this.#add(arrived);
  }

  #add(mailboxes: readonly MailboxState[]): void {
    for (const mailbox of mailboxes.filter(isUnjudged)) {
      const unread = mailboxRoutes.filter((route) => isJudgedRoute(route) || readAt(mailbox, route) === null);
      this.#newcomers.set(mailbox.id, new Set(unread));
    }
    this.show();
  }

  asked({ route, mailboxId }: Poll): void {
    if (!this.#newcomers.get(mailboxId ?? '')?.delete(route as MailboxRoute)) return;
    if (isJudgedRoute(route)) this.#lastAt = this.#parts.world.clock.monotonic();
    this.show();
  }

  leave({ id }: MailboxState): void {
    this.#newcomers.delete(id);
  }

  /** Returns true if the answer belongs to the first look. A null route stands for the outcome of an action. */
  isFirstLook(mailboxId: string, route: Route | null): boolean {
    if (!this.#newcomers.has(mailboxId)) return false;
    if (mailboxRoutes.some((one) => one === route && !isJudgedRoute(one))) return true;
    const known = this.#parts.fleet.mailbox(this.#parts.account, mailboxId);
    if (known && !isUnsettled(known)) this.#settled.add(mailboxId);
    return !this.#settled.has(mailboxId);
  }

  /** Publishes the progress to the fleet, logs it each minute, and ends a sweep that is over. */
  show(): void {
    const { account, fleet, world, over } = this.#parts;
    const unread = this.#unread();
    if (this.#newcomers.size > 0 && !this.#isOver(unread)) {
      fleet.putSweep(this.#progress(unread));
      if (world.clock.monotonic() - this.#lastSaidAt >= progressEveryMs) this.#say(unread);
      return;
    }
    const isSwept = fleet.sweep(account) !== undefined;
    const { mailboxes, read } = this.#progress(unread);
    this.end();
    if (!isSwept) return;
    world.log.info({ account, mailboxes, read }, 'first sweep done');
    over();
  }

  end(): void {
    this.#newcomers.clear();
    this.#settled.clear();
    this.#parts.fleet.endSweep(this.#parts.account);
  }

  /** Counts what is unread for first judgements. Each answer of a sweep asks once, because this walks all newcomers. */
  #unread(): Unread {
    let [polls, mailboxes] = [0, 0];
    for (const [id, routes] of this.#newcomers) {
      const count = judgedRoutes.filter((route) => routes.has(route)).length;
      polls += count;
      if (count > 0 || !this.#isRead(id)) mailboxes += 1;
    }
    return { polls, mailboxes };
  }

  /** Returns false if a judged route of the mailbox was asked in vain. */
  #isRead(id: string): boolean {
    const known = this.#parts.fleet.mailbox(this.#parts.account, id);
    return known === undefined || judgedRoutes.every((route) => readAt(known, route) !== null);
  }

  #isOver(unread: Unread): boolean {
    if (unread.polls > 0) return false;
    if (this.#parts.world.clock.monotonic() - this.#lastAt >= patienceMs) return true;
    return [...this.#newcomers.values()].every(({ size }) => size === 0) && !this.#isUnsettled();
  }

  /** Returns true if a finding waits for its second look, or an action is in progress. */
  #isUnsettled(): boolean {
    const { fleet, account } = this.#parts;
    if ([...fleet.alertsOf(account)].some(isToBeSeenAgain)) return true;
    return [...this.#newcomers.keys()].some((id) => {
      const known = fleet.mailbox(account, id);
      // A mailbox without a verdict is not waited for.
      return known !== undefined && known.verdict !== null && isUnsettled(known);
    });
  }

  #leftMs({ polls }: Unread): number | null {
    const everyMs = minuteMs / this.#parts.perMinute();
    const quietMs = this.#parts.world.clock.monotonic() - this.#lastAt;
    return polls > 0 && quietMs > Math.max(stalledMs, stalledPolls * everyMs) ? null : polls * everyMs;
  }

  #progress(unread: Unread): SweepProgress {
    const { account, fleet, world } = this.#parts;
    const mailboxes = fleet.mailboxCount(account);
    const leftMs = this.#leftMs(unread);
    const doneAt = leftMs === null ? null : world.clock.now() + (leftMs === 0 ? secondLooksMs : leftMs);
    return { account, since: this.#since, mailboxes, read: mailboxes - unread.mailboxes, doneAt };
  }

  #say(unread: Unread): void {
    const { clock, log } = this.#parts.world;
    this.#lastSaidAt = clock.monotonic();
    const progress = this.#progress(unread);
    const { account, mailboxes, read, doneAt } = progress;
    const numbers = { mailboxes, read, polls_left: unread.polls };
    const doneAtText = doneAt === null ? null : new Date(doneAt).toISOString();
    // All times of the log are in UTC.
    log.info({ account, ...numbers, done_at: doneAtText }, sweepText(progress, { now: clock.now(), zone: 'UTC' }));
  }
}

export function readAt(mailbox: MailboxState, route: MailboxRoute): EpochMs | null {
  return (route === 'mailbox' ? mailbox.detail : mailbox[route])?.at ?? null;
}

/** True if no process has judged an answer about the mailbox. */
export function isUnjudged({ memory }: MailboxState): boolean {
  return memory === null;
}
