// Acting on one account: look, intent, POST, read back, try again. POLICY.md, "Acting"; DESIGN.md section 1, promises 1 to 4.

import type { Fleet } from '../fleet/fleet.ts';
import type { StatusWords } from '../guard/run-state.ts';
import type { Failure } from '../http/failure.ts';
import type { MailboxApi } from '../mailbox-api/client.ts';
import type { Action, OpenAction } from '../model/action.ts';
import { type EpochMs, hourMs, minuteMs, secondMs } from '../model/time.ts';
import type { Lane } from '../poll/lane.ts';
import type { Poll } from '../poll/poll.ts';
import type { Observation } from '../record/observe.ts';
import { changedByOthers, isClaimed } from '../record/persons.ts';
import { actionKind, isActive, type Settlement, showsChange } from '../record/plan.ts';
import type { Recorder } from '../record/recorder.ts';
import type { World } from '../world.ts';

/** Waits between the looks after a POST; the change may show only seconds later (FAULTS.md H8). */
const readBackWaitsMs: readonly number[] = [0, 1, 2, 4, 8].map((seconds) => seconds * secondMs);
/** Waits between looks that fail before the POST, the last one repeated. */
const lookWaitsMs: readonly number[] = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * secondMs);
/** Nothing is written on statistics that are older than this: they are read again first. */
const statsMaxAgeMs = hourMs;
/** A person's change that could not be sent within this is dropped, and the person told. */
const personWaitsMs = minuteMs;
/** What is said of a change that was there before anything was sent. */
export const alreadySo = 'it is so already';
/** After an error of our own (the store, say) the action is taken up again after this. */
const ownFaultWaitMs = minuteMs;
/** An intent that got its turn in the budget later than this is not sent on what was seen before: the mailbox is looked at again. */
const intentKeepsMs = 2 * minuteMs;
/** What is said of an intent whose POST did not leave. */
const notSent = 'nothing was sent: by its turn in the budget it was too late, or no longer wanted';
/** What is said of a person's change that the budget had no turn for. */
const notInTime = 'the API did not let it through in time: nothing was sent';
/** Who wraps up waits no longer than this for what was sent: a POST, its looks and their slots. */
const wrapUpDeadlineMs = 2 * minuteMs;

export interface ActorRooms {
  readonly world: World;
  readonly api: MailboxApi;
  readonly lane: Lane;
  readonly fleet: Fleet;
  readonly recorder: Recorder;
}

export interface ActorOptions {
  readonly account: string;
  readonly words: StatusWords;
  /** A POST was refused for want of permission, or one succeeded. */
  readonly onWritable: (writable: boolean) => void;
  /** A look failed: that may say something about the account. */
  readonly onFailure: (failure: Failure, poll: Poll) => void;
  /** A change was read back, but an answer that was asked for after that was taken in before: it has to be asked again. */
  readonly onOvertaken: (mailboxId: string) => void;
}

/** Works on the actions that verdicts plan: one at a time a mailbox, as many mailboxes as there are. */
export class Actor {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;
  readonly #working = new Map<string, Promise<void>>();
  /** Intents that are being sent and read back. */
  readonly #sending = new Set<Promise<void>>();
  #wrappingUp = false;

  constructor(rooms: ActorRooms, options: ActorOptions) {
    this.#rooms = rooms;
    this.#options = options;
  }

  /** Takes up the mailbox's action, unless that is being done already or there is none. */
  attend(mailboxId: string, signal: AbortSignal): void {
    if (this.#wrappingUp || this.#working.has(mailboxId) || !this.#pending(mailboxId)) return;
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
    if (this.#wrappingUp) await recorder.dropPlanned(action, 'its account is being taken over: ask again in a minute');
  }

  /** Works on an action for so long; true when nothing more is to be done about it, or not here. */
  async #attendFor(action: Action, waitMs: number, signal: AbortSignal): Promise<boolean> {
    const waiting = new AbortController();
    let late = false;
    const lateness = this.#rooms.world.clock.sleep(waitMs, waiting.signal).then(() => {
      late = true;
    });
    const over = () => !this.#isCurrent(action) || signal.aborted || this.#wrappingUp;
    while (!over() && !late) {
      this.attend(action.mailboxId, signal);
      await Promise.race([this.#working.get(action.mailboxId), lateness]);
    }
    waiting.abort();
    return over();
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

  /** The action that still has something to be done; a failed one without a further try has not. */
  #pending(mailboxId: string): Action | null {
    const action = this.#rooms.fleet.mailbox(this.#options.account, mailboxId)?.action ?? null;
    if (!isActive(action)) return null;
    const exhausted = (action.state === 'unconfirmed' || action.state === 'refused') && action.nextTryAt === null;
    return exhausted ? null : action;
  }

  async #work(mailboxId: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#rooms.world;
    const first = this.#pending(mailboxId);
    for (let action = first; action && !signal.aborted; action = this.#pending(mailboxId)) {
      if (action.id !== first?.id) return;
      if (this.#wrappingUp && action.state !== 'open') return;
      try {
        await this.#step(action, signal);
      } catch (error) {
        log.error(
          { account: action.account, mailbox: action.email, action: action.id, err: error },
          'an action stopped',
        );
        await clock.sleep(ownFaultWaitMs, signal);
      }
    }
  }

  /** One try of an action, or the look for an intent that a restart found open. */
  async #step(action: Action, signal: AbortSignal): Promise<void> {
    const { clock } = this.#rooms.world;
    if (action.state === 'open') return this.#lookFor(action, signal);
    if (action.nextTryAt !== null && action.nextTryAt > clock.now()) {
      await this.#sleepUntil(action, action.nextTryAt, signal);
      return;
    }
    if (this.#isLate(action)) {
      await this.#rooms.recorder.dropPlanned(action, notInTime);
      return;
    }
    if (!(await this.#looked(action, signal))) {
      await clock.sleep(secondMs, signal);
      return;
    }
    if (this.#isSoAlready(action)) {
      await this.#rooms.recorder.dropPlanned(action, alreadySo);
      return;
    }
    if (!this.#isStillOurs(action)) {
      await this.#rooms.recorder.dropPlanned(action, changedByOthers);
      return;
    }
    if (this.#wrappingUp) return;
    const sending = this.#carryOut(action, signal).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    await sending;
  }

  async #lookFor(open: Action, signal: AbortSignal): Promise<void> {
    const detail = 'found open after a restart, and not to be seen';
    const settlement = await this.#readBack(open, detail, signal);
    if (!settlement) return;
    const unseen = settlement.kind === 'unconfirmed';
    await this.#settle(open, unseen ? { kind: 'unseen', detail } : settlement);
  }

  async #carryOut(action: Action, signal: AbortSignal): Promise<void> {
    const open = await this.#rooms.recorder.opened(action.mailboxId, action.id);
    if (!open) return;
    this.#say(open, `sending: ${open.kind}`);
    const settlement = await this.#post(open, signal);
    if (settlement) await this.#settle(open, settlement);
  }

  /** Sleeps in short steps, so that an action that was dropped or confirmed meanwhile ends the wait. */
  async #sleepUntil(action: Action, until: EpochMs, signal: AbortSignal): Promise<void> {
    const { clock } = this.#rooms.world;
    while (!signal.aborted && clock.now() < until && this.#isCurrent(action)) {
      await clock.sleep(Math.min(until - clock.now(), 2 * secondMs), signal);
    }
  }

  /** A person who waits for an answer gets one: their change is not sent much later, unasked. */
  #isLate({ by, plannedAt }: Action): boolean {
    return Boolean(by) && this.#rooms.world.clock.now() - plannedAt > personWaitsMs;
  }

  /** What a person asks for may be there already; what the guard wants is judged on the same look. */
  #isSoAlready(action: Action): boolean {
    const warmup = this.#rooms.fleet.mailbox(action.account, action.mailboxId)?.warmup;
    return Boolean(action.by) && Boolean(warmup && showsChange(action, warmup.answer, this.#options.words));
  }

  #isCurrent(action: Action): boolean {
    return this.#pending(action.mailboxId)?.id === action.id;
  }

  /**
   * The look before a POST. Its answer is judged like any other, so a mailbox that changed since the verdict is judged
   * again. True when the action is still wanted on what was just seen.
   */
  async #looked(action: Action, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#rooms.world;
    for (let tries = 0; !signal.aborted && this.#isCurrent(action) && !this.#isLate(action); tries += 1) {
      if (await this.#seen(action, 'warmup', signal)) {
        if (!this.#isCurrent(action)) return false;
        if (action.by) return true;
        if (this.#knowsStats(action) || (await this.#seen(action, 'stats', signal))) return this.#isWanted(action);
      }
      if (signal.aborted) return false;
      await clock.sleep(lookWaitsMs[Math.min(tries, lookWaitsMs.length - 1)] ?? minuteMs, signal);
    }
    return false;
  }

  /** One request of a look; true when its answer, or a newer one, was taken in. */
  async #seen({ mailboxId }: Action, route: 'warmup' | 'stats', signal: AbortSignal): Promise<boolean> {
    const { api, lane, recorder } = this.#rooms;
    await lane.actionSlot(signal);
    if (signal.aborted) return false;
    const askedAt = recorder.asking();
    const look = route === 'warmup' ? await api.warmup(mailboxId) : await api.stats(mailboxId);
    if (!look.ok) {
      this.#options.onFailure(look.failure, { route, mailboxId });
      return false;
    }
    const observation = { route, observed: look.value } as Observation;
    return (await recorder.observed(mailboxId, observation, askedAt)) !== 'outdated';
  }

  /** Statistics that this process read, not too long ago. */
  #knowsStats({ account, mailboxId }: Action): boolean {
    const { fleet, recorder, world } = this.#rooms;
    const at = fleet.mailbox(account, mailboxId)?.stats?.at;
    return at !== undefined && recorder.hasRead(mailboxId, 'stats') && world.clock.now() - at <= statsMaxAgeMs;
  }

  /**
   * The turn of an open intent may come long after it, with a 429 in between: by then what was seen is old, somebody may
   * have said stop, or an answer that was under way may have changed the verdict.
   */
  #stillStands(open: OpenAction): boolean {
    const age = this.#rooms.world.clock.now() - open.openedAt;
    if (age > intentKeepsMs || !this.#rooms.recorder.maySend(open)) return false;
    return open.by ? !this.#isSoAlready(open) && this.#isStillOurs(open) : this.#isWanted(open);
  }

  /** What is taken back must be ours until it is sent: others may have changed it since it was asked for. */
  #isStillOurs(action: Action): boolean {
    const mailbox = this.#rooms.fleet.mailbox(action.account, action.mailboxId);
    return action.undoes === undefined || (mailbox !== undefined && isClaimed(action.undoes, mailbox));
  }

  #isWanted(action: Action): boolean {
    const mailbox = this.#rooms.fleet.mailbox(action.account, action.mailboxId);
    const verdict = mailbox?.verdict?.answer;
    return verdict !== undefined && this.#isCurrent(action) && actionKind(verdict) === action.kind;
  }

  async #post(open: OpenAction, signal: AbortSignal): Promise<Settlement | null> {
    await this.#rooms.lane.actionSlot(signal, 'post');
    // Nothing was sent: the open intent is looked at after the restart. Or the mailbox has left.
    if (signal.aborted || !this.#isCurrent(open)) return null;
    if (!this.#stillStands(open)) return { kind: 'not_sent', detail: notSent };
    const sent = await this.#send(open);
    if (sent.ok) {
      this.#options.onWritable(true);
      return this.#readBack(open, 'the API said yes, but the change is not to be seen', signal);
    }
    const { kind, detail } = sent.failure;
    this.#say(open, `the POST failed: ${detail}`);
    // A 5xx or a lost answer says nothing about whether the change was made (FAULTS.md H7, H9).
    if (kind === 'unavailable' || kind === 'malformed') return this.#readBack(open, detail, signal);
    return this.#afterNo(open, sent.failure, signal);
  }

  /**
   * The API said no, but a no may be said of a change that was made (FAULTS.md O14): one look that is answered decides.
   * After a 429 it waits until the API may be asked again; the intent stays open until then.
   */
  async #afterNo(open: Action, { kind, status, detail }: Failure, signal: AbortSignal): Promise<Settlement | null> {
    const no: Settlement = { kind: kind === 'throttled' ? 'throttled' : 'refused', detail };
    const settlement = await this.#readBack(open, detail, signal, no);
    if (settlement === no && status === 403) this.#options.onWritable(false);
    if (settlement?.kind === 'confirmed') this.#options.onWritable(true);
    return settlement;
  }

  #send({ kind, mailboxId, targetMode }: Action) {
    const { api } = this.#rooms;
    if (targetMode !== null) return api.setMode(mailboxId, targetMode);
    return kind === 'resume' ? api.resume(mailboxId) : api.pause(mailboxId);
  }

  /**
   * Looks until the change shows or the deadline has passed; with `no`, until one look is answered, and `no` is what
   * it comes to when that one does not show the change. null when the daemon stops meanwhile.
   */
  async #readBack(
    open: Action,
    otherwise: string,
    signal: AbortSignal,
    no: Settlement | null = null,
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
      if (!this.#isCurrent(open)) return null;
      if (look.ok && no) return no;
    }
    return { kind: 'unconfirmed', detail: otherwise };
  }

  async #settle(action: Action, settlement: Settlement): Promise<void> {
    const overtaken = await this.#rooms.recorder.settled(action.mailboxId, action.id, settlement);
    if (overtaken) this.#options.onOvertaken(action.mailboxId);
    const now = this.#rooms.fleet.mailbox(action.account, action.mailboxId)?.action;
    if (now?.id === action.id) this.#say(now, `${now.kind}: ${now.state}`);
  }

  #say(action: Action, text: string): void {
    const { id, account, email, kind, by, state, attempts, detail } = action;
    const operator = by?.name ?? null;
    const counts = { sent: action.verdict.sent, bounced: action.verdict.bounced, reason: action.verdict.reason };
    this.#rooms.world.log.warn(
      { account, mailbox: email, action: id, kind, operator, state, attempts, detail, ...counts },
      text,
    );
  }
}
