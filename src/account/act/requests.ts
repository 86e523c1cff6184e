// Requests of an action, and its conditions by the present state: the look before its POST, the POST of an open intent,
// and the read-backs after it.
import type { ApiClient } from '../../api/client.ts';
import type { Failure } from '../../api/http/failure.ts';
import type { Lane } from '../../api/poll/lane.ts';
import type { Poll } from '../../api/poll/poll.ts';
import { type Action, alreadySo, type OpenAction, type Unsuccessful } from '../../core/action.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { StatusWords } from '../../core/guard/run-state.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { StoreTrouble } from '../../core/store-failure.ts';
import { elapsedMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import type { Observation } from '../record/observe.ts';
import { aboveMaximum, changedSince, mayTakeBack } from '../record/persons.ts';
import { actionKind, isActive, type Settlement, showsChange } from '../record/plan.ts';
import type { Recorder } from '../record/recorder.ts';

export interface ActorRooms {
  readonly world: World;
  readonly api: ApiClient;
  readonly lane: Lane;
  readonly fleet: Fleet;
  readonly recorder: Recorder;
  readonly store: { readonly trouble: StoreTrouble };
}

export interface AccountLease {
  readonly holds: () => boolean;
  /** True if a POST that is sent now ends before another process can own the account. */
  readonly mayPost: () => boolean;
  /** Wait before the open intent of a dead process is looked at, as its POST may be in progress, milliseconds. */
  readonly openWaitMs: number;
}

export interface ActorOptions {
  readonly account: string;
  readonly lease: AccountLease;
  readonly words: StatusWords;
  readonly daysFor: (mailbox: MailboxState) => number;
  readonly onWritten: (write: { readonly mailboxId: string; readonly accepted: boolean }) => void;
  readonly onFailure: (failure: Failure, poll: Poll) => void;
  /** Called when a change was read back after a newer answer had been recorded: the mailbox has to be read again. */
  readonly onOvertaken: (mailboxId: string) => void;
}

/** Deadline for sending a person's change. A late change is dropped, and the command reports it. */
export const personWaitsMs = minuteMs;
/** Maximum age of the look before a POST. If the slot comes later, the mailbox is read again. */
const lookKeepsMs = 2 * minuteMs;

/** Waits before the read-backs after a POST. The change may show seconds later (docs/faults.md H8). */
const readBackWaitsMs: readonly number[] = [0, 1, 2, 4, 8].map((seconds) => seconds * secondMs);
const notSent = 'it was too late or no longer needed when its turn came';

const lookWaitsMs: readonly number[] = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * secondMs);
/** Maximum age of the statistics behind a write. Older statistics are read again first. */
const statsMaxAgeMs = hourMs;

export class ActionRequests {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;

  constructor(rooms: ActorRooms, options: ActorOptions) {
    this.#rooms = rooms;
    this.#options = options;
  }

  /** Returns the action that needs work, or null. A failed action without a further attempt needs none. */
  pending(mailboxId: string): Action | null {
    const action = this.#mailbox(mailboxId)?.action ?? null;
    if (!isActive(action)) return null;
    const exhausted = (action.state === 'unconfirmed' || action.state === 'refused') && action.nextTryAt === null;
    return exhausted ? null : action;
  }

  isCurrent({ id, mailboxId }: Action): boolean {
    return this.pending(mailboxId)?.id === id;
  }

  /** Returns true if a person's change is past its deadline: the person has had an answer by then. */
  isLate({ by, plannedAt }: Action): boolean {
    return Boolean(by) && this.#rooms.world.clock.now() - plannedAt > personWaitsMs;
  }

  /**
   * Returns the reason not to send a person's change by the last look, or null. The guard's own actions follow a
   * verdict on the same answer.
   */
  obstacle(action: Action): string | null {
    const mailbox = this.#mailbox(action.mailboxId);
    if (!action.by || !mailbox) return null;
    if (mailbox.warmup && showsChange(action, mailbox.warmup.answer, this.#options.words)) return alreadySo;
    return mayTakeBack(action, mailbox) ? aboveMaximum(action, mailbox) : changedSince;
  }

  #isWanted(action: Action): boolean {
    const verdict = this.#mailbox(action.mailboxId)?.verdict?.answer;
    return verdict !== undefined && this.isCurrent(action) && actionKind(verdict) === action.kind;
  }

  /**
   * `lookedAt`: monotonic milliseconds. The slot of the budget may come long after the look, for example after a 429:
   * by then the look may be old, or another answer may have changed the verdict.
   */
  mayStillSend(action: Action, lookedAt: number): boolean {
    const age = this.#rooms.world.clock.monotonic() - lookedAt;
    return age <= lookKeepsMs && this.isCurrent(action) && !this.isLate(action) && this.#standsAsSeen(action);
  }

  #standsAsSeen(action: Action): boolean {
    return action.by ? this.obstacle(action) === null : this.#isWanted(action);
  }

  #mailbox(mailboxId: string): MailboxState | undefined {
    return this.#rooms.fleet.mailbox(this.#options.account, mailboxId);
  }

  /** Sends the POST at most once, in the caller's slot. Returns null if the daemon stops or the mailbox has left. */
  async send(open: OpenAction, signal: AbortSignal): Promise<Settlement | null> {
    // The mailbox has left, or the open intent is looked at after the restart: nothing was sent.
    if (signal.aborted || !this.isCurrent(open)) return null;
    // A write stop or another answer may have come while the intent was recorded.
    if (!this.#rooms.recorder.maySend(open) || !this.#standsAsSeen(open)) return { kind: 'not_sent', detail: notSent };
    const sent = await this.#request(open);
    if (sent.ok) {
      this.#written(open, true);
      return this.readBack(open, 'the API accepted it, but does not show the change', signal);
    }
    const { kind, detail } = sent.failure;
    if (kind === 'held_back') return { kind: 'not_sent', detail: notSent };
    logAction(this.#rooms.world.log, open, `the POST failed: ${detail}`);
    // The change may or may not have been made after a 5xx or a lost answer (docs/faults.md H7, H9).
    if (kind === 'unavailable' || kind === 'malformed') return this.readBack(open, detail, signal);
    return this.#afterNo(open, sent.failure, signal);
  }

  /**
   * The API may report failure although the change was applied (docs/faults.md O4), so the first answered look decides.
   * After a 429 that look waits until requests are allowed again, and the intent stays open.
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

  #request({ kind, mailboxId, targetMode, targetLimit, targetSettings }: Action) {
    const { api } = this.#rooms;
    // The request may wait for a connection before its first byte, and the whole process may be suspended meanwhile.
    const { mayPost } = this.#options.lease;
    if (targetLimit !== undefined) return api.write(mailboxId, { limit: targetLimit }, mayPost);
    if (targetSettings !== undefined) return api.write(mailboxId, { settings: targetSettings }, mayPost);
    if (targetMode !== null) return api.write(mailboxId, { mode: targetMode }, mayPost);
    return api.write(mailboxId, kind === 'resume' ? 'resume' : 'pause', mayPost);
  }

  /**
   * Reads back until the change shows. With `refusal`, the first answer settles: confirmed, or else `refusal`. Returns
   * null if the daemon stops or the action has ended.
   */
  async readBack(
    open: OpenAction,
    otherwise: string,
    signal: AbortSignal,
    refusal: Unsuccessful | null = null,
  ): Promise<Settlement | null> {
    const { api, lane, recorder, world } = this.#rooms;
    for (const wait of readBackWaitsMs) {
      await world.clock.sleep(wait, signal);
      await lane.actionSlot(signal);
      if (signal.aborted) return null;
      const askPlace = recorder.asking();
      const look = await api.warmup(open.mailboxId);
      if (!look.ok) this.#options.onFailure(look.failure, { route: 'warmup', mailboxId: open.mailboxId });
      else if (showsChange(open, look.value.answer, this.#options.words))
        return { kind: 'confirmed', observed: look.value, askPlace };
      if (!this.isCurrent(open)) return null;
      if (look.ok && refusal) return refusal;
    }
    return { kind: 'unconfirmed', detail: otherwise };
  }

  /** Asks the API again until it answers; the answer is judged like any other. Returns true if it still wants the action. */
  async lookAgain(action: Action, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#rooms.world;
    for (let tries = 0; !signal.aborted && this.isCurrent(action) && !this.isLate(action); tries += 1) {
      if (await this.#read(action, 'warmup', signal)) {
        if (!this.isCurrent(action)) return false;
        if (action.by) return true;
        if (this.#knowsStats(action) || (await this.#read(action, 'stats', signal))) return this.#isWanted(action);
      }
      if (signal.aborted) return false;
      await clock.sleep(lookWaitsMs[Math.min(tries, lookWaitsMs.length - 1)] ?? minuteMs, signal);
    }
    return false;
  }

  /** Makes one request. Returns true if its answer, or a newer one, was recorded. */
  async #read({ mailboxId }: Action, route: 'warmup' | 'stats', signal: AbortSignal): Promise<boolean> {
    const { api, lane, recorder } = this.#rooms;
    await lane.actionSlot(signal, route === 'stats' ? 'stats' : 'look');
    if (signal.aborted) return false;
    const askPlace = recorder.asking();
    const mailbox = this.#mailbox(mailboxId);
    const days = mailbox && this.#options.daysFor(mailbox);
    const look = route === 'warmup' ? await api.warmup(mailboxId) : await api.stats(mailboxId, days);
    if (!look.ok) {
      this.#options.onFailure(look.failure, { route, mailboxId });
      return false;
    }
    const observation = { route, observed: look.value } as Observation;
    const taken = await recorder.observed(mailboxId, observation, askPlace);
    return taken !== 'outdated' && taken !== 'ended';
  }

  #knowsStats({ mailboxId }: Action): boolean {
    const { recorder, world } = this.#rooms;
    const at = this.#mailbox(mailboxId)?.stats?.at;
    if (at === undefined || !recorder.hasRead(mailboxId, 'stats')) return false;
    return elapsedMs(at, world.clock.now()) <= statsMaxAgeMs;
  }
}

export function logAction(log: World['log'], action: Action, text: string): void {
  const { id, account, email, kind, by, state, attempts, detail } = action;
  const operator = by?.name ?? null;
  const counts = { sent: action.verdict.sent, bounced: action.verdict.bounced, reason: action.verdict.reason };
  log.warn({ account, mailbox: email, action: id, kind, operator, state, attempts, detail, ...counts }, text);
}
