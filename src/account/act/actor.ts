// Acting on one account: look, intent, POST, read back, try again. docs/guard.md, "What happens in a breach".

import { type Action, alreadySo, type OpenAction } from '../../core/action.ts';
import { tryWaitMs } from '../../core/action-transition.ts';
import { type EpochMs, minuteMs, secondMs } from '../../core/time.ts';
import { changedByOthers } from '../record/persons.ts';
import type { Settlement } from '../record/plan.ts';
import { Conditions, personWaitsMs } from './conditions.ts';
import { Look, logAction, Post } from './post.ts';
import type { ActorOptions, ActorRooms } from './rooms.ts';

/** After a step that failed, the action is taken up again after this; sooner, when it was the store and that works again. */
const afterFailureMs = minuteMs;
/** Between two looks at whether the store works again. */
const lookAtStoreMs = 2 * secondMs;
/** What is said of a person's change that the budget had no turn for. */
const notInTime = 'the request budget had no slot in time: nothing was sent';
/** What is said of a person's change whose account this process ceases to guard, for whatever reason. */
const accountStops =
  'nothing was sent: its account was reloaded, or another process became active, meanwhile. Try again in a minute';
/** Who wraps up waits no longer than this for what was sent: a POST, its looks and their slots. */
const wrapUpDeadlineMs = 2 * minuteMs;

/** Works on the actions that verdicts plan: one at a time a mailbox, as many mailboxes as there are. */
export class Actor {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;
  readonly #conditions: Conditions;
  readonly #look: Look;
  readonly #post: Post;
  readonly #working = new Map<string, Promise<void>>();
  /** Intents that are being sent and read back. */
  readonly #sending = new Set<Promise<void>>();
  /** On the monotonic scale. */
  readonly #begunAt: number;
  /** Refused changes from before this moment are due: what refused them may have been mended since. */
  #permittedFrom: EpochMs = Number.NEGATIVE_INFINITY;
  #wrappingUp = false;

  constructor(rooms: ActorRooms, options: ActorOptions) {
    this.#rooms = rooms;
    this.#options = options;
    this.#begunAt = rooms.world.clock.monotonic();
    this.#conditions = new Conditions(rooms, options);
    this.#look = new Look(rooms, options, this.#conditions);
    this.#post = new Post(rooms, options, this.#conditions);
  }

  /** Takes up the mailbox's action, unless that is being done already or there is none. */
  attend(mailboxId: string, signal: AbortSignal): void {
    if (this.#wrappingUp || this.#working.has(mailboxId) || !this.#conditions.pending(mailboxId)) return;
    const done = this.#work(mailboxId, signal).finally(() => {
      this.#working.delete(mailboxId);
      // A verdict that came while the last step ended would otherwise wait for the next one.
      if (!signal.aborted) this.attend(mailboxId, signal);
    });
    this.#working.set(mailboxId, done);
  }

  /**
   * Carries a person's action out. Resolves when nothing more is to be done about it, or when they have waited long
   * enough: what was not sent by then is not sent any more, what was sent goes on being looked for.
   */
  async finish(action: Action, signal: AbortSignal): Promise<void> {
    const { recorder } = this.#rooms;
    if (!(await this.#attendFor(action, personWaitsMs, signal))) await recorder.dropPlanned(action, notInTime);
    await this.#attendFor(action, wrapUpDeadlineMs, signal);
    if (this.#wrappingUp) await recorder.dropPlanned(action, accountStops);
  }

  /** Works on an action for so long; true when nothing more is to be done about it, or not here. */
  async #attendFor(action: Action, waitMs: number, signal: AbortSignal): Promise<boolean> {
    const waiting = new AbortController();
    let late = false;
    const lateness = this.#rooms.world.clock.sleep(waitMs, waiting.signal).then(() => {
      late = true;
    });
    const over = () => !this.#conditions.isCurrent(action) || signal.aborted || this.#wrappingUp;
    while (!over() && !late) {
      this.attend(action.mailboxId, signal);
      await Promise.race([this.#working.get(action.mailboxId), lateness]);
    }
    waiting.abort();
    return over();
  }

  /** Makes actions due that the API refused with 403: a person may have given the key its permission since. */
  tryForbiddenAgain(): void {
    this.#permittedFrom = this.#rooms.world.clock.now();
  }

  /**
   * Opens no intent any more. Ends when those that are open are settled, or at a deadline: what is not settled by then
   * stays open in the store, for whoever comes next. Rejects at that end when an outcome could not be recorded.
   */
  async wrapUp(): Promise<void> {
    this.#wrappingUp = true;
    const waiting = new AbortController();
    const late = this.#rooms.world.clock.sleep(wrapUpDeadlineMs, waiting.signal);
    const outcomes = await Promise.race([Promise.allSettled(this.#sending), late]);
    waiting.abort();
    for (const outcome of outcomes ?? []) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Resolves when nothing is under way any more; the signal given to attend ends it. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#working.values());
  }

  async #work(mailboxId: string, signal: AbortSignal): Promise<void> {
    const { store, world } = this.#rooms;
    const first = this.#conditions.pending(mailboxId);
    for (let action = first; action && !signal.aborted; action = this.#conditions.pending(mailboxId)) {
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

  /** One try of an action, or the look for an intent that a restart found open. */
  async #step(action: Action, signal: AbortSignal): Promise<void> {
    const { clock } = this.#rooms.world;
    if (action.state === 'open') return this.#lookFor(action, signal);
    if (this.#tryWaitMs(action) > 0) return this.#sleepUntilNextTry(action, signal);
    if (this.#conditions.isLate(action)) {
      await this.#rooms.recorder.dropPlanned(action, notInTime);
      return;
    }
    if (!(await this.#look.isStillWanted(action, signal))) {
      await clock.sleep(secondMs, signal);
      return;
    }
    if (this.#conditions.isAlreadySo(action)) {
      await this.#rooms.recorder.dropPlanned(action, alreadySo);
      return;
    }
    if (!this.#conditions.isStillOurs(action)) {
      await this.#rooms.recorder.dropPlanned(action, changedByOthers);
      return;
    }
    const tooMuch = this.#conditions.aboveMaximum(action);
    if (tooMuch !== null) {
      await this.#rooms.recorder.dropPlanned(action, tooMuch);
      return;
    }
    const lookedAt = clock.monotonic();
    await this.#rooms.lane.actionSlot(signal, 'post');
    // What no longer stands is looked at again, which costs this slot.
    if (signal.aborted || this.#wrappingUp || !this.#conditions.isSeasonable(action, lookedAt)) return;
    const sending = this.#carryOut(action, signal).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    await sending;
  }

  async #lookFor(open: OpenAction, signal: AbortSignal): Promise<void> {
    // A POST of the process before may be under way.
    const { clock } = this.#rooms.world;
    const { openWaitMs } = this.#options.lease;
    await clock.sleep(this.#begunAt + openWaitMs - clock.monotonic(), signal);
    const detail = 'it was in progress when Warmwarden restarted, and the API does not show the change';
    const settlement = await this.#post.readBack(open, detail, signal);
    if (!settlement) return;
    const unseen = settlement.kind === 'unconfirmed';
    await this.#settle(open, unseen ? { kind: 'unseen', detail, mayComeLate: openWaitMs > 0 } : settlement);
  }

  async #carryOut(action: Action, signal: AbortSignal): Promise<void> {
    const open = await this.#rooms.recorder.opened(action.mailboxId, action.id);
    if (!open) return;
    logAction(this.#rooms.world.log, open, `sending: ${open.kind}`);
    const settlement = await this.#post.send(open, signal);
    if (settlement) await this.#settle(open, settlement);
  }

  /** Sleeps in short steps, so that an action that was dropped or confirmed meanwhile ends the wait. */
  async #sleepUntilNextTry(action: Action, signal: AbortSignal): Promise<void> {
    const { clock } = this.#rooms.world;
    const left = () => this.#tryWaitMs(action);
    for (let wait = left(); !signal.aborted && wait > 0 && this.#conditions.isCurrent(action); wait = left()) {
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
