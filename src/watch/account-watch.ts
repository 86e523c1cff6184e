// The loops of one account: polls what is due, has every answer recorded, and has carried out what the verdicts plan.

import { Actor } from '../act/actor.ts';
import type { Failure, Result } from '../http/failure.ts';
import type { MailboxApi } from '../mailbox-api/client.ts';
import type { Action } from '../model/action.ts';
import type { MailboxList, Observed, Route } from '../model/answers.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { type EpochMs, minuteMs, secondMs } from '../model/time.ts';
import { cadenceOf, forecastOf, gapsOf } from '../poll/forecast.ts';
import { Lane } from '../poll/lane.ts';
import { type MailboxRoute, mailboxRoutes, type Poll } from '../poll/poll.ts';
import { PollQueue } from '../poll/queue.ts';
import { riskOf } from '../poll/risk.ts';
import type { AskedAt } from '../record/answer-order.ts';
import type { GuardedAccount, RecorderRooms } from '../record/guarded-account.ts';
import type { Observation } from '../record/observe.ts';
import { type PersonsChange, planForPerson } from '../record/persons.ts';
import { Recorder } from '../record/recorder.ts';
import { releaseBreaker, releaseContest } from '../record/releases.ts';
import type { Schedule } from '../schedule.ts';
import { endsWithin } from '../world.ts';
import { AccountHealth, type RequestAbout } from './account-health.ts';
import { Cadence, staleRuns } from './cadence.ts';
import { FirstSweep, isUnjudged, readAt } from './first-sweep.ts';
import { Pulse } from './pulse.ts';
import { Retries } from './retries.ts';
import { HeldBreaches, wantsSecondLook } from './second-look.ts';

/** Time alone is looked at this often: `for`, staleness, the account's own state. */
const timeTickMs = 30 * secondMs;
/** What must be seen twice (a breach at first sight, a record that stopped passing) is looked at again after this. */
const secondLookAfterMs = minuteMs;
/** A loop that was stopped ends at once unless it hangs; a POST under way has its own deadline, which is shorter. */
const loopsEndWithinMs = 10 * secondMs;
const actionsEndWithinMs = 40 * secondMs;

export interface AccountWatchOptions extends GuardedAccount {
  /** When each kind of answer is due at the latest. */
  readonly schedules: Readonly<Record<Route, Schedule>>;
  /** Spare requests read a mailbox's statistics again at the earliest after this, milliseconds; 0: never early. */
  readonly statsIntervalMinMs: number;
}

export interface WatchRooms extends RecorderRooms {
  readonly api: MailboxApi;
}

export class AccountWatch {
  /** Whether its loops turn. */
  readonly pulse: Pulse;
  readonly #rooms: WatchRooms;
  readonly #options: AccountWatchOptions;
  readonly #queue: PollQueue;
  readonly #retries: Retries;
  readonly #stop = new AbortController();
  readonly #health: AccountHealth;
  readonly #lane: Lane;
  readonly #recorder: Recorder;
  readonly #actor: Actor;
  readonly #cadence: Cadence;
  readonly #heldBreaches = new HeldBreaches();
  readonly #firstSweep: FirstSweep;
  #running: Promise<unknown> = Promise.resolve();

  constructor(rooms: WatchRooms, options: AccountWatchOptions) {
    this.#rooms = rooms;
    this.#options = options;
    const { world, api, fleet } = rooms;
    const { account, words } = options;
    const startedAt = world.clock.monotonic();
    this.pulse = new Pulse(account, world.log);
    this.#cadence = new Cadence(options.schedules, world.clock);
    const perMinute = () => this.#queue.demand().roomPerMinute;
    this.#firstSweep = new FirstSweep({ account, fleet, world, perMinute, over: rooms.onTransitions });
    const gaps = gapsOf(options.schedules, world.clock.now());
    const allowedPerMinute = () => api.budget.allowedPerMinute;
    const earlyMs = options.statsIntervalMinMs;
    this.#queue = new PollQueue({ cadenceMs: cadenceOf(gaps), allowedPerMinute, earlyMs });
    for (const route of mailboxRoutes) {
      const agoMs = world.clock.now() - options.schedules[route].lastRun(world.clock.now());
      this.#queue.run(route, startedAt - agoMs);
    }
    this.#retries = new Retries(this.#queue, world);
    const backlog = (now: number) => this.#queue.backlog(now);
    const forecast = () =>
      forecastOf({
        mailboxes: fleet.mailboxCount(account),
        allowedPerMinute: allowedPerMinute(),
        headroomPpm: api.budget.headroomPpm,
        gaps,
        earlyMs,
      });
    this.#health = new AccountHealth({ account, world, fleet, budget: api.budget, backlog, forecast });
    this.#lane = new Lane({
      clock: world.clock,
      budget: api.budget,
      queue: this.#queue,
      poll: (poll) => this.#poll(poll),
      // A rejected key is not hammered: the list alone asks whether it is accepted again.
      mayAsk: () => (this.#health.keyRejected ? 'account' : 'everything'),
    });
    this.#recorder = new Recorder(rooms, {
      ...options,
      ended: () => this.#stop.signal.aborted,
      writable: () => this.#health.writable,
      isFirstLook: (mailboxId, route) => this.#firstSweep.isFirstLook(mailboxId, route),
      staleBefore: () => this.#staleBefore(),
      seenAgain: () => this.#cadence.statsWereDue && world.clock.monotonic() - startedAt > this.#roundMs(),
    });
    this.#actor = new Actor(
      { world, api, fleet, lane: this.#lane, recorder: this.#recorder },
      {
        account,
        words,
        onWritable: (writable) => this.#health.wrote(writable),
        onFailure: (failure, poll) => this.#health.failed(failure, this.#about(poll)),
        onOvertaken: (mailboxId) => this.#askAgain('warmup', mailboxId),
      },
    );
  }

  /** Begins to watch. What the store knows of open intents is taken up first. */
  start(): void {
    const { signal } = this.#stop;
    this.#health.publish();
    this.#running = Promise.all([
      this.pulse.keep('time', signal, async (turned) => {
        await this.#begin();
        await this.#keepTime(turned);
      }),
      this.pulse.keep('request', signal, (turned) => this.#lane.run(signal, turned)),
      this.pulse.keep('schedule', signal, (turned) => this.#keepCadence(turned)),
    ]);
  }

  /** Ends polls and actions at their next step. Ends when nothing is under way, or leaves behind what hangs. */
  async stop(): Promise<void> {
    const { world, api } = this.#rooms;
    this.#stop.abort();
    api.stopPolls();
    const ended = await Promise.all([
      endsWithin(this.#running, loopsEndWithinMs, world.clock),
      endsWithin(this.#actor.idle(), actionsEndWithinMs, world.clock),
    ]);
    if (ended.includes(false)) world.log.error({ account: this.account }, 'a loop that hangs was abandoned');
    await api.close();
  }

  /** Opens no intent any more, and ends when what was sent was read back (see Actor.wrapUp). It polls on meanwhile. */
  wrapUp(): Promise<void> {
    return this.#actor.wrapUp();
  }

  /** Stops, and leaves nothing of its own in the picture: another one takes over, or nobody does. */
  async end(): Promise<void> {
    await this.stop().finally(() => this.#firstSweep.end());
  }

  get account(): string {
    return this.#options.account;
  }

  /** The base_url, whose breaker is shared by the accounts under it. */
  get api(): string {
    return this.#options.api;
  }

  releaseBreaker(agreed: readonly string[] | null): Promise<readonly string[] | null> {
    const { api, pageUrl, rules } = this.#options;
    // Nothing is held after it, so no window is named.
    return releaseBreaker(this.#rooms, { api, pageUrl, rules: rules(), windowMs: 0 }, agreed);
  }

  releaseContest(mailbox: MailboxState): Promise<boolean> {
    return releaseContest(this.#rooms, mailbox);
  }

  /** Makes a person's change, through to its outcome. A sentence instead when it can't be begun. */
  async carryOut(mailbox: MailboxState, change: PersonsChange): Promise<Action | string> {
    const planned = await planForPerson(this.#rooms, mailbox, change);
    if (typeof planned === 'string') return planned;
    await this.#actor.finish(planned, this.#stop.signal);
    // By its id: the guard may have planned something else in its place already.
    const ended = this.#rooms.fleet.recentActions().find(({ id }) => id === planned.id);
    await this.judgeAgain(mailbox.id);
    return ended ?? planned;
  }

  /** Everything about a mailbox is asked for as soon as the budget allows. */
  refresh(mailboxId: string): void {
    const now = this.#rooms.world.clock.monotonic();
    for (const route of mailboxRoutes) this.#queue.add({ route, mailboxId }, now);
    this.#lane.wake();
  }

  /** Judges a mailbox on what is believed already, and does what that wants. */
  async judgeAgain(mailboxId: string): Promise<void> {
    await this.#recorder.judgedAgain(mailboxId);
    this.#actor.attend(mailboxId, this.#stop.signal);
  }

  async #begin(): Promise<void> {
    const now = this.#rooms.world.clock.monotonic();
    this.#queue.add({ route: 'health', mailboxId: null }, now);
    this.#queue.add({ route: 'mailboxes', mailboxId: null }, now);
    for (const mailbox of this.#mailboxes()) {
      // What the configuration no longer selects leaves with the first list; nothing is written to it before.
      if (!this.#options.selects(mailbox)) continue;
      try {
        if (mailbox.action)
          await this.#recorder.dropPlanned(mailbox.action, 'the daemon stopped before anything was sent');
      } catch (error) {
        this.#rooms.world.log.error(
          { account: mailbox.account, mailbox: mailbox.email, err: error },
          'a planned action could not be dropped',
        );
      }
      this.#actor.attend(mailbox.id, this.#stop.signal);
    }
  }

  #mailboxes(): readonly MailboxState[] {
    return [...this.#rooms.fleet.mailboxesOf(this.#options.account)];
  }

  /** Queues what has become due. */
  #keepCadence(turned: () => void): Promise<void> {
    const { clock } = this.#rooms.world;
    const due = (routes: readonly Route[]) => {
      for (const route of routes) this.#queue.run(route, clock.monotonic());
      this.#lane.wake();
    };
    return this.#cadence.keep(due, this.#stop.signal, turned);
  }

  async #keepTime(turned: () => void): Promise<void> {
    const { turns, world } = this.#rooms;
    const { clock, log } = world;
    const { signal } = this.#stop;
    // It turns when its turn comes: where another account's hangs, nothing is recorded here either.
    await turns.take(async () => {});
    while (!signal.aborted) {
      turned();
      await clock.sleep(timeTickMs, signal);
      if (signal.aborted) return;
      this.#health.publish();
      this.#firstSweep.show();
      try {
        await this.#recorder.timePassed();
      } catch (error) {
        log.error({ account: this.#options.account, err: error }, 'the passing of time could not be recorded');
      }
    }
  }

  /** One poll and what follows from its answer. Never rejects. */
  async #poll(poll: Poll): Promise<void> {
    const { log } = this.#rooms.world;
    try {
      const failure = await this.#ask(poll);
      // A request that our own end cut off says nothing about the API.
      if (this.#stop.signal.aborted) return;
      if (!failure) {
        this.#retries.answered(poll);
        if (poll.route !== 'health' && this.#health.succeeded(this.#about(poll))) this.#lane.wake();
        return;
      }
      if (poll.route === 'health') this.#health.healthSaid(null);
      else this.#health.failed(failure, this.#about(poll));
      this.#retries.failed(poll, failure);
      this.#lane.wake();
    } catch (error) {
      log.error({ account: this.#options.account, route: poll.route, err: error }, 'an answer could not be recorded');
      this.#retries.unrecorded(poll);
      this.#lane.wake();
    } finally {
      this.#firstSweep.asked(poll);
    }
  }

  #about({ route, mailboxId }: Poll): RequestAbout {
    const id = mailboxId ?? '';
    const email = this.#rooms.fleet.mailbox(this.#options.account, id)?.email;
    return { route, mailbox: mailboxId === null ? null : (email ?? id) };
  }

  /** Makes the request and takes the answer in; the failure if there was one. */
  async #ask(poll: Poll): Promise<Failure | null> {
    const { api } = this.#rooms;
    const id = poll.mailboxId ?? '';
    const asked = { id, at: this.#recorder.asking() };
    switch (poll.route) {
      case 'health': {
        const health = await api.health();
        if (!health.ok) return health.failure;
        this.#health.healthSaid(health.value.answer.status ?? 'absent');
        return null;
      }
      case 'mailboxes': {
        const list = await api.mailboxes();
        if (list.ok) await this.#takeList(list.value);
        return list.ok ? null : list.failure;
      }
      case 'stats':
        return this.#take(asked, await api.stats(id), (observed) => ({ route: 'stats', observed }));
      case 'warmup':
        return this.#take(asked, await api.warmup(id), (observed) => ({ route: 'warmup', observed }));
      case 'mailbox':
        return this.#take(asked, await api.mailbox(id), (observed) => ({ route: 'mailbox', observed }));
      case 'dns':
        return this.#take(asked, await api.dns(id), (observed) => ({ route: 'dns', observed }));
      case 'blacklist':
        return this.#take(asked, await api.blacklist(id), (observed) => ({ route: 'blacklist', observed }));
    }
  }

  async #take<Answer>(
    asked: { readonly id: string; readonly at: AskedAt },
    result: Result<Observed<Answer>>,
    observation: (observed: Observed<Answer>) => Observation,
  ): Promise<Failure | null> {
    if (!result.ok) return result.failure;
    const [mailboxId, taken] = [asked.id, observation(result.value)];
    const mailbox = await this.#recorder.observed(mailboxId, taken, asked.at);
    if (mailbox === 'outdated') this.#askAgain(taken.route, mailboxId);
    if (mailbox === 'outdated' || mailbox === null) return null;
    this.#actor.attend(mailboxId, this.#stop.signal);
    this.#weigh(mailbox);
    const again = this.#rooms.world.clock.monotonic() + secondLookAfterMs;
    if (this.#heldBreaches.isFirst(mailbox)) this.#queue.add({ route: 'stats', mailboxId }, again);
    if (wantsSecondLook(mailbox, taken.route, this.#rooms.fleet.alerts()))
      this.#queue.add({ route: taken.route, mailboxId }, again, 'soon');
    this.#lane.wake();
    return null;
  }

  #askAgain(route: MailboxRoute, mailboxId: string): void {
    this.#queue.add({ route, mailboxId }, this.#rooms.world.clock.monotonic());
    this.#lane.wake();
  }

  async #takeList(list: Observed<MailboxList>): Promise<void> {
    const first = !this.#health.listed;
    const changes = await this.#recorder.listed(list);
    if (!changes) return;
    const { arrived, left, stirred } = changes;
    const now = this.#rooms.world.clock.monotonic();
    this.#join(first ? this.#mailboxes() : arrived, now);
    if (first) this.#firstSweep.begin(this.#mailboxes());
    else this.#firstSweep.join(arrived);
    for (const { id, routes } of stirred)
      for (const route of routes) this.#queue.add({ route, mailboxId: id }, now, 'soon');
    for (const mailbox of left) {
      this.#queue.leave(mailbox.id);
      this.#firstSweep.leave(mailbox);
    }
    if (first || arrived.length + left.length > 0) {
      const { log } = this.#rooms.world;
      const counts = { mailboxes: this.#mailboxes().length, arrived: arrived.length, left: left.length };
      log.info({ account: this.#options.account, ...counts }, first ? 'mailbox list read' : 'mailboxes changed');
    }
    this.#health.listRead();
  }

  /** Whoever was never judged is read first; what an earlier process read is due when the cadence says so. */
  #join(mailboxes: readonly MailboxState[], now: number): void {
    const aheadMs = now - this.#rooms.world.clock.now();
    const [unjudged, judged] = [mailboxes.filter(isUnjudged), mailboxes.filter((one) => !isUnjudged(one))];
    for (const mailbox of [...unjudged, ...judged]) {
      const lastRead = mailboxRoutes.flatMap((route) => {
        const at = readAt(mailbox, route);
        return at === null ? [] : [[route, at + aheadMs] as const];
      });
      this.#queue.join(mailbox.id, Object.fromEntries(lastRead), now);
      this.#weigh(mailbox);
    }
  }

  #weigh(mailbox: MailboxState): void {
    const { minBounces } = this.#options.policyFor(mailbox);
    const risk = riskOf(mailbox, minBounces, this.#rooms.world.clock.now());
    if (risk) this.#queue.weigh(mailbox.id, risk);
  }

  /** How long the budget takes for one round of warm-up and stats, at least a minute. */
  #roundMs(): number {
    const mailboxes = this.#rooms.fleet.mailboxCount(this.#options.account);
    return Math.max(minuteMs, (2 * mailboxes * minuteMs) / this.#rooms.api.budget.allowedPerMinute);
  }

  /** Three due polls brought nothing, and the budget had time for three rounds. */
  #staleBefore(): EpochMs {
    return Math.min(this.#cadence.staleFrom, this.#rooms.world.clock.now() - staleRuns * this.#roundMs());
  }
}
