// How an account fares: whether its requests succeed, its key is accepted and may write. Said in the log on change.
import type { Fleet } from '../fleet/fleet.ts';
import type { Budget } from '../mailbox-api/budget.ts';
import type { Failure } from '../mailbox-api/failure.ts';
import type { AccountState } from '../model/mailbox.ts';
import { hourMs } from '../model/time.ts';
import type { World } from '../world.ts';

/** A key without write permission is tried again after this. */
const readOnlyForMs = hourMs;

export interface AccountHealthParts {
  readonly account: string;
  readonly world: World;
  readonly fleet: Fleet;
  readonly budget: Budget;
  /** Polls that are due, and since when the oldest is, on the monotonic clock. */
  readonly backlog: (now: number) => { readonly length: number; readonly oldestDueAt: number | null };
}

export class AccountHealth {
  readonly #parts: AccountHealthParts;
  #state: AccountState;
  /** Monotonic time until which the key counts as read-only. */
  #readOnlyUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: AccountHealthParts) {
    this.#parts = parts;
    this.#state = {
      name: parts.account,
      requestsPerMinute: parts.budget.allowedPerMinute,
      lastSuccessAt: null,
      failingSince: null,
      lastFailure: null,
      keyRejected: false,
      writable: true,
      listed: false,
      health: 'unknown',
      queueLength: 0,
      oldestDueAt: null,
    };
  }

  get keyRejected(): boolean {
    return this.#state.keyRejected;
  }

  /** A whole mailbox list was read at least once. */
  get listed(): boolean {
    return this.#state.listed;
  }

  get writable(): boolean {
    return this.#parts.world.clock.monotonic() >= this.#readOnlyUntil;
  }

  /** What GET /v1/health said; null when it failed. One signal among others (FAULTS.md H21). */
  healthSaid(status: string | null): void {
    this.#state = { ...this.#state, health: status === null ? 'unknown' : status === 'ok' ? 'ok' : 'other' };
  }

  listRead(): void {
    this.#state = { ...this.#state, listed: true };
    this.publish();
  }

  /** A request with the key succeeded. True when the account was failing before. */
  succeeded(): boolean {
    const was = this.#state;
    const { clock, log } = this.#parts.world;
    this.#state = { ...was, lastSuccessAt: clock.now(), failingSince: null, lastFailure: null, keyRejected: false };
    if (was.failingSince === null) return false;
    log.info({ account: was.name }, 'the mailbox API answers again');
    this.publish();
    return true;
  }

  /** Only failures that say something about the whole account count: a mailbox that is missing is an answer. */
  failed(failure: Failure): void {
    const was = this.#state;
    if (was.listed && (failure.kind === 'missing' || failure.kind === 'refused')) return;
    const { clock, log } = this.#parts.world;
    const said = failureText(failure);
    this.#state = {
      ...was,
      failingSince: was.failingSince ?? clock.now(),
      lastFailure: said,
      keyRejected: was.keyRejected || failure.kind === 'unauthorized',
    };
    if (was.lastFailure === said) return;
    log.error({ account: was.name, failure: failure.kind, status: failure.status }, said);
    this.publish();
  }

  /** A POST was refused for want of permission, or one succeeded. */
  wrote(writable: boolean): void {
    const { clock } = this.#parts.world;
    this.#readOnlyUntil = writable ? Number.NEGATIVE_INFINITY : clock.monotonic() + readOnlyForMs;
    this.publish();
  }

  /** Shows the state in the picture. */
  publish(): void {
    const { world, budget, backlog, fleet } = this.#parts;
    const now = world.clock.monotonic();
    const { length, oldestDueAt } = backlog(now);
    this.#state = {
      ...this.#state,
      requestsPerMinute: budget.allowedPerMinute,
      writable: this.writable,
      queueLength: length,
      oldestDueAt: oldestDueAt === null ? null : world.clock.now() - (now - oldestDueAt),
    };
    fleet.putAccount(this.#state);
  }
}

function failureText(failure: Failure): string {
  switch (failure.kind) {
    case 'unauthorized':
      return `the API refuses the key (${failure.detail}); check the api_key of this account`;
    case 'missing':
      return `the API does not know the mailbox list (${failure.detail}); check base_url`;
    case 'malformed':
      return `the API's answer can't be read (${failure.detail}); check base_url`;
    case 'refused':
      return `the API refuses to answer (${failure.detail}); check the plan and the key's read permission`;
    case 'throttled':
      return `the API says that there are too many requests (${failure.detail}); check plan or requests_per_minute`;
    case 'unavailable':
      return `the API does not answer (${failure.detail})`;
  }
}
