// First sweep of an account: the first look at mailboxes that no process has judged, its progress and its end.

import { type MailboxRoute, mailboxRoutes, type Poll, partOf } from '../api/poll/poll.ts';
import { isToBeSeenAgain } from '../core/alert.ts';
import type { Route } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState, SweepPart, SweepProgress } from '../core/mailbox.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { sweepText } from '../core/wording/forecast.ts';
import type { World } from '../world/world.ts';
import { isUnsettled } from './record/guarded-account.ts';

/** The end cannot be foreseen if no poll has ended for this time, or for this many times the usual interval. */
const stalledMs = 2 * minuteMs;
const stalledPolls = 3;
/** Longest wait for second looks, for actions in progress, and for details that will be read soon. */
const patienceMs = 5 * minuteMs;
const progressEveryMs = minuteMs;
/** Expected time of a second look after the last answer of a part. */
const secondLooksMs = minuteMs;

interface SweepParts {
  readonly account: string;
  readonly fleet: Fleet;
  readonly world: World;
  readonly perMinute: (part: SweepPart) => number;
  /** Called when a part is over, so that its findings can be announced. */
  readonly over: () => void;
}

/** Starts once in a process, with the account's first mailbox list. */
export class FirstSweep {
  readonly #parts: SweepParts;
  /** Kinds of answers that each new mailbox still lacks. */
  readonly #newcomers = new Map<string, Set<MailboxRoute>>();
  /** Sums over the newcomers. Only `#lack` changes them, because a walk at each answer would take too long. */
  readonly #unread: Record<SweepPart, { polls: number; mailboxes: number }> = {
    judging: { polls: 0, mailboxes: 0 },
    details: { polls: 0, mailboxes: 0 },
  };
  /** New mailboxes whose first judgement is settled. Later findings are news. */
  readonly #settled = new Set<string>();
  #part: SweepPart = 'judging';
  readonly #since: EpochMs;
  #keptFrom: EpochMs;
  /** End of the part's last poll, or the start of the part, on the monotonic clock. */
  #lastAt: number;
  #lastSaidAt: number;

  constructor(parts: SweepParts) {
    this.#parts = parts;
    const { clock } = parts.world;
    this.#since = clock.now();
    this.#keptFrom = this.#since;
    this.#lastSaidAt = clock.monotonic();
    this.#lastAt = clock.monotonic();
  }

  /** Starts the sweep with the mailboxes of the first list. Those that were never judged take part. */
  begin(mailboxes: readonly MailboxState[]): void {
    this.#beginPart('judging');
    this.#add(mailboxes);
    if ((this.#leftMs('judging') ?? 0) > progressEveryMs) this.#say();
  }

  join(arrived: readonly MailboxState[]): void {
    if (this.#newcomers.size > 0) this.#add(arrived);
  }

  #add(mailboxes: readonly MailboxState[]): void {
    for (const mailbox of mailboxes.filter(isUnjudged)) {
      const unread = mailboxRoutes.filter((route) => partOf(route) === 'judging' || readAt(mailbox, route) === null);
      this.#lack(mailbox.id, new Set(unread));
    }
    this.show();
  }

  /** Counts a poll that ended with an answer or a failure. */
  asked({ route, mailboxId }: Poll): void {
    const lacking = this.#newcomers.get(mailboxId ?? '');
    if (!lacking?.has(route as MailboxRoute)) return;
    this.#lack(mailboxId ?? '', new Set([...lacking].filter((one) => one !== route)));
    if (partOf(route as MailboxRoute) === this.#part) this.#lastAt = this.#parts.world.clock.monotonic();
    this.show();
  }

  leave({ id }: MailboxState): void {
    this.#lack(id, null);
  }

  /** Sets what a newcomer lacks. Null: it is no newcomer any more. */
  #lack(id: string, lacking: Set<MailboxRoute> | null): void {
    const before = [...(this.#newcomers.get(id) ?? [])];
    if (lacking) this.#newcomers.set(id, lacking);
    else this.#newcomers.delete(id);
    for (const part of ['judging', 'details'] as const) {
      const [was, is] = [before, [...(lacking ?? [])]].map((all) => all.filter((one) => partOf(one) === part).length);
      this.#unread[part].polls += (is ?? 0) - (was ?? 0);
      this.#unread[part].mailboxes += Math.sign(is ?? 0) - Math.sign(was ?? 0);
    }
  }

  /** Returns true if the answer belongs to the first look. A null route stands for the outcome of an action. */
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
      if (this.#part === 'judging' && this.#unread['details'].polls > 0) this.#beginPart('details');
      else this.#forget();
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

  end(): void {
    this.#forget();
    this.#settled.clear();
    this.#parts.fleet.endSweep(this.#parts.account);
  }

  #forget(): void {
    for (const id of this.#newcomers.keys()) this.#lack(id, null);
  }

  #beginPart(part: SweepPart): void {
    const { clock } = this.#parts.world;
    this.#part = part;
    this.#keptFrom = clock.now();
    this.#lastAt = clock.monotonic();
  }

  #isPartOver(): boolean {
    if (this.#newcomers.size === 0 || this.#unread[this.#part].polls > 0) return false;
    if (this.#parts.world.clock.monotonic() - this.#lastAt >= patienceMs) return true;
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
    return [...this.#newcomers.keys()].some((id) => {
      const known = fleet.mailbox(account, id);
      // A mailbox without a verdict is not waited for.
      return known !== undefined && known.verdict !== null && isUnsettled(known);
    });
  }

  /** Returns the time that the polls of a part will take by the budget, or null if it cannot be foreseen. */
  #leftMs(part: SweepPart): number | null {
    const everyMs = minuteMs / this.#parts.perMinute(part);
    const { polls } = this.#unread[part];
    const quietMs = part === this.#part ? this.#parts.world.clock.monotonic() - this.#lastAt : 0;
    return polls > 0 && quietMs > Math.max(stalledMs, stalledPolls * everyMs) ? null : polls * everyMs;
  }

  /** Includes details that will be read soon, or a second look once all is read. Null if it cannot be foreseen. */
  #doneAt(): EpochMs | null {
    const now = this.#parts.world.clock.now();
    const [partMs, detailsMs] = [this.#leftMs(this.#part), this.#leftMs('details') ?? 0];
    if (partMs === null) return null;
    if (this.#part === 'details') return now + partMs;
    return partMs + detailsMs === 0 ? now + secondLooksMs : now + partMs + (detailsMs <= patienceMs ? detailsMs : 0);
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
