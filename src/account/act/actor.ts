// Acting on one account: read, intent, POST, read back, retry. docs/guard.md, "What happens on a breach".

import { type Action, type OpenAction, tryWaitMs } from '../../core/action.ts';
import { type EpochMs, minuteMs, secondMs } from '../../core/time.ts';
import { endsWithin } from '../../world/world.ts';
import type { Settlement } from '../record/plan.ts';
import { ActionRequests, type ActorOptions, type ActorRooms, logAction, personWaitsMs } from './requests.ts';

/** Wait before a failed step is retried. After a failure of the store, the retry starts once the store works again. */
const afterFailureMs = minuteMs;
const lookAtStoreMs = 10 * secondMs;
const notInTime = 'it could not be sent within a minute: no request was free, or the mailbox could not be read first';
const lateText = ({ detail }: Action) => (detail === null ? notInTime : `it was not done within a minute: ${detail}`);
const accountStops =
  'nothing was sent: its account was reloaded, or another process became active, meanwhile. Try again in a minute';
/** Deadline for `wrapUp`. It covers a POST, its read-backs and their slots. */
const wrapUpDeadlineMs = 2 * minuteMs;

/** Carries out planned actions: one at a time for each mailbox, any number of mailboxes at once. */
export class Actor {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;
  readonly #requests: ActionRequests;
  readonly #working = new Map<string, Promise<void>>();
  /** Intents that are being sent or read back. */
  readonly #sending = new Set<Promise<void>>();
  readonly #begunAt: number;
  /** Changes that were refused before this time may be retried: the cause of the refusal may be resolved. */
  #permittedFrom: EpochMs = Number.NEGATIVE_INFINITY;
  #wrappingUp = false;

  constructor(rooms: ActorRooms, options: ActorOptions) {
    this.#rooms = rooms;
    this.#options = options;
    this.#begunAt = rooms.world.clock.monotonic();
    this.#requests = new ActionRequests(rooms, options);
  }

  attend(mailboxId: string, signal: AbortSignal): void {
    if (this.#wrappingUp || this.#working.has(mailboxId) || !this.#requests.pending(mailboxId)) return;
    const done = this.#work(mailboxId, signal).finally(() => {
      this.#working.delete(mailboxId);
      // Handles a verdict that came while the last step ended. It would otherwise wait for the next verdict.
      if (!signal.aborted) this.attend(mailboxId, signal);
    });
    this.#working.set(mailboxId, done);
  }

  /**
   * Carries out a person's action. Resolves when the action needs no more work, or at a deadline: if nothing was sent
   * by then, the action is dropped; if a POST was sent, the read-backs continue.
   */
  async finish(action: Action, signal: AbortSignal): Promise<void> {
    const { recorder } = this.#rooms;
    if (!(await this.#attendFor(action, personWaitsMs, signal)))
      await recorder.dropPlanned(action, lateText(this.#requests.pending(action.mailboxId) ?? action));
    await this.#attendFor(action, wrapUpDeadlineMs, signal);
    if (this.#wrappingUp) await recorder.dropPlanned(action, accountStops);
  }

  /** Works on an action for at most `waitMs`. Returns true if the action needs no more work here. */
  async #attendFor(action: Action, waitMs: number, signal: AbortSignal): Promise<boolean> {
    let isLate = false;
    const over = () => !this.#requests.isCurrent(action) || signal.aborted || this.#wrappingUp;
    const work = async () => {
      while (!over() && !isLate) {
        this.attend(action.mailboxId, signal);
        await this.#working.get(action.mailboxId);
      }
    };
    isLate = !(await endsWithin(work(), waitMs, this.#rooms.world.clock));
    return over();
  }

  /** Makes actions due that the API refused with 403: a person may have granted the permission since. */
  tryForbiddenAgain(): void {
    this.#permittedFrom = this.#rooms.world.clock.now();
  }

  /**
   * Opens no more intents. Resolves when the open ones are settled, or at a deadline: an unsettled intent stays open in
   * the store for the next process. Rejects at the end if an outcome could not be recorded.
   */
  async wrapUp(): Promise<void> {
    this.#wrappingUp = true;
    const settled = Promise.allSettled(this.#sending);
    if (!(await endsWithin(settled, wrapUpDeadlineMs, this.#rooms.world.clock))) return;
    for (const outcome of await settled) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#working.values());
  }

  async #work(mailboxId: string, signal: AbortSignal): Promise<void> {
    const { store, world } = this.#rooms;
    const first = this.#requests.pending(mailboxId);
    for (let action = first; action && !signal.aborted; action = this.#requests.pending(mailboxId)) {
      if (action.id !== first?.id) return;
      if (this.#wrappingUp && action.state !== 'open') return;
      const { failures } = store.trouble;
      try {
        await this.#step(action, signal);
      } catch (error) {
        world.log.error(
          { account: action.account, mailbox: action.email, action: action.id, err: error },
          'an action could not be continued: Warmwarden tries again within a minute',
        );
        await this.#sleepAfterFailure(store.trouble.failures > failures, signal);
      }
    }
  }

  async #sleepAfterFailure(isOfStore: boolean, signal: AbortSignal): Promise<void> {
    const { store, world } = this.#rooms;
    if (!isOfStore) return world.clock.sleep(afterFailureMs, signal);
    for (let slept = 0; slept < afterFailureMs && !signal.aborted; slept += lookAtStoreMs) {
      await world.clock.sleep(lookAtStoreMs, signal);
      if (store.trouble.isOver) return;
    }
  }

  /** Makes one attempt of an action, or looks for the change of an intent that a restart found open. */
  async #step(action: Action, signal: AbortSignal): Promise<void> {
    const { clock } = this.#rooms.world;
    if (action.state === 'open') return this.#lookFor(action, signal);
    if (this.#tryWaitMs(action) > 0) return this.#sleepUntilNextTry(action, signal);
    if (!(await this.#requests.lookAgain(action, signal))) {
      if (this.#requests.isLate(action)) await this.#rooms.recorder.dropPlanned(action, lateText(action));
      else await clock.sleep(secondMs, signal);
      return;
    }
    const obstacle = this.#requests.obstacle(action);
    if (obstacle !== null) {
      await this.#rooms.recorder.dropPlanned(action, obstacle);
      return;
    }
    const lookedAt = clock.monotonic();
    await this.#rooms.lane.actionSlot(signal, 'post');
    // A condition that no longer holds is checked again. That costs this slot.
    if (signal.aborted || this.#wrappingUp || !this.#requests.mayStillSend(action, lookedAt)) return;
    const sending = this.#carryOut(action, signal).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    await sending;
  }

  async #lookFor(open: OpenAction, signal: AbortSignal): Promise<void> {
    // The previous process may still have a POST in progress.
    const { clock } = this.#rooms.world;
    const { openWaitMs } = this.#options.lease;
    await clock.sleep(this.#begunAt + openWaitMs - clock.monotonic(), signal);
    const detail = 'it was in progress when Warmwarden restarted, and the API does not show the change';
    const settlement = await this.#requests.readBack(open, detail, signal);
    if (!settlement) return;
    const unseen = settlement.kind === 'unconfirmed';
    await this.#settle(open, unseen ? { kind: 'unseen', detail } : settlement);
  }

  async #carryOut(action: Action, signal: AbortSignal): Promise<void> {
    const open = await this.#rooms.recorder.opened(action.mailboxId, action.id);
    if (!open) return;
    logAction(this.#rooms.world.log, open, `sending: ${open.kind}`);
    const settlement = await this.#requests.send(open, signal);
    if (settlement) await this.#settle(open, settlement);
  }

  /** Sleeps in short steps, so that a drop or a confirmation of the action ends the wait. */
  async #sleepUntilNextTry(action: Action, signal: AbortSignal): Promise<void> {
    const { clock } = this.#rooms.world;
    const left = () => this.#tryWaitMs(action);
    for (let wait = left(); !signal.aborted && wait > 0 && this.#requests.isCurrent(action); wait = left()) {
      await clock.sleep(Math.min(wait, 2 * secondMs), signal);
    }
  }

  #tryWaitMs(action: Action): number {
    const isPermitted = action.forbidden && (action.settledAt ?? 0) <= this.#permittedFrom;
    return isPermitted ? 0 : tryWaitMs(action, this.#rooms.world.clock.now());
  }

  async #settle(open: OpenAction, settlement: Settlement): Promise<void> {
    const overtaken = await this.#rooms.recorder.settled(open.mailboxId, open.id, settlement);
    if (overtaken) this.#options.onOvertaken(open.mailboxId);
    const { fleet, world } = this.#rooms;
    const mailbox = fleet.mailbox(open.account, open.mailboxId);
    const now = mailbox && fleet.actionsOf(mailbox).find(({ id }) => id === open.id);
    if (now) logAction(world.log, now, `${now.kind}: ${now.state}`);
  }
}
