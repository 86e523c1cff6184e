// Answers that move something are committed at once, and with those that came meanwhile: in a storm one transaction takes a
// piece of it. Until then later answers are judged on them, and nobody else sees them.
import type { Alert, AlertChanges } from '../../core/alert.ts';
import { type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { minuteMs } from '../../core/time.ts';
import type { TickRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { nextTurn, type World } from '../../world/world.ts';
import type { Turns } from './turns.ts';

/** So many answers go into one transaction at most. */
const answersAPiece = 100;
/** What follows from so many is done in the turn of their commit. */
const answersShownWithIt = 10;
/** So long after a failure each answer is committed by itself: one that can't be written keeps no other from it. */
const aloneAfterFailureMs = minuteMs;

export interface MovingCommitRooms {
  readonly world: Pick<World, 'clock'>;
  readonly store: Store;
  readonly turns: Turns;
}

/** What becomes of an answer: one of the two is called, within a turn. */
export interface MovingOutcome {
  /** `mailbox`: as it is believed to be with all that was committed beside it. */
  readonly committed: (mailbox: MailboxState) => void;
  /** Nothing of it was, and it is no longer believed. The newest comes first. */
  readonly lost: () => void;
}

interface Waiting extends MovingOutcome {
  readonly key: string;
  /** null: nothing is to be written of it, but it rests on what waits. */
  readonly record: TickRecord | null;
  readonly settled: PromiseWithResolvers<void>;
}

/** One for all accounts of a daemon. `stage` and `commit` are to be called within a turn. */
export class MovingCommit {
  readonly #rooms: MovingCommitRooms;
  #waiting: Waiting[] = [];
  readonly #mailboxes = new Map<string, MailboxState>();
  /** null: it has ended. */
  readonly #alerts = new Map<string, Alert | null>();
  #aloneUntil = Number.NEGATIVE_INFINITY;

  constructor(rooms: MovingCommitRooms) {
    this.#rooms = rooms;
    // Whatever else is decided or done rests on what is committed.
    rooms.turns.before(() => this.commit());
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether answers are to be committed one by one now. */
  get isAlone(): boolean {
    return this.#rooms.world.clock.monotonic() < this.#aloneUntil;
  }

  /** As it is believed to be with what waits; undefined when nothing of it waits. */
  mailbox(account: string, id: string): MailboxState | undefined {
    // Every answer asks, and mostly nothing waits.
    return this.isEmpty ? undefined : this.#mailboxes.get(mailboxKey(account, id));
  }

  /** As what waits leaves it; null: ended. undefined: nothing of it waits. */
  alert(fingerprint: string): Alert | null | undefined {
    return this.#alerts.get(fingerprint);
  }

  /** Resolves when the answer is committed; rejects when the store did not take it. */
  stage(mailbox: MailboxState, record: TickRecord | null, outcome: MovingOutcome): Promise<void> {
    const key = mailboxKey(mailbox.account, mailbox.id);
    const settled = Promise.withResolvers<void>();
    this.#waiting.push({ key, record, settled, ...outcome });
    this.#mailboxes.set(key, mailbox);
    if (record) this.#believe(record.alerts);
    if (this.#waiting.length === 1) void this.#commitSoon();
    return settled.promise;
  }

  /** Commits what waits. Never rejects: what the store does not take is lost. */
  async commit(): Promise<void> {
    if (this.isEmpty) return;
    const all = this.#waiting;
    let failure: { readonly error: unknown } | null = null;
    try {
      await this.#rooms.store.recordTicks(all.flatMap(({ record }) => record ?? []));
    } catch (error) {
      failure = { error };
      this.#aloneUntil = this.#rooms.world.clock.monotonic() + aloneAfterFailureMs;
    }
    // COMMIT, and what is shown of many answers, have a turn of the event loop each.
    if (all.length > answersShownWithIt) await this.#rooms.world.clock.busy(() => nextTurn());
    const mailboxes = new Map(this.#mailboxes);
    this.#waiting = [];
    this.#mailboxes.clear();
    this.#alerts.clear();
    if (failure) for (const { lost } of all.toReversed()) lost();
    for (const { key, committed, settled } of all) {
      const mailbox = mailboxes.get(key);
      if (failure) settled.reject(failure.error);
      else if (mailbox) committed(mailbox);
      settled.resolve();
    }
  }

  /** Whether the piece is full: then it is to be committed before anything is added. */
  get isFull(): boolean {
    return this.#waiting.length >= answersAPiece;
  }

  /** What has arrived at the process by now, or is decided already, goes with it. */
  async #commitSoon(): Promise<void> {
    const { world, turns } = this.#rooms;
    await world.clock.busy(() => nextTurn());
    await turns.take(() => this.commit());
  }

  #believe({ changed, dropped }: AlertChanges): void {
    for (const alert of changed) this.#alerts.set(alert.fingerprint, alert.status === 'resolved' ? null : alert);
    for (const fingerprint of dropped) this.#alerts.set(fingerprint, null);
  }
}
