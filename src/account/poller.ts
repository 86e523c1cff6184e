// Makes the polls of an account: sends requests, has the answers recorded, and starts what follows from them.

import { absentWarmup } from '../api/answers.ts';
import type { MailboxApi } from '../api/client.ts';
import type { Failure, Result } from '../api/http/failure.ts';
import type { Lane } from '../api/poll/lane.ts';
import { isJudgedRoute, judgedRoutes, type MailboxRoute, type Poll, pollKey } from '../api/poll/poll.ts';
import type { PollQueue } from '../api/poll/queue.ts';
import type { Observed, Route, StatsAnswer } from '../core/answers.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs, secondMs } from '../core/time.ts';
import type { World } from '../world/world.ts';
import type { AccountHealth, RequestAbout } from './account-health.ts';
import type { Actor } from './act/actor.ts';
import type { ActorOptions } from './act/post.ts';
import type { Agenda } from './agenda.ts';
import type { FirstSweep } from './first-sweep.ts';
import type { OtherAccounts, RecorderRooms } from './record/guarded-account.ts';
import type { AskedAt, Observation } from './record/observe.ts';
import type { Recorder } from './record/recorder.ts';
import type { RosterChanges } from './record/roster.ts';

// Mailboxes without a warm-up: the API lists them, and answers 404 for both their warm-up and their statistics.

interface Absence {
  readonly askedAt: AskedAt;
  readonly at: EpochMs;
}

class Absences {
  /** Newest 404 of each route that has not been answered since, by mailbox. */
  readonly #of = new Map<string, Map<MailboxRoute, Absence>>();

  hasBoth(mailboxId: string): boolean {
    return this.#of.get(mailboxId)?.size === judgedRoutes.length;
  }

  missed(mailboxId: string, route: MailboxRoute, absence: Absence): void {
    if (!isJudgedRoute(route)) return;
    const routes = this.#of.get(mailboxId) ?? new Map<MailboxRoute, Absence>();
    this.#of.set(mailboxId, routes.set(route, absence));
  }

  answered(mailboxId: string, route: MailboxRoute): void {
    this.#of.get(mailboxId)?.delete(route);
  }

  leave(mailboxId: string): void {
    this.#of.delete(mailboxId);
  }

  [Symbol.iterator](): MapIterator<[mailboxId: string, routes: ReadonlyMap<MailboxRoute, Absence>]> {
    return this.#of.entries();
  }
}

// Retries of polls that failed, or whose answer could not be recorded.

/** A failed poll is retried after a random time below base x 2^failures, up to a cap. */
const retryBaseMs = 5 * secondMs;
const retryCapMs = 5 * minuteMs;
/** Cap for routes that are read a few times a day: one that fails for good costs at most one request an hour. */
const rareRetryCapMs = hourMs;
const rareRoutes: ReadonlySet<Poll['route']> = new Set(['mailbox', 'dns', 'blacklist']);

export class Retries {
  readonly #queue: PollQueue;
  readonly #world: World;
  readonly #failures = new Map<string, number>();

  constructor(queue: PollQueue, world: World) {
    this.#queue = queue;
    this.#world = world;
  }

  answered(poll: Poll): void {
    this.#failures.delete(pollKey(poll));
  }

  failed(poll: Poll, { kind, retryAfterMs }: Failure): void {
    if (kind === 'missing' && poll.mailboxId !== null) {
      // The list shows whether the mailbox is gone.
      this.#queue.run('mailboxes', this.#world.clock.monotonic());
      return;
    }
    const leastMs = kind === 'unavailable' ? (retryAfterMs ?? 0) : 0;
    // After a 429 the whole account waits already.
    if (kind !== 'refused') this.#again(poll, rareRoutes.has(poll.route) ? rareRetryCapMs : retryCapMs, leastMs);
  }

  /** Schedules a retry for an answer that could not be recorded. No decision rests on the answer before. */
  unrecorded(poll: Poll): void {
    this.#again(poll, retryCapMs);
  }

  /** `leastMs`: minimum wait that the API asked for. */
  #again(poll: Poll, longestMs: number, leastMs = 0): void {
    const { clock, random } = this.#world;
    const failures = (this.#failures.get(pollKey(poll)) ?? 0) + 1;
    this.#failures.set(pollKey(poll), failures);
    const cap = Math.min(retryBaseMs * 2 ** Math.min(failures, 20), longestMs);
    this.#queue.retry(poll, clock.monotonic() + Math.max(leastMs, secondMs) + random() * cap);
  }
}

export interface WatchRooms extends RecorderRooms {
  readonly api: MailboxApi;
}

interface PollerParts {
  readonly account: string;
  readonly agenda: Agenda;
  readonly retries: Retries;
  readonly health: AccountHealth;
  readonly firstSweep: FirstSweep;
  readonly recorder: Recorder;
  readonly lane: Lane;
  readonly actor: Actor;
  readonly others: OtherAccounts;
  readonly daysFor: ActorOptions['daysFor'];
  readonly signal: AbortSignal;
}

const noStatistics: StatsAnswer = { rows: [] };

export class Poller {
  readonly #rooms: WatchRooms;
  readonly #parts: PollerParts;
  readonly #absences = new Absences();

  constructor(rooms: WatchRooms, parts: PollerParts) {
    this.#rooms = rooms;
    this.#parts = parts;
  }

  /** Makes one poll and starts what follows from its answer. Never rejects. */
  async poll(poll: Poll): Promise<void> {
    const { health, retries, firstSweep, lane, signal } = this.#parts;
    try {
      const failure = await this.#ask(poll);
      // A request that was aborted because we stop says nothing about the API.
      if (signal.aborted) return;
      // No other code repeats the poll when this process owns the account again, and a verdict needs all answers.
      if (failure === 'ended') return retries.unrecorded(poll);
      if (!failure) {
        retries.answered(poll);
        if (poll.route !== 'health' && health.succeeded(this.about(poll))) lane.wake();
        return;
      }
      if (poll.route === 'health') health.healthSaid(null);
      else if (!this.#lacksWarmup(poll, failure)) health.failed(failure, this.about(poll));
      retries.failed(poll, failure);
      lane.wake();
    } catch (error) {
      this.#notRecorded(poll, error);
    } finally {
      firstSweep.asked(poll);
    }
  }

  #notRecorded(poll: Poll, error: unknown): void {
    const { account, health, retries, lane } = this.#parts;
    this.#rooms.world.log.error({ account, route: poll.route, err: error }, 'an answer could not be recorded');
    if (poll.route === 'mailboxes') health.listNotRecorded(error);
    retries.unrecorded(poll);
    lane.wake();
  }

  about({ route, mailboxId }: Poll): RequestAbout {
    const id = mailboxId ?? '';
    const email = this.#rooms.fleet.mailbox(this.#parts.account, id)?.email;
    return { route, mailbox: mailboxId === null ? null : (email ?? id) };
  }

  /** Returns the failure or null, or 'ended' if this process does not own the account at present. */
  async #ask(poll: Poll): Promise<Failure | 'ended' | null> {
    const { route, mailboxId } = poll;
    if (route === 'health' || route === 'mailboxes' || mailboxId === null) return this.#askAccount(route);
    const { agenda, actor, lane, recorder, signal } = this.#parts;
    const askedAt = recorder.asking();
    const said: Result<Observed<unknown>> = await this.#answerTo(poll, route, mailboxId);
    if (!said.ok) {
      if (said.failure.kind === 'missing')
        this.#absences.missed(mailboxId, route, { askedAt, at: this.#rooms.world.clock.now() });
      return said.failure;
    }
    this.#absences.answered(mailboxId, route);
    const mailbox = await recorder.observed(mailboxId, { route, observed: said.value } as Observation, askedAt);
    if (mailbox === null || mailbox === 'ended') return mailbox;
    if (mailbox === 'outdated') agenda.ask(mailboxId, [route]);
    else {
      actor.attend(mailboxId, signal);
      agenda.answered(mailbox, route);
    }
    lane.wake();
    return null;
  }

  async #askAccount(route: Route): Promise<Failure | 'ended' | null> {
    const { api } = this.#rooms;
    const { health, recorder } = this.#parts;
    if (route === 'health') {
      const said = await api.health();
      if (!said.ok) return said.failure;
      health.healthSaid(said.value);
      return null;
    }
    const list = await api.mailboxes();
    if (!list.ok) return list.failure;
    const changes = await recorder.listed(list.value);
    if (!changes) return 'ended';
    this.#follow(changes);
    await this.#observeAbsences();
    return null;
  }

  #lacksWarmup({ mailboxId }: Poll, { kind }: Failure): boolean {
    return kind === 'missing' && mailboxId !== null && this.#absences.hasBoth(mailboxId) && this.#isBare(mailboxId);
  }

  #isBare(mailboxId: string): boolean {
    const mailbox = this.#rooms.fleet.mailbox(this.#parts.account, mailboxId);
    return mailbox?.verdict?.answer.reason === 'no_warmup';
  }

  async #observeAbsences(): Promise<void> {
    const { account, agenda, health, recorder } = this.#parts;
    for (const [mailboxId, routes] of this.#absences) {
      const mailbox = this.#rooms.fleet.mailbox(account, mailboxId);
      const [warmup, stats] = [routes.get('warmup'), routes.get('stats')];
      if (!mailbox || mailbox.missingLists > 0 || !warmup || !stats) continue;
      await recorder.observed(
        mailboxId,
        { route: 'warmup', observed: { at: warmup.at, answer: absentWarmup } },
        warmup.askedAt,
      );
      const observed = { at: stats.at, answer: noStatistics };
      const taken = await recorder.observed(mailboxId, { route: 'stats', observed }, stats.askedAt);
      if (taken !== null && typeof taken === 'object') agenda.answered(taken, 'stats');
      if (this.#isBare(mailboxId)) health.withoutWarmup(mailbox.email);
    }
  }

  #answerTo(poll: Poll, route: MailboxRoute, id: string) {
    const { api, fleet } = this.#rooms;
    const { account, agenda, daysFor } = this.#parts;
    const mailbox = fleet.mailbox(account, id);
    switch (route) {
      case 'stats':
        return api.stats(id, mailbox && daysFor(mailbox));
      case 'warmup':
        return api.warmup(id);
      case 'mailbox':
        return api.mailbox(id);
      case 'dns':
        return api.dns(id, agenda.takeFresh(poll));
      case 'blacklist':
        return api.blacklist(id, agenda.takeFresh(poll));
    }
  }

  #follow({ arrived, absent, left, stirred, unlisted, elsewhere }: RosterChanges): void {
    const { fleet, world } = this.#rooms;
    const { account, agenda, firstSweep, health } = this.#parts;
    const first = !health.listed;
    const mailboxes = [...fleet.mailboxesOf(account)];
    // The sweep starts before the mailboxes are polled, so that their answers count as first looks.
    if (first) firstSweep.begin(mailboxes);
    else firstSweep.join(arrived);
    agenda.join(first ? mailboxes : arrived);
    agenda.stir(stirred);
    this.leave(left);
    if (left.length > 0 || absent.some(({ missingLists }) => missingLists === 1)) this.#parts.others.askLists();
    if (first || arrived.length + left.length > 0) {
      const counts = { mailboxes: mailboxes.length, arrived: arrived.length, left: left.length };
      world.log.info({ account, ...counts }, first ? 'mailbox list read' : 'mailboxes changed');
    }
    health.listRead(unlisted, elsewhere);
  }

  leave(mailboxes: readonly MailboxState[]): void {
    const { agenda, firstSweep } = this.#parts;
    agenda.leave(mailboxes);
    for (const mailbox of mailboxes) {
      this.#absences.leave(mailbox.id);
      firstSweep.leave(mailbox);
    }
  }
}
