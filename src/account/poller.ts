// Makes the polls of an account: sends requests, has the answers recorded, and starts what follows from them.

import { absentWarmup } from '../api/answers.ts';
import type { ApiClient } from '../api/client.ts';
import type { Failure, Result } from '../api/http/failure.ts';
import { isJudgedRoute, judgedRoutes, type MailboxRoute, type Poll } from '../api/poll/poll.ts';
import type { Observed, Route, StatsAnswer } from '../core/answers.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';
import type { AccountHealth } from './account-health.ts';
import type { Actor } from './act/actor.ts';
import type { ActorOptions } from './act/requests.ts';
import type { Agenda } from './agenda.ts';
import type { FirstSweep } from './first-sweep.ts';
import type { OtherAccounts, RecorderRooms } from './record/guarded-account.ts';
import type { AskPlace, Observation } from './record/observe.ts';
import type { Recorder } from './record/recorder.ts';
import type { RosterChanges } from './record/roster.ts';

/** A 404 for the warm-up or the statistics of a mailbox. */
interface Absence {
  readonly askPlace: AskPlace;
  readonly at: EpochMs;
}

export interface WatchRooms extends RecorderRooms {
  readonly api: ApiClient;
}

interface PollerParts {
  readonly account: string;
  readonly agenda: Agenda;
  readonly health: AccountHealth;
  readonly firstSweep: FirstSweep;
  readonly recorder: Recorder;
  readonly actor: Actor;
  readonly others: OtherAccounts;
  readonly daysFor: ActorOptions['daysFor'];
  readonly signal: AbortSignal;
}

const noStatistics: StatsAnswer = { rows: [] };

export class Poller {
  readonly #rooms: WatchRooms;
  readonly #parts: PollerParts;
  /**
   * Newest 404 of each judged route that has not been answered since, by mailbox. The API lists mailboxes without a
   * warm-up, and answers 404 for both.
   */
  readonly #absences = new Map<string, Map<MailboxRoute, Absence>>();

  constructor(rooms: WatchRooms, parts: PollerParts) {
    this.#rooms = rooms;
    this.#parts = parts;
  }

  /** Makes one poll and starts what follows from its answer. The lane looks for the next one then. Never rejects. */
  async poll(poll: Poll): Promise<void> {
    const { agenda, health, firstSweep, signal } = this.#parts;
    try {
      const failure = await this.#ask(poll);
      // A request that was aborted because we stop says nothing about the API.
      if (signal.aborted) return;
      // No other code repeats the poll when this process owns the account again, and a verdict needs all answers.
      if (failure === 'ended') return agenda.retryUnrecorded(poll);
      if (!failure) {
        agenda.succeeded(poll);
        if (poll.route !== 'health') health.succeeded(poll);
        return;
      }
      if (poll.route === 'health') health.healthSaid(null);
      else if (!this.#lacksWarmup(poll, failure)) health.failed(failure, poll);
      agenda.failed(poll, failure);
    } catch (error) {
      this.#notRecorded(poll, error);
    } finally {
      firstSweep.asked(poll);
    }
  }

  #notRecorded(poll: Poll, error: unknown): void {
    const { account, agenda, health } = this.#parts;
    this.#rooms.world.log.error({ account, route: poll.route, err: error }, 'an answer could not be recorded');
    if (poll.route === 'mailboxes') health.listNotRecorded(error);
    agenda.retryUnrecorded(poll);
  }

  /** Returns the failure or null, or 'ended' if this process does not own the account at present. */
  async #ask(poll: Poll): Promise<Failure | 'ended' | null> {
    const { route, mailboxId } = poll;
    if (route === 'health' || route === 'mailboxes' || mailboxId === null) return this.#askAccount(route);
    const { agenda, actor, recorder, signal } = this.#parts;
    const askPlace = recorder.asking();
    const said: Result<Observed<unknown>> = await this.#answerTo(poll, route, mailboxId);
    if (!said.ok) {
      if (said.failure.kind === 'missing' && isJudgedRoute(route)) {
        const absences = this.#absences.get(mailboxId) ?? new Map<MailboxRoute, Absence>();
        this.#absences.set(mailboxId, absences.set(route, { askPlace, at: this.#rooms.world.clock.now() }));
      }
      return said.failure;
    }
    this.#absences.get(mailboxId)?.delete(route);
    const mailbox = await recorder.observed(mailboxId, { route, observed: said.value } as Observation, askPlace);
    if (mailbox === null || mailbox === 'ended') return mailbox;
    if (mailbox === 'outdated') agenda.ask(mailboxId, [route]);
    else {
      actor.attend(mailboxId, signal);
      agenda.answered(mailbox, route);
    }
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
    if (kind !== 'missing' || mailboxId === null) return false;
    return this.#absences.get(mailboxId)?.size === judgedRoutes.length && this.#isBare(mailboxId);
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
        warmup.askPlace,
      );
      const observed = { at: stats.at, answer: noStatistics };
      const taken = await recorder.observed(mailboxId, { route: 'stats', observed }, stats.askPlace);
      if (taken !== null && typeof taken === 'object') agenda.answered(taken, 'stats');
      if (this.#isBare(mailboxId)) health.withoutWarmup(mailboxId);
    }
  }

  #answerTo(poll: Poll, route: MailboxRoute, id: string) {
    const { api, fleet } = this.#rooms;
    const { account, agenda, daysFor } = this.#parts;
    const mailbox = fleet.mailbox(account, id);
    switch (route) {
      case 'stats':
        return api.stats(id, mailbox && daysFor(mailbox), mailbox?.stats?.answer);
      case 'warmup':
        return api.warmup(id, mailbox?.warmup?.answer);
      case 'mailbox':
        return api.mailbox(id, mailbox?.detail?.answer);
      case 'dns':
        return api.dns(id, agenda.takeFresh(poll), mailbox?.dns?.answer);
      case 'blacklist':
        return api.blacklist(id, agenda.takeFresh(poll), mailbox?.blacklist?.answer);
    }
  }

  #follow({ arrived, absent, left, stirred, unlisted, elsewhere }: RosterChanges): void {
    const { fleet, world } = this.#rooms;
    const { account, agenda, firstSweep, health } = this.#parts;
    const first = !health.state.listed;
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
      this.#absences.delete(mailbox.id);
      firstSweep.leave(mailbox);
    }
  }
}
