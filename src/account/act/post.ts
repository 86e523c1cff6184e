// The POST of an open intent, and the looks after it that say what came of it.
import type { Failure } from '../../api/http/failure.ts';
import type { Action, OpenAction } from '../../core/action.ts';
import type { Unsuccessful } from '../../core/action-transition.ts';
import { secondMs } from '../../core/time.ts';
import { type Settlement, showsChange } from '../record/plan.ts';
import { logAction } from './action-log.ts';
import type { Conditions } from './conditions.ts';
import type { ActorOptions, ActorRooms } from './rooms.ts';

/** Waits between the looks after a POST; the change may show only seconds later (docs/faults.md H8). */
const readBackWaitsMs: readonly number[] = [0, 1, 2, 4, 8].map((seconds) => seconds * secondMs);
/** What is said of an intent whose POST did not leave. */
const notSent = 'nothing was sent: when its turn came, it was too late or no longer needed';

export class Post {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;
  readonly #conditions: Conditions;

  constructor(rooms: ActorRooms, options: ActorOptions, conditions: Conditions) {
    this.#rooms = rooms;
    this.#options = options;
    this.#conditions = conditions;
  }

  /**
   * Sends at most once, in the slot that the caller has, and reads back. null: nothing can be said of it, because the
   * daemon stops or the mailbox has left.
   */
  async send(open: OpenAction, signal: AbortSignal): Promise<Settlement | null> {
    // Nothing was sent: the open intent is looked at after the restart. Or the mailbox has left.
    if (signal.aborted || !this.#conditions.isCurrent(open)) return null;
    if (!this.#conditions.maySend(open)) return { kind: 'not_sent', detail: notSent };
    const sent = await this.#request(open);
    if (sent.ok) {
      this.#written(open, true);
      return this.readBack(open, 'the API accepted it, but does not show the change', signal);
    }
    const { kind, detail } = sent.failure;
    if (kind === 'held_back') return { kind: 'not_sent', detail: notSent };
    logAction(this.#rooms.world.log, open, `the POST failed: ${detail}`);
    // A 5xx or a lost answer says nothing about whether the change was made (docs/faults.md H7, H9).
    if (kind === 'unavailable' || kind === 'malformed') return this.readBack(open, detail, signal);
    return this.#afterNo(open, sent.failure, signal);
  }

  /**
   * The API said no, but a no may be said of a change that was made (docs/faults.md O4): one look that is answered decides.
   * After a 429 it waits until the API may be asked again; the intent stays open until then.
   */
  async #afterNo(
    open: OpenAction,
    { kind, status, detail, retryAfterMs }: Failure,
    signal: AbortSignal,
  ): Promise<Settlement | null> {
    const forbidden = status === 403 && { forbidden: true };
    const wait = retryAfterMs !== null && { waitMs: retryAfterMs };
    const no: Unsuccessful = { kind: kind === 'throttled' ? 'throttled' : 'refused', detail, ...forbidden, ...wait };
    const settlement = await this.readBack(open, detail, signal, no);
    if (settlement === no && no.forbidden) this.#written(open, false);
    if (settlement?.kind === 'confirmed') this.#written(open, true);
    return settlement;
  }

  #written({ mailboxId }: OpenAction, accepted: boolean): void {
    this.#options.onWritten({ mailboxId, accepted });
  }

  #request({ kind, mailboxId, targetMode, targetLimit }: Action) {
    const { api } = this.#rooms;
    // Between this and its first byte it may wait for a connection, or the whole process may stand still.
    const { mayPost } = this.#options.lease;
    if (targetLimit !== undefined) return api.setLimit(mailboxId, targetLimit, mayPost);
    if (targetMode !== null) return api.setMode(mailboxId, targetMode, mayPost);
    return kind === 'resume' ? api.resume(mailboxId, mayPost) : api.pause(mailboxId, mayPost);
  }

  /**
   * Looks until the change shows or the deadline has passed; with `no`, until one look is answered, and `no` is what
   * it comes to when that one does not show the change. null when the daemon stops meanwhile.
   */
  async readBack(
    open: OpenAction,
    otherwise: string,
    signal: AbortSignal,
    no: Unsuccessful | null = null,
  ): Promise<Settlement | null> {
    const { api, lane, recorder, world } = this.#rooms;
    for (const wait of readBackWaitsMs) {
      await world.clock.sleep(wait, signal);
      await lane.actionSlot(signal);
      if (signal.aborted) return null;
      const askedAt = recorder.asking();
      const look = await api.warmup(open.mailboxId);
      if (!look.ok) this.#options.onFailure(look.failure, { route: 'warmup', mailboxId: open.mailboxId });
      else if (showsChange(open, look.value.answer, this.#options.words)) {
        return { kind: 'confirmed', observed: look.value, askedAt };
      }
      if (!this.#conditions.isCurrent(open)) return null;
      if (look.ok && no) return no;
    }
    return { kind: 'unconfirmed', detail: otherwise };
  }
}
