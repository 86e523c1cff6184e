// Health of an account: whether its requests succeed, and whether its key is accepted and may write.

import { accountSubject } from '../alerts/condition.ts';
import { isOutage } from '../alerts/rules/account-rules.ts';
import type { Budget } from '../api/budget.ts';
import type { Failure } from '../api/http/failure.ts';
import { isJudgedRoute, type Poll, pollKey } from '../api/poll/poll.ts';
import { fingerprintOf } from '../core/alert.ts';
import type { HealthAnswer, Observed, Route } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { AccountState, ApiHealth, Forecast, MailboxName, MailboxState, ReadFailure } from '../core/mailbox.ts';
import { errorText } from '../core/nearest.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../core/time.ts';
import { isBlind, isIdle } from '../core/verdict.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { mendText, sumText } from '../core/wording/forecast.ts';
import type { World } from '../world/world.ts';
import { Repeats } from '../world/world.ts';

/** A failed request for one mailbox is no outage if another request succeeded within this time. */
const silenceMs = minuteMs;

/** An alert reports an outage after this time without a successful request. */
const outageMs = 3 * minuteMs;

/** The account does not know its mailboxes after this time without a recorded list. */
const unrecordedMs = 10 * minuteMs;

const namesLogged = 20;

const isList = ({ route, mailboxId }: Poll) => route === 'mailboxes' && mailboxId === null;

function earlierWrites({ account, fleet }: AccountHealthParts): readonly WriteOutcome[] {
  const actions = [...fleet.mailboxesOf(account)].flatMap((mailbox) => fleet.actionsOf(mailbox));
  return actions
    .flatMap(({ mailboxId, state, forbidden, settledAt }) => {
      const accepted = state === 'confirmed';
      return settledAt !== null && (accepted || forbidden) ? [{ mailboxId, accepted, at: settledAt }] : [];
    })
    .sort((a, b) => a.at - b.at);
}

export interface AccountHealthParts {
  readonly account: string;
  readonly world: World;
  readonly fleet: Fleet;
  readonly budget: Budget;
  readonly backlog: (now: number) => { readonly length: number; readonly oldestDueAt: number | null };
  readonly forecast: () => Forecast;
}

export class AccountHealth {
  readonly #parts: AccountHealthParts;
  #state: AccountState;
  /** Kind and status of the account failure that was logged last, or null after its end was logged. */
  #saidOfAccount: string | null = null;
  /** Last failure that was logged for each mailbox and route, so that it is logged once. */
  readonly #saidOf = new Map<string, string>();
  /** Limits the log: a route that fails as a whole does not get a line for each mailbox. */
  readonly #repeats: Repeats;
  readonly #refused = new Set<string>();
  /** Refused requests after which the list was accepted: the 401 concerns the request, not the key. */
  readonly #refusedAlone = new Set<string>();
  readonly #unread: UnreadRoutes;
  #unrecorded: ReadFailure | null = null;
  #saidHealth: HealthAnswer | null = null;
  readonly #writes: KeyWrites;

  constructor(parts: AccountHealthParts) {
    this.#parts = parts;
    this.#unread = new UnreadRoutes(parts);
    this.#repeats = new Repeats(() => parts.world.clock.monotonic());
    this.#writes = new KeyWrites(earlierWrites(parts));
    this.#state = {
      name: parts.account,
      ...this.#load(),
      lastSuccessAt: null,
      failingSince: null,
      lastFailure: null,
      keyRejected: false,
      rejections: 0,
      keyWrites: this.#writes.areAllowed,
      watchedSince: parts.world.clock.now(),
      listed: false,
      unlisted: [],
      health: 'unknown',
      apiHealth: { status: null, clockAheadMs: null },
      forecast: null,
    };
  }

  get state(): AccountState {
    return this.#state;
  }

  /** Records the answer of GET /v1/health, null if it failed. It is one signal among others (docs/faults.md H21). */
  healthSaid(said: Observed<HealthAnswer> | null): void {
    if (!said) {
      this.#state = { ...this.#state, health: 'unknown' };
      return;
    }
    const { at, answer } = said;
    const before = this.#saidHealth;
    this.#saidHealth = answer;
    const status = answer.status ?? 'absent';
    const { version } = answer;
    const apiHealth = { status, ...(version !== null && { version }), clockAheadMs: clockAhead(before, answer, at) };
    this.#state = { ...this.#state, health: status === 'ok' ? 'ok' : 'other', apiHealth };
    this.publish();
  }

  /** `unlisted`: configured names that the list lacks, or null if the list cannot tell. */
  listRead(unlisted: readonly string[] | null, elsewhere: readonly MailboxName[]): void {
    const was = this.#state;
    const isSame = unlisted === null || unlisted.join() === was.unlisted.join();
    const overlap = JSON.stringify(elsewhere);
    const isSameOverlap = overlap === JSON.stringify(was.guardedElsewhere ?? []);
    // A list usually changes nothing. The other values are published with the next time tick.
    if (was.listed && isSame && isSameOverlap) return;
    const known = { unlisted: unlisted ?? was.unlisted, guardedElsewhere: elsewhere };
    this.#state = { ...was, listed: true, ...known };
    this.publish();
    if (!isSameOverlap) this.#sayOverlap(elsewhere);
  }

  #sayOverlap(elsewhere: readonly MailboxName[]): void {
    const { log } = this.#parts.world;
    const guards = [...new Set(elsewhere.map(({ account }) => account))];
    const mailboxes = elsewhere.slice(0, namesLogged).map(({ email }) => email);
    const about = { account: this.#state.name, guarded_by: guards, overlapping: elsewhere.length, mailboxes };
    if (elsewhere.length > 0) log.warn(about, 'another account of the same API guards mailboxes of this mailbox list');
    else log.info({ account: this.#state.name }, 'no other account guards mailboxes of this mailbox list any more');
  }

  /** Records that a request with the key succeeded. */
  succeeded(poll: Poll): void {
    const was = this.#state;
    const { clock, log } = this.#parts.world;
    const accepted = { keyRejected: false, rejections: 0, listFailing: this.#listFailingAfter(was, poll) };
    this.#state = { ...was, lastSuccessAt: clock.now(), failingSince: null, lastFailure: null, ...accepted };
    // A list that still fails was logged. The success of another route does not end that.
    const isOver = this.#saidOfAccount !== null && !accepted.listFailing;
    if (isOver) this.#saidOfAccount = null;
    if (isList(poll)) this.#unrecorded = null;
    const isJudged = this.#unread.answered(poll.route) && was.unjudged;
    if (this.#refused.size + this.#refusedAlone.size > 0) this.#accepted(poll);
    if (this.#saidOf.size > 0 && this.#saidOf.delete(pollKey(poll)))
      this.#sayOfOne('answered', poll, (fields) => log.info(fields, 'answered again'));
    if (isJudged) this.publish();
    if (isOver) log.info({ account: was.name }, 'the API answers again');
    if (was.failingSince !== null) this.publish();
  }

  /** An outage of the whole API is no failure of the list, whose failure then counts from the end of the outage. */
  #listFailingAfter({ listFailing, failingSince }: AccountState, poll: Poll): ReadFailure | null {
    if (!listFailing || isList(poll)) return null;
    const now = this.#parts.world.clock.now();
    const wasDown = failingSince !== null && now - failingSince >= outageMs;
    return wasDown ? { ...listFailing, since: now } : listFailing;
  }

  #accepted(poll: Poll): void {
    this.#refused.delete(pollKey(poll));
    this.#refusedAlone.delete(pollKey(poll));
    if (poll.mailboxId !== null) return;
    for (const refused of this.#refused) this.#refusedAlone.add(refused);
  }

  /** An answer about one mailbox counts for that mailbox, any other failure for the account. */
  failed(failure: Failure, poll: Poll): void {
    if (isList(poll)) this.#noteListFailure(failure);
    if (!this.#speaksForAccount(failure, poll)) {
      this.#unread.failed(failure, poll);
      this.#sayOnce(failure, poll);
      return;
    }
    const was = this.#state;
    const { log } = this.#parts.world;
    const said = failureText(failure, was.listed);
    this.#state = {
      ...was,
      failingSince: was.failingSince ?? this.#failingSince(),
      lastFailure: said,
      keyRejected: was.keyRejected || rejectsKey(failure),
      rejections: was.rejections + (rejectsKey(failure) ? 1 : 0),
    };
    // The text names the route. Compared by text, every poll of an outage would log its own line.
    const what = `${failure.kind} ${failure.status}`;
    if (this.#saidOfAccount === what) return;
    this.#saidOfAccount = what;
    log.error({ account: was.name, failure: failure.kind, status: failure.status }, said);
    this.publish();
  }

  /** A 429 that concerns the list alone counts, too: without a list, nothing of the account is polled. */
  #noteListFailure(failure: Failure): void {
    const { listFailing, listed } = this.#state;
    const since = listFailing?.since ?? this.#parts.world.clock.now();
    this.#state = { ...this.#state, listFailing: { since, detail: failureText(failure, listed) } };
  }

  listNotRecorded(error: unknown): void {
    const since = this.#unrecorded?.since ?? this.#parts.world.clock.now();
    this.#unrecorded = { since, detail: errorText(error) };
  }

  withoutWarmup(mailboxId: string): void {
    this.#unread.withoutWarmup(mailboxId);
  }

  /** Returns now, or the start of an outage that an earlier process found and no request has ended. */
  #failingSince(): EpochMs {
    const { fleet, world } = this.#parts;
    const { name, lastSuccessAt } = this.#state;
    const now = world.clock.now();
    if (lastSuccessAt !== null) return now;
    const known = [...fleet.alertsOf(name)].filter(isOutage);
    return Math.min(now, ...known.map(({ since }) => since));
  }

  #speaksForAccount(failure: Failure, poll: Poll): boolean {
    if (failure.kind === 'unauthorized') return this.#rejectsKeyToo(poll);
    const { lastSuccessAt } = this.#state;
    const silentForMs =
      lastSuccessAt === null ? Number.POSITIVE_INFINITY : elapsedMs(lastSuccessAt, this.#parts.world.clock.now());
    if (failure.kind === 'throttled') return this.#parts.budget.throttle.refusesAll;
    return poll.mailboxId === null || (failure.kind === 'unavailable' && silentForMs > silenceMs);
  }

  /** Returns true if a 401 concerns the key. Once the list is accepted after a 401, only the list decides. */
  #rejectsKeyToo(poll: Poll): boolean {
    if (poll.mailboxId !== null) {
      this.#refused.add(pollKey(poll));
      return this.#refusedAlone.size === 0;
    }
    this.#refused.clear();
    this.#refusedAlone.clear();
    return true;
  }

  #sayOnce(failure: Failure, poll: Poll): void {
    const key = pollKey(poll);
    if (this.#saidOf.get(key) === failure.detail) return;
    this.#saidOf.set(key, failure.detail);
    const { kind, status } = failure;
    const { log } = this.#parts.world;
    const say = (fields: object) => log.warn({ ...fields, failure: kind, status }, failure.detail);
    this.#sayOfOne(`${kind} ${status}`, poll, say);
  }

  /** Logs one line a minute with a mailbox name, and counts the other mailboxes of its route. */
  #sayOfOne(kind: string, { route, mailboxId }: Poll, say: (fields: object) => void): void {
    const account = this.#state.name;
    const mailbox = this.#parts.fleet.mailbox(account, mailboxId ?? '')?.email ?? mailboxId;
    const leftOut = this.#repeats.met(`${route} ${kind}`, (count) => say({ account, route, left_out: count }));
    if (leftOut !== null) say({ account, route, mailbox, ...(leftOut > 0 && { left_out: leftOut }) });
  }

  wrote(write: WriteOutcome): void {
    this.#writes.note(write);
    this.#state = { ...this.#state, keyWrites: this.#writes.areAllowed };
    this.publish();
  }

  publish(): void {
    this.#repeats.settle();
    if (this.#state.listed) this.#foresee();
    const failures = { unjudged: this.#unread.failure(), listUnrecorded: this.#lastingUnrecorded() };
    this.#state = { ...this.#state, ...failures, ...this.#load() };
    this.#parts.fleet.putAccount(this.#state);
  }

  /** Returns the present limits of the account, and the polls that wait for them. */
  #load() {
    const { world, budget, backlog } = this.#parts;
    const now = world.clock.monotonic();
    const { length, oldestDueAt } = backlog(now);
    const { configured, limit, expected, isSlow } = budget.belief(now);
    return {
      ...{ requestsPerMinute: expected, limitPerMinute: limit, configuredPerMinute: configured, isSlow },
      throttledLastHour: budget.throttle.throttledAt(now).length,
      queueLength: length,
      oldestDueAt: oldestDueAt === null ? null : world.clock.now() - (now - oldestDueAt),
    };
  }

  #lastingUnrecorded(): ReadFailure | null {
    const failure = this.#unrecorded;
    return failure && elapsedMs(failure.since, this.#parts.world.clock.now()) >= unrecordedMs ? failure : null;
  }

  #foresee(): void {
    const [was, forecast] = [this.#state.forecast, this.#parts.forecast()];
    if (forecast.mailboxes === 0 && (this.#state.guardedElsewhere ?? []).length > 0) {
      this.#state = { ...this.#state, forecast: null };
      return;
    }
    this.#state = { ...this.#state, forecast };
    if (was === forecast || (was && sumText(was) === sumText(forecast))) return;
    const { log } = this.#parts.world;
    const about = { account: this.#state.name, asks_per_minute: Math.round(forecast.asksPerMinute) };
    if (forecast.fits) log[forecast.mailboxes === 0 ? 'warn' : 'info'](about, sumText(forecast));
    else log.warn(about, `${sumText(forecast)}. ${mendText(forecast)}`);
  }
}

/** A timestamp that is the same in two answers is no clock: it comes from a cache or a fixed text. */
function clockAhead(before: HealthAnswer | null, { timestamp }: HealthAnswer, at: EpochMs): ApiHealth['clockAheadMs'] {
  if (!before) return null;
  return timestamp === null || timestamp === before.timestamp ? 'not_told' : at - timestamp;
}

/** Returns true if the API rejects the key: it is wrong or revoked, or lost its plan or its read permission (T8). */
function rejectsKey({ kind, status }: Failure): boolean {
  return kind === 'unauthorized' || (kind === 'refused' && status === 403);
}

/** Describes a failure and where to look. If the address never gave a list, it is the first suspect. */
function failureText({ kind, status, detail }: Failure, listed: boolean): string {
  const address = listed ? '' : '; check base_url';
  switch (kind) {
    case 'unauthorized':
      return `the API refuses the key (${detail}); check the api_key of this account`;
    case 'missing':
      return `the API does not know the mailbox list (${detail})${address}`;
    case 'malformed':
      return `the API's answer can't be read (${detail})${address}`;
    case 'refused':
      return status !== null && status >= 300 && status < 400
        ? `the API redirects, which Warmwarden does not follow (${detail}); check base_url`
        : `the API refuses to answer (${detail}); check the plan and the key's read permission`;
    case 'throttled':
      return `the API reports too many requests (${detail}); check plan or requests_per_minute`;
    case 'unavailable':
    case 'held_back':
      return `the API ${status === null ? 'does not answer' : 'fails'} (${detail})${listed ? '' : '; check base_url and whether the API is up'}`;
  }
}

// Write permission of a key. A 403 names no cause (docs/faults.md T8): a single one may concern its mailbox only.

interface WriteOutcome {
  readonly mailboxId: string;
  readonly accepted: boolean;
}

/** Number of refused mailboxes, with no write accepted since, from which the key counts as read-only. */
const refusedUntilReadOnly = 2;

class KeyWrites {
  readonly #accepted = new Set<string>();
  readonly #refused = new Set<string>();
  areAllowed: boolean | null = null;

  /** `earlier`: oldest first. An accepted write of an earlier process does not prove that the key still may write. */
  constructor(earlier: readonly WriteOutcome[]) {
    for (const write of earlier) this.note(write);
    if (this.areAllowed) this.areAllowed = null;
  }

  note({ mailboxId, accepted }: WriteOutcome): void {
    if (accepted) {
      this.#accepted.add(mailboxId);
      this.#refused.clear();
      this.areAllowed = true;
      return;
    }
    this.#refused.add(mailboxId);
    if (this.#refused.size >= refusedUntilReadOnly || this.#accepted.has(mailboxId)) this.areAllowed = false;
  }
}

// Judged routes that no mailbox was answered for, and whether the account can be judged at all.

/** Time after which the account counts as unjudged: without an answer of a judged route, or with blind verdicts only. */
const blindAfterMs = 30 * minuteMs;

interface UnreadRoute extends ReadFailure {
  readonly mailboxes: Set<string>;
  readonly isRefusal: boolean;
  /** True if the newest answer was a 429. The route is then polled rarely, and the answer concerns no mailbox. */
  readonly isThrottled: boolean;
  readonly times: number;
}

class UnreadRoutes {
  readonly #parts: Pick<AccountHealthParts, 'account' | 'fleet' | 'world'>;
  readonly #of = new Map<Route, UnreadRoute>();
  readonly #read = new Set<Route>();
  /** Time since which no verdict has judged anything, although answers can be read. */
  #blindSince: EpochMs | null = null;

  constructor(parts: Pick<AccountHealthParts, 'account' | 'fleet' | 'world'>) {
    this.#parts = parts;
  }

  /** Records an answer. Returns true if the route was unread before. */
  answered(route: Route): boolean {
    this.#read.add(route);
    return this.#of.delete(route);
  }

  failed({ kind, detail }: Failure, { route, mailboxId }: Poll): void {
    if (!isJudgedRoute(route)) return;
    const before = this.#of.get(route);
    const { since = this.#parts.world.clock.now(), times = 0, mailboxes = new Set<string>() } = before ?? {};
    if (mailboxId !== null) mailboxes.add(mailboxId);
    const isThrottled = kind === 'throttled';
    const isRefusal = kind !== 'unavailable' && !isThrottled;
    this.#of.set(route, { since, detail, mailboxes, isRefusal, isThrottled, times: times + 1 });
  }

  /** Removes a mailbox without a warm-up, which says nothing about the others. */
  withoutWarmup(mailboxId: string): void {
    for (const [route, { mailboxes }] of this.#of)
      if (mailboxes.delete(mailboxId) && mailboxes.size === 0) this.#of.delete(route);
  }

  /**
   * A refusal of a route that never answered counts at once, any other failure after half an hour. If the route
   * answered before, every mailbox must have failed, or the failure is a 429. Where all of them already have the alert
   * that they are not judged, the account does not wait for the half hour.
   */
  failure(): ReadFailure | null {
    const now = this.#parts.world.clock.now();
    for (const [route, failure] of this.#of) {
      const lasts = failure.times > 1 && elapsedMs(failure.since, now) >= blindAfterMs;
      if (!this.#read.has(route) && (failure.isRefusal || lasts)) return failure;
      if (lasts && failure.isThrottled) return failure;
      // One mailbox may fail for long before another is polled: polls may be hours apart.
      const isForAll = this.#areAll(({ id }) => failure.mailboxes.has(id));
      if (isForAll && (lasts || this.#isStale())) return failure;
    }
    return this.#blindness(now);
  }

  /**
   * Waits until each mailbox was judged again, as a single answer may be a mistake. A known alert says since when. A
   * mailbox without a warm-up says nothing about the others, but an account of such mailboxes alone is not guarded.
   */
  #blindness(now: EpochMs): ReadFailure | null {
    const { account, fleet } = this.#parts;
    const all = [...fleet.mailboxesOf(account)].map(({ verdict }) => verdict);
    const isBare = all.every((verdict) => verdict?.answer.reason === 'no_warmup');
    const verdicts = all.flatMap((verdict) => (verdict && (isBare || !isIdle(verdict.answer.reason)) ? [verdict] : []));
    const [first] = verdicts;
    if (!first || !(isBare || verdicts.every(({ answer }) => isBlind(answer.reason)))) {
      this.#blindSince = null;
      return null;
    }
    const known = fleet.alert(fingerprintOf(accountSubject('not_guarded', account, 'nothing judged')));
    const since = this.#blindSince ?? known?.since ?? now;
    this.#blindSince = since;
    const lasts = elapsedMs(since, now) >= blindAfterMs && verdicts.every(({ at }) => at > since);
    return lasts ? { since, detail: explainVerdict(first.answer) } : null;
  }

  #isStale(): boolean {
    const { fleet } = this.#parts;
    return this.#areAll((mailbox) => fleet.isStale(mailbox));
  }

  #areAll(isSo: (mailbox: MailboxState) => boolean): boolean {
    const { account, fleet } = this.#parts;
    const mailboxes = [...fleet.mailboxesOf(account)].filter(({ verdict }) => verdict?.answer.reason !== 'no_warmup');
    return mailboxes.length > 0 && mailboxes.every(isSo);
  }
}
