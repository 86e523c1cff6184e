// Chooses the next poll of an account when the budget has a slot, by a walk over all polls. docs/decisions/0006.
import { type Route, routes } from '../../core/answers.ts';
import { minuteMs } from '../../core/time.ts';
import { Pace } from '../budget.ts';
import { type Demand, demandOf } from './forecast.ts';
import {
  isJudgedRoute,
  judgedRoutes,
  type LastRead,
  type MailboxRoute,
  mailboxRoutes,
  type Poll,
  pollKey,
} from './poll.ts';
import { mayCrossToday, type Risk, shareOf, weightOf } from './risk.ts';

export interface QueueOptions {
  readonly cadenceMs: Readonly<Record<Route, number>>;
  readonly allowedPerMinute: () => number;
  /** Number of polls that may start at once if they then wait for as many gaps. Default: 1. */
  readonly atOnce?: (now: number) => number;
  /** Requests a minute beyond the needs of the cadence; 0 switches early reads off. Default: all. */
  readonly sparePerMinute?: (now: number) => number;
  /** Earliest start by the kind's own limits alone. Default: at any time. */
  readonly opensAt?: (route: Route) => number;
  /** Minimum age of statistics before an extra poll reads them again; 0 switches early reads off. */
  readonly earlyMs: number;
}

/** usual: in the place of its kind. soon: before due polls of the cadence. urgent: a person or a breach waits. */
const urgencies = ['usual', 'soon', 'urgent'] as const;
type PollUrgency = (typeof urgencies)[number];

interface Job {
  readonly poll: { readonly route: MailboxRoute; readonly mailboxId: string };
  readonly mailbox: QueuedMailbox;
  /** Start of the newest answered poll on the monotonic clock, or null before the first. */
  lastReadAt: number | null;
  isUnderWay: boolean;
  /** Poll beside the cadence. */
  asked: { readonly dueAt: number; readonly urgency: PollUrgency } | null;
}

interface QueuedMailbox {
  readonly number: number;
  readonly joinedAt: number;
  weight: number;
  /** True if it cannot cross its limit today. */
  isCalm: boolean;
}

/** Keeps the job with the lowest rank, the first among equals. */
class Best {
  job: Job | null = null;
  rank = Number.POSITIVE_INFINITY;

  offer(job: Job, rank: number): void {
    if (rank >= this.rank) return;
    this.job = job;
    this.rank = rank;
  }
}

/** Best polls that may start now, by reason, and the demand that they compete under. */
interface Candidates {
  readonly demand: Demand;
  readonly urgent: Best;
  readonly judging: Best;
  readonly soon: Best;
  readonly details: Best;
  readonly due: Readonly<Record<MailboxRoute, Best>>;
  readonly oldestStats: Best;
  readonly riskiest: Best;
}

const accountRoutes = ['mailboxes', 'health'] as const;
type AccountRoute = (typeof accountRoutes)[number];

/**
 * Minimum number of mailbox polls between two polls of health or of the list. Their spacing in time is wider, unless
 * the API allows far fewer requests than the budget: then they would take every request.
 */
const betweenAccountPolls = 4;
/** Early lists in the time between two lists of the cadence, if the budget allows as many. */
const earlyLists = 3;
/** Maximum number of polls in a row for one reason. The next goes to a lower reason, so that none starves. */
const sameInARow = 7;
/** Number of top reasons whose polls go as fast as the budget allows. */
const pressingReasons = 2;
/** Number of runs of a kind that are kept, to know the due time of the oldest poll. */
const runsKept = 100;

function perRoute<Value>(value: () => Value): Record<MailboxRoute, Value> {
  return Object.fromEntries(mailboxRoutes.map((route) => [route, value()])) as Record<MailboxRoute, Value>;
}

/**
 * Order of polls: health and the list; urgent polls; the first reading of warm-up and statistics, mailbox by mailbox;
 * polls that are wanted soon; due polls of the cadence, each kind with its fair share, statistics by risk, in turns
 * with kinds that were never read; early lists and statistics. Urgent polls and the first reading go as fast as the
 * budget allows, the rest at the pace of the demand. Times are milliseconds of the monotonic clock.
 */
export class PollQueue {
  readonly #options: QueueOptions;
  readonly #mailboxes = new Map<string, QueuedMailbox>();
  #joined = 0;
  #weightSum = 0;
  readonly #jobs = perRoute(() => new Map<string, Job>());
  /** Oldest first. A mailbox is due if it was last polled before the newest run. */
  readonly #runs = perRoute<number[]>(() => []);
  /** Time until which a kind has no poll, as the last walk found. Whatever can bring one forward resets it. */
  readonly #idleUntil = perRoute(() => Number.NEGATIVE_INFINITY);
  /** Polls so far, in units of the kind's fair share. */
  readonly #given = perRoute(() => 0);
  /** `since`: number of mailbox polls since the last one. */
  readonly #account: Readonly<Record<AccountRoute, { dueAt: number | null; askedAt: number; since: number }>> = {
    mailboxes: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
    health: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
  };
  /** Start of each poll in flight, by pollKey. It outlasts a mailbox that leaves meanwhile. */
  readonly #underWay = new Map<string, number>();
  #sparePerMinute = Number.POSITIVE_INFINITY;
  /** Spaces the polls that are not pressing. A poll that came slightly late does not delay the next. */
  readonly #pace = new Pace(1);
  /** True if all mailboxes of the account's first list were read for the first time. */
  #isSwept = false;
  #row = { reason: 0, length: 0 };
  #isDetailsTurn = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  demand(): Demand {
    return demandOf({
      mailboxes: this.#mailboxes.size,
      allowedPerMinute: this.#options.allowedPerMinute(),
      sparePerMinute: this.#sparePerMinute,
      cadenceMs: this.#options.cadenceMs,
      early: this.#readsEarly,
    });
  }

  /** Warm-up and statistics of a new mailbox are read before it is judged, whenever they were last read. */
  join(mailboxId: string, lastRead: LastRead, now: number): void {
    if (this.#mailboxes.has(mailboxId)) return;
    const mailbox = { number: this.#joined, joinedAt: now, weight: 0, isCalm: false };
    this.#joined += 1;
    this.#mailboxes.set(mailboxId, mailbox);
    for (const route of mailboxRoutes) {
      const poll = { route, mailboxId };
      const at = isJudgedRoute(route) ? undefined : lastRead[route];
      const isUnderWay = this.#underWay.has(pollKey(poll));
      const lastReadAt = at === undefined ? null : Math.min(at, now);
      this.#idleUntil[route] = Number.NEGATIVE_INFINITY;
      this.#jobs[route].set(mailboxId, { poll, mailbox, lastReadAt, isUnderWay, asked: null });
    }
  }

  leave(mailboxId: string): void {
    this.#weightSum -= this.#mailboxes.get(mailboxId)?.weight ?? 0;
    this.#mailboxes.delete(mailboxId);
    for (const route of mailboxRoutes) this.#jobs[route].delete(mailboxId);
  }

  weigh(mailboxId: string, risk: Risk): void {
    const mailbox = this.#mailboxes.get(mailboxId);
    if (!mailbox) return;
    this.#weightSum -= mailbox.weight;
    mailbox.weight = weightOf(risk);
    mailbox.isCalm = !mayCrossToday(risk);
    this.#weightSum += mailbox.weight;
  }

  /** Makes a kind due for every mailbox that was not polled since. */
  run(route: Route, now: number): void {
    if (route === 'health' || route === 'mailboxes') {
      const one = this.#account[route];
      one.dueAt ??= Math.max(now, one.askedAt + this.demand().accountSpacingMs);
    } else {
      this.#runs[route] = [...this.#runs[route], now].slice(-runsKept);
      this.#idleUntil[route] = Number.NEGATIVE_INFINITY;
    }
  }

  /** Adds a poll regardless of the cadence. A poll that was added before keeps its place or moves forward. */
  add(poll: Poll, dueAt: number, urgency: PollUrgency = 'urgent'): void {
    if (poll.route === 'health' || poll.route === 'mailboxes') {
      const one = this.#account[poll.route];
      one.dueAt = Math.min(one.dueAt ?? dueAt, dueAt);
      return;
    }
    const job = this.#jobOf(poll);
    if (!job) return;
    this.#idleUntil[poll.route] = Number.NEGATIVE_INFINITY;
    const before = job.asked ?? { dueAt, urgency };
    const isUrgenter = urgencies.indexOf(urgency) > urgencies.indexOf(before.urgency);
    job.asked = { dueAt: Math.min(dueAt, before.dueAt), urgency: isUrgenter ? urgency : before.urgency };
  }

  /** Marks the poll as in flight. Returns undefined if there is none to make now. */
  take(now: number, accountOnly = false): Poll | undefined {
    this.#sparePerMinute = this.#options.sparePerMinute?.(now) ?? Number.POSITIVE_INFINITY;
    const inPace = now >= this.#pace.nextAt;
    const best = this.#candidates(now);
    const route = inPace ? this.#dueOfAccount(best, now) : undefined;
    const isAccountsTurn = accountOnly || (route && this.#account[route].since >= betweenAccountPolls);
    const ofMailbox = isAccountsTurn ? undefined : this.#takeMailbox(best, now, inPace);
    const poll = ofMailbox ?? (route && { route, mailboxId: null });
    if (!poll) return undefined;
    if (poll === ofMailbox) for (const one of accountRoutes) this.#account[one].since += 1;
    else if (route) Object.assign(this.#account[route], { dueAt: null, askedAt: now, since: 0 });
    this.#underWay.set(pollKey(poll), now);
    const { pacePerMinute } = best.demand;
    if (inPace && pacePerMinute < this.#options.allowedPerMinute())
      this.#pace.started(now, minuteMs / pacePerMinute, this.#options.atOnce?.(now) ?? 1);
    return poll;
  }

  done(poll: Poll): void {
    const startedAt = this.#underWay.get(pollKey(poll));
    this.#underWay.delete(pollKey(poll));
    const job = this.#jobOf(poll);
    if (!job || startedAt === undefined) return;
    job.isUnderWay = false;
    this.#idleUntil[job.poll.route] = Number.NEGATIVE_INFINITY;
    job.lastReadAt = startedAt;
  }

  /** Returns null if no poll is foreseen. */
  nextDueAt(now: number): number | null {
    let next = Number.POSITIVE_INFINITY;
    const offer = (time: number | null) => {
      if (time !== null && time > now && time < next) next = time;
    };
    for (const route of accountRoutes) if (!this.#isUnderWay(route)) offer(this.#account[route].dueAt);
    offer(this.#listEarlyAt(this.demand(), () => this.#candidates(now)));
    offer(this.#pace.nextAt);
    for (const route of routes) offer(this.#opensAt(route));
    for (const route of mailboxRoutes) {
      if (this.#isIdle(route, now)) offer(this.#idleUntil[route]);
      else
        for (const { lastReadAt, asked } of this.#jobs[route].values()) {
          if (asked) offer(asked.dueAt);
          if (route === 'stats' && lastReadAt !== null && this.#readsEarly) offer(lastReadAt + this.#options.earlyMs);
        }
    }
    return Number.isFinite(next) ? next : null;
  }

  backlog(now: number): { readonly length: number; readonly oldestDueAt: number | null } {
    const dueAts = accountRoutes.map((route) => this.#account[route].dueAt ?? Number.POSITIVE_INFINITY);
    for (const route of mailboxRoutes)
      for (const { mailbox, lastReadAt, isUnderWay, asked } of this.#jobs[route].values()) {
        const run = lastReadAt === null ? mailbox.joinedAt : this.#runs[route].find((at) => at > lastReadAt);
        if (!isUnderWay)
          dueAts.push(Math.min(asked?.dueAt ?? Number.POSITIVE_INFINITY, run ?? Number.POSITIVE_INFINITY));
      }
    const due = dueAts.filter((at) => at <= now);
    const oldestDueAt = due.reduce((oldest, at) => Math.min(oldest, at), now);
    return { length: due.length, oldestDueAt: due.length === 0 ? null : oldestDueAt };
  }

  #candidates(now: number): Candidates {
    const [urgent, judging, soon, details] = [new Best(), new Best(), new Best(), new Best()];
    const [oldestStats, riskiest, due] = [new Best(), new Best(), perRoute(() => new Best())];
    const meanWeight = this.#weightSum / this.#mailboxes.size;
    const demand = this.demand();
    const restedAt = this.#readsEarly ? now - this.#options.earlyMs : Number.NEGATIVE_INFINITY;
    for (const route of mailboxRoutes) {
      if (this.#opensAt(route) > now || this.#isIdle(route, now)) continue;
      let idleUntil = Number.POSITIVE_INFINITY;
      const run = this.#runs[route].at(-1) ?? 0;
      const isJudged = isJudgedRoute(route);
      for (const job of this.#jobs[route].values()) {
        const { mailbox, lastReadAt, isUnderWay } = job;
        if (isUnderWay) continue;
        const asked = job.asked !== null && job.asked.dueAt <= now ? job.asked : null;
        if (asked || lastReadAt === null || lastReadAt < run) idleUntil = now;
        else if (job.asked) idleUntil = Math.min(idleUntil, job.asked.dueAt);
        if (route === 'stats' && lastReadAt !== null) {
          oldestStats.offer(job, lastReadAt);
          if (lastReadAt <= restedAt)
            riskiest.offer(job, lastReadAt + demand.turnMs.stats / shareOf(mailbox, meanWeight));
        }
        if (asked?.urgency === 'urgent') urgent.offer(job, asked.dueAt);
        else if (lastReadAt === null && isJudged) judging.offer(job, this.#sweepRank(job, now));
        // A poll that failed in the first sweep has no other place yet.
        else if (asked && (asked.urgency === 'soon' || !this.#isSwept)) soon.offer(job, asked.dueAt);
        else if (lastReadAt === null) details.offer(job, mailbox.number);
        else {
          // A failed poll is due again, behind mailboxes that have waited longer.
          const since = asked ? Math.min(lastReadAt, run - 1) : lastReadAt;
          if (since < run) due[route].offer(job, since);
        }
      }
      this.#idleUntil[route] = idleUntil;
    }
    return { demand, urgent, judging, soon, details, due, oldestStats, riskiest };
  }

  /** Early reads have no idle time: each turn looks for the riskiest mailbox. */
  #isIdle(route: MailboxRoute, now: number): boolean {
    return this.#idleUntil[route] > now && !(route === 'stats' && this.#readsEarly);
  }

  /** Mailboxes that should be read soon come first, then the others in order of arrival. */
  #sweepRank({ poll, mailbox }: Job, now: number): number {
    const isHastened = judgedRoutes.some((route) => (this.#jobOf({ ...poll, route })?.asked?.dueAt ?? now + 1) <= now);
    const rank = mailbox.number + (poll.route === judgedRoutes[0] ? 0 : 0.5);
    return isHastened ? rank - this.#joined : rank;
  }

  /** Returns the list or health if it may start now: of two, the one with more mailbox polls since. */
  #dueOfAccount(best: Candidates, now: number): AccountRoute | undefined {
    const isFree = (one: AccountRoute) => !this.#isUnderWay(one) && this.#opensAt(one) <= now;
    const isDue = (dueAt: number | null) => dueAt !== null && dueAt <= now;
    const due = accountRoutes.filter((one) => isDue(this.#account[one].dueAt) && isFree(one));
    const [first] = due.sort((a, b) => this.#account[b].since - this.#account[a].since);
    return (
      first ?? (isFree('mailboxes') && isDue(this.#listEarlyAt(best.demand, () => best)) ? 'mailboxes' : undefined)
    );
  }

  /** Gives a lower reason its turn after many polls for one reason in a row. */
  #takeMailbox(best: Candidates, now: number, inPace: boolean): Poll | undefined {
    const reasons = [() => best.urgent.job, () => best.judging.job, () => best.soon.job, () => this.#due(best, now)];
    const { reason: last, length } = this.#row;
    const count = inPace ? reasons.length : pressingReasons;
    const first = length >= sameInARow ? last + 1 : 0;
    for (let step = 0; step < count; step += 1) {
      const reason = (first + step) % count;
      const job = reasons[reason]?.();
      if (!job) continue;
      this.#row = { reason, length: reason === last ? length + 1 : 1 };
      return this.#start(job, now);
    }
    return undefined;
  }

  #start(job: Job, now: number): Poll {
    job.isUnderWay = true;
    if (job.asked && job.asked.dueAt <= now) job.asked = null;
    this.#isSwept ||= !judgedRoutes.some((route) => isUnread(this.#jobs[route].values()));
    return job.poll;
  }

  /** Waits until the fleet was judged for the first time. Details that were never read alternate with due polls. */
  #due({ demand, judging, details, due, oldestStats, riskiest }: Candidates, now: number): Job | null {
    if (!this.#isSwept && judging.job) return null;
    const jobs = mailboxRoutes.flatMap((route) => due[route].job ?? []);
    if (details.job && (this.#isDetailsTurn || jobs.length === 0)) {
      this.#isDetailsTurn = false;
      return details.job;
    }
    this.#isDetailsTurn = true;
    const tooOld = now - Math.max(this.#options.earlyMs, demand.statsCapMs);
    const byRisk = !this.#readsEarly ? null : oldestStats.rank < tooOld ? oldestStats.job : riskiest.job;
    if (byRisk === null) return this.#byShare(demand, jobs);
    const isEarly = !due.stats.job && !judging.job && !details.job;
    return this.#byShare(demand, [
      ...(due.stats.job || isEarly ? [byRisk] : []),
      ...jobs.filter((one) => one !== due.stats.job),
    ]);
  }

  /** A kind without due polls has no claim to the turns that it missed. */
  #byShare({ turnMs }: Demand, jobs: readonly Job[]): Job | null {
    let [first = null] = jobs;
    if (!first) return null;
    for (const job of jobs) if (this.#given[job.poll.route] < this.#given[first.poll.route]) first = job;
    const { route: taken } = first.poll;
    const level = this.#given[taken];
    for (const route of mailboxRoutes) this.#given[route] = Math.max(this.#given[route], level);
    this.#given[taken] = level + turnMs[taken];
    return first;
  }

  /**
   * Returns null if there is no early list. A list shows the whole fleet in one request: if the cadence leaves room, it
   * gets up to its full share of requests.
   */
  #listEarlyAt({ fitsWithList, accountSpacingMs }: Demand, candidates: () => Candidates): number | null {
    if (!this.#readsEarly || this.#mailboxes.size === 0 || this.#isUnderWay('mailboxes')) return null;
    if (!fitsWithList) return null;
    // The walk over all polls comes last: most calls end before it.
    const { judging, details } = candidates();
    if (judging.job || details.job) return null;
    return this.#account.mailboxes.askedAt + Math.max(accountSpacingMs, this.#options.cadenceMs.mailboxes / earlyLists);
  }

  get #readsEarly(): boolean {
    return this.#options.earlyMs > 0 && this.#sparePerMinute > 0;
  }

  #opensAt(route: Route): number {
    return this.#options.opensAt?.(route) ?? Number.NEGATIVE_INFINITY;
  }

  #isUnderWay(route: AccountRoute): boolean {
    return this.#underWay.has(pollKey({ route, mailboxId: null }));
  }

  #jobOf({ route, mailboxId }: Poll): Job | undefined {
    return this.#jobs[route as MailboxRoute]?.get(mailboxId ?? '');
  }
}

/** True if the first reading of one of these polls has not begun. */
function isUnread(jobs: Iterable<Job>): boolean {
  for (const { lastReadAt, isUnderWay } of jobs) if (lastReadAt === null && !isUnderWay) return true;
  return false;
}
