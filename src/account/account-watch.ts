// Loops of one account: they poll what is due, have each answer recorded, and carry out planned actions.

import { cadenceOf, forecastOf, gapsOf, ownLimitsOf } from '../api/poll/forecast.ts';
import { Lane } from '../api/poll/lane.ts';
import { type MailboxRoute, mailboxRoutes } from '../api/poll/poll.ts';
import { PollQueue } from '../api/poll/queue.ts';
import type { Action } from '../core/action.ts';
import type { MeasuredRoute, Route } from '../core/answers.ts';
import { turnEveryMs } from '../core/fleet/fleet.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { daysNeeded, type Ppm } from '../core/policy.ts';
import { dayMs, type EpochMs, elapsedMs, minuteMs, secondMs } from '../core/time.ts';
import { lookEveryMs } from '../world/loop.ts';
import type { Schedule } from '../world/schedule.ts';
import { type Clock, endsWithin, type Log } from '../world/world.ts';
import { AccountHealth } from './account-health.ts';
import { Actor } from './act/actor.ts';
import type { AccountLease } from './act/requests.ts';
import { Agenda, Cadence } from './agenda.ts';
import { FirstSweep } from './first-sweep.ts';
import { Poller, type WatchRooms } from './poller.ts';
import type { GuardedAccount } from './record/guarded-account.ts';
import { type PersonsChange, planForPerson } from './record/persons.ts';
import { Recorder } from './record/recorder.ts';
import { mustWait } from './record/rivals.ts';

/** Interval of the checks that depend on time alone: `for`, staleness, the state of the account. */
const timeTickMs = 30 * secondMs;
/** A 429 below the limit shows another user of the key: no extra polls are made for this time. */
const noSpareForMs = 10 * minuteMs;
/** A stopped loop ends at once unless it hangs. A POST in progress has its own, shorter deadline. */
const loopsEndWithinMs = 10 * secondMs;
const actionsEndWithinMs = 40 * secondMs;

// Liveness of the loops. A stuck loop ends the process: see daemon/watchdog.ts.

/** Loops that have to turn: for requests, and for due polls and changes by time alone. */
const loopNames = ['request', 'time'] as const;
type LoopName = (typeof loopNames)[number];

/** Number of looks after which a loop without a turn is stuck. A waiting loop turns at least every 30 s. */
const stuckAfterLooks = 60_000 / lookEveryMs;

export class Pulse {
  readonly #account: string;
  readonly #log: Log;
  /** Looks since the last turn of each loop. A suspended process does not look, while its time passes. */
  readonly #quiet: Record<LoopName, number> = { request: 0, time: 0 };
  readonly #turned = new Set<LoopName>();
  readonly #begun = Promise.withResolvers<void>();
  #broken: LoopName | null = null;

  constructor(account: string, log: Log) {
    this.#account = account;
    this.#log = log;
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  get failure(): string | null {
    return this.#broken && `its ${this.#broken} loop ended with an error`;
  }

  /** Called by the watchdog. Returns a part of a sentence about an ended or stuck loop, or null if all loops turn. */
  look(): string | null {
    if (this.failure) return this.failure;
    for (const loop of loopNames) this.#quiet[loop] += 1;
    const stuck = loopNames.find((loop) => this.#quiet[loop] > stuckAfterLooks);
    return stuck ? `its ${stuck} loop has been stuck for a minute` : null;
  }

  /** Runs a loop until the signal aborts. Never rejects: an error is logged and marks the loop as broken. */
  async keep(loop: LoopName, signal: AbortSignal, run: (turned: () => void) => Promise<void>): Promise<void> {
    try {
      await run(() => {
        this.#quiet[loop] = 0;
        this.#turned.add(loop);
        if (this.#turned.size === loopNames.length) this.#begun.resolve();
      });
      if (!signal.aborted) throw new Error('it ended unexpectedly');
    } catch (error) {
      this.#broken ??= loop;
      this.#log.error({ account: this.#account, loop, err: error }, 'a loop of an account failed');
    }
  }
}

export interface AccountWatchOptions extends GuardedAccount {
  readonly schedules: Readonly<Record<Route, Schedule>>;
  readonly lease: AccountLease;
  /** Minimum age of statistics before an extra poll reads them again, milliseconds; 0 switches early reads off. */
  readonly statsIntervalMinMs: number;
  readonly sparePpm: Ppm;
}

export class AccountWatch {
  readonly pulse: Pulse;
  readonly #rooms: WatchRooms;
  readonly #options: AccountWatchOptions;
  readonly #queue: PollQueue;
  readonly #agenda: Agenda;
  readonly #stop = new AbortController();
  readonly #health: AccountHealth;
  readonly #lane: Lane;
  readonly #poller: Poller;
  readonly #recorder: Recorder;
  readonly #actor: Actor;
  readonly #cadence: Cadence;
  readonly #firstSweep: FirstSweep;
  #running: Promise<unknown> = Promise.resolve();

  constructor(rooms: WatchRooms, options: AccountWatchOptions) {
    this.#rooms = rooms;
    this.#options = options;
    const { world, api, fleet } = rooms;
    const { account, words } = options;
    this.pulse = new Pulse(account, world.log);
    const perMinute = () => this.#queue.demand().sweepPerMinute;
    this.#firstSweep = new FirstSweep({ account, fleet, world, perMinute, over: rooms.onTransitions });
    const gaps = gapsOf(options.schedules, world.clock.now());
    const allowedPerMinute = () => api.budget.allowedPerMinute;
    const earlyMs = options.statsIntervalMinMs;
    const spare = () => (api.budget.limitPerMinute * options.sparePpm) / 1e6;
    const sparePerMinute = (now: number) =>
      now - (api.budget.throttle.throttledAt(now).at(-1) ?? Number.NEGATIVE_INFINITY) < noSpareForMs ? 0 : spare();
    const opensAt = (route: Route) => api.budget.opensAt(route);
    const atOnce = (now: number) => api.budget.atOnce(now);
    const cadenceMs = cadenceOf(gaps);
    this.#queue = new PollQueue({ cadenceMs, allowedPerMinute, atOnce, sparePerMinute, opensAt, earlyMs });
    runAsScheduled(this.#queue, options.schedules, world.clock);
    this.#agenda = new Agenda({ account, world, fleet, queue: this.#queue, policyFor: options.policyFor });
    const backlog = (now: number) => this.#queue.backlog(now);
    const forecast = () => {
      const [mailboxes, { headroomPpm }, now] = [fleet.mailboxCount(account), api.budget, world.clock.monotonic()];
      const { expected, allowed } = api.budget.belief(now);
      const pace = { allowedPerMinute: expected, sparePerMinute: sparePerMinute(now), headroomPpm, gaps, earlyMs };
      return forecastOf({ mailboxes, ...pace, isHeldBack: expected < allowed, ownLimits: ownLimitsOf(api.budget) });
    };
    this.#health = new AccountHealth({ account, world, fleet, budget: api.budget, backlog, forecast });
    this.#lane = new Lane({
      clock: world.clock,
      budget: api.budget,
      queue: this.#queue,
      poll: (poll) => this.#poller.poll(poll),
      // A rejected key is used for the list alone, to find out whether it is accepted again.
      mayAsk: () => (options.lease.holds() ? (this.#health.state.keyRejected ? 'account' : 'everything') : 'nothing'),
    });
    this.#cadence = new Cadence({
      schedules: options.schedules,
      clock: world.clock,
      mailboxes: () => fleet.mailboxCount(account),
      pacePerMinute: () => this.#queue.demand().pacePerMinute,
    });
    this.#recorder = new Recorder(rooms, {
      ...options,
      ended: () => this.#stop.signal.aborted || !options.lease.holds(),
      keyWrites: () => this.#health.state.keyWrites,
      isFirstLook: (mailboxId, route) => this.#firstSweep.isFirstLook(mailboxId, route),
      staleBefore: (route = 'stats') => this.#cadence.staleBefore(route),
      staleMeasurement: (route) => this.#cadence.staleMeasurement(route),
      seenAgain: () => this.#cadence.seenAgain(),
    });
    const daysFor = (mailbox: MailboxState) => daysNeeded(options.policyFor(mailbox));
    this.#actor = new Actor(
      { world, api, fleet, store: rooms.store, lane: this.#lane, recorder: this.#recorder },
      {
        account,
        words,
        lease: options.lease,
        daysFor,
        onWritten: (write) => this.#health.wrote(write),
        onFailure: (failure, poll) => this.#health.failed(failure, poll),
        onOvertaken: (mailboxId) => this.#ask(mailboxId, ['warmup']),
      },
    );
    this.#poller = new Poller(rooms, {
      account,
      agenda: this.#agenda,
      health: this.#health,
      firstSweep: this.#firstSweep,
      recorder: this.#recorder,
      actor: this.#actor,
      others: options.others,
      daysFor,
      signal: this.#stop.signal,
    });
  }

  /** Starts the loops. Open intents of the store are continued first. */
  start(): void {
    const { signal } = this.#stop;
    this.#health.publish();
    this.#running = Promise.all([
      // The list is requested before any other poll.
      this.#askFirstList(),
      this.pulse.keep('time', signal, async (turned) => {
        await this.#begin();
        await this.#keepTime(turned);
      }),
      this.pulse.keep('request', signal, (turned) => this.#lane.run(signal, turned)),
    ]);
  }

  /** Stops polls and actions at their next step. Resolves when all work has ended, and abandons a loop that hangs. */
  async stop(): Promise<void> {
    const { world, api, group } = this.#rooms;
    this.#stop.abort();
    api.stopPolls();
    const saved = this.#running.then(() => group.flush());
    const ended = await Promise.all([
      endsWithin(saved, loopsEndWithinMs, world.clock),
      endsWithin(this.#actor.idle(), actionsEndWithinMs, world.clock),
    ]);
    if (ended.includes(false)) world.log.error({ account: this.account }, 'a loop that hangs was abandoned');
    await api.close();
  }

  /** Opens no more intents, and resolves when the sent ones were read back (see Actor.wrapUp). Polling continues. */
  wrapUp(): Promise<void> {
    return this.#actor.wrapUp();
  }

  /** Stops, and removes the first sweep from the fleet, whether or not another process takes over. */
  async end(): Promise<void> {
    await this.stop().finally(() => this.#firstSweep.end());
  }

  get account(): string {
    return this.#options.account;
  }

  /** Carries out a person's change until it has an outcome. Returns a sentence if the change cannot be started. */
  async carryOut(mailbox: MailboxState, change: PersonsChange): Promise<Action | string> {
    const planned = await planForPerson(this.#rooms, mailbox, change);
    if (typeof planned === 'string') return planned;
    await this.#actor.finish(planned, this.#stop.signal);
    // Looked up by id: the guard may have planned another action meanwhile.
    const { fleet } = this.#rooms;
    const now = fleet.mailbox(mailbox.account, mailbox.id) ?? mailbox;
    const ended = fleet.actionsOf(now).find(({ id }) => id === planned.id);
    await this.judgeAgain(mailbox.id);
    return ended ?? planned;
  }

  /** Resolves to true when `connect` may start one request, behind the actions; to false if the loop ends. */
  async connectSlot(): Promise<boolean> {
    await this.#lane.actionSlot(this.#stop.signal, 'connect');
    return !this.#stop.signal.aborted;
  }

  /** Requests fresh data soon. Returns the times of measurements that wait because one was made recently. */
  refresh(mailboxId: string): readonly { readonly route: MeasuredRoute; readonly at: EpochMs }[] {
    const later = this.#agenda.refresh(mailboxId);
    this.#lane.wake();
    return later;
  }

  tryForbiddenAgain(): void {
    this.#actor.tryForbiddenAgain();
  }

  askList(): void {
    this.#queue.add({ route: 'mailboxes', mailboxId: null }, this.#rooms.world.clock.monotonic());
    this.#lane.wake();
  }

  /** Gives up mailboxes that another account guards from now on. To be called within a turn. */
  lose(mailboxes: readonly MailboxState[]): void {
    for (const { id } of mailboxes) this.#recorder.left(id);
    this.#poller.leave(mailboxes);
  }

  /** Takes over mailboxes that the fleet shows under this account already. To be called within a turn. */
  adopt(mailboxes: readonly MailboxState[]): void {
    this.#agenda.join(mailboxes);
    for (const { id } of mailboxes) this.#actor.attend(id, this.#stop.signal);
    this.askList();
  }

  async judgeAgain(mailboxId: string): Promise<void> {
    await this.#recorder.judgedAgain(mailboxId);
    this.#actor.attend(mailboxId, this.#stop.signal);
  }

  #ask(mailboxId: string, routes: readonly MailboxRoute[]): void {
    this.#agenda.ask(mailboxId, routes);
    this.#lane.wake();
  }

  async #begin(): Promise<void> {
    const now = this.#rooms.world.clock.monotonic();
    this.#queue.add({ route: 'health', mailboxId: null }, now);
    for (const mailbox of [...this.#rooms.fleet.mailboxesOf(this.account)]) {
      // A mailbox that the configuration no longer selects leaves with the first list, or after the outcome of its action.
      if (!this.#options.selects(mailbox) && mailbox.action?.state !== 'open') continue;
      const { action } = mailbox;
      const { windowMs } = this.#options.policyFor(mailbox).breaker;
      try {
        // A person's change is dropped, because its command is over. The guard's action keeps its `plannedAt` until the
        // circuit breaker forgets it.
        if (action && (action.by || elapsedMs(action.plannedAt, this.#rooms.world.clock.now()) > windowMs))
          await this.#recorder.dropPlanned(action, 'it was not made before its account started again');
      } catch (error) {
        this.#rooms.world.log.error(
          { account: mailbox.account, mailbox: mailbox.email, err: error },
          'a planned action could not be dropped',
        );
      }
      this.#actor.attend(mailbox.id, this.#stop.signal);
    }
  }

  /** Requests the first list, after the accounts that may guard the same mailboxes have been answered. */
  async #askFirstList(): Promise<void> {
    const { fleet, world } = this.#rooms;
    const { account, accountsOfApi } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted && mustWait({ fleet, account, accounts: accountsOfApi() }))
      await world.clock.sleep(secondMs, signal);
    this.askList();
  }

  async #keepTime(turned: () => void): Promise<void> {
    const { turns, world } = this.#rooms;
    const { clock } = world;
    const { signal } = this.#stop;
    // The first pulse waits for a turn: if another account's turn hangs, this account records nothing either.
    await turns.take(async () => {});
    let lookedAt = clock.monotonic();
    while (!signal.aborted) {
      turned();
      await clock.sleep(Math.min(this.#cadence.stepEndsInMs, turnEveryMs), signal);
      if (signal.aborted) return;
      for (const route of this.#cadence.due()) {
        this.#queue.run(route, clock.monotonic());
        this.#lane.wake();
      }
      if (clock.monotonic() - lookedAt < timeTickMs) continue;
      lookedAt = clock.monotonic();
      await this.#timePassed();
    }
  }

  async #timePassed(): Promise<void> {
    this.#health.publish();
    this.#firstSweep.show();
    try {
      await this.#recorder.timePassed();
    } catch (error) {
      const { log } = this.#rooms.world;
      log.error({ account: this.account, err: error }, 'what is due by time could not be recorded');
    }
  }
}

/** Maximum age of a scheduled run. Older runs count as this old. */
const farthestRunMs = 400 * dayMs;

function runAsScheduled(queue: PollQueue, schedules: AccountWatchOptions['schedules'], clock: Clock): void {
  for (const route of mailboxRoutes) {
    const now = clock.now();
    const agoMs = now - (schedules[route].newestRun(now - farthestRunMs, now) ?? now - farthestRunMs);
    queue.run(route, clock.monotonic() - agoMs);
  }
}
