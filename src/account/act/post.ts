// Requests of an action: the look before its POST, the POST of an open intent, and the read-backs after it.
import type { Failure } from '../../api/http/failure.ts';
import type { Action, OpenAction, Unsuccessful } from '../../core/action.ts';
import { elapsedMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import type { Observation } from '../record/observe.ts';
import { type Settlement, showsChange } from '../record/plan.ts';
import type { ActorOptions, ActorRooms, Conditions } from './conditions.ts';

/** Waits before the read-backs after a POST. The change may show seconds later (docs/faults.md H8). */
const readBackWaitsMs: readonly number[] = [0, 1, 2, 4, 8].map((seconds) => seconds * secondMs);
const notSent = 'nothing was sent: when its turn came, it was too late or no longer needed';

const lookWaitsMs: readonly number[] = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * secondMs);
/** Maximum age of the statistics behind a write. Older statistics are read again first. */
const statsMaxAgeMs = hourMs;

export class Post {
  readonly #rooms: ActorRooms;
  readonly #options: ActorOptions;
  readonly #conditions: Conditions;

  constructor(rooms: ActorRooms, options: ActorOptions, conditions: Conditions) {
    this.#rooms = rooms;
    this.#options = options;
    this.#conditions = conditions;
  }

  /** Sends the POST at most once, in the caller's slot. Returns null if the daemon stops or the mailbox has left. */
  async send(open: OpenAction, signal: AbortSignal): Promise<Settlement | null> {
    // The mailbox has left, or the open intent is looked at after the restart: nothing was sent.
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
    // After a 5xx or a lost answer, the change may or may not have been made (docs/faults.md H7, H9).
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

  #request({ kind, mailboxId, targetMode, targetLimit }: Action) {
    const { api } = this.#rooms;
    // The request may wait for a connection before its first byte, and the whole process may be suspended meanwhile.
    const { mayPost } = this.#options.lease;
    if (targetLimit !== undefined) return api.write(mailboxId, { limit: targetLimit }, mayPost);
    if (targetMode !== null) return api.write(mailboxId, { mode: targetMode }, mayPost);
    return api.write(mailboxId, kind === 'resume' ? 'resume' : 'pause', mayPost);
  }

  /** The first answered look decides with `no`. Returns null if the daemon stops or the action has ended. */
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

  /** Returns true if the action is still wanted by a new answer, which is judged like any other. */
  async isStillWanted(action: Action, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#rooms.world;
    const conditions = this.#conditions;
    for (let tries = 0; !signal.aborted && conditions.isCurrent(action) && !conditions.isLate(action); tries += 1) {
      if (await this.#read(action, 'warmup', signal)) {
        if (!conditions.isCurrent(action)) return false;
        if (action.by) return true;
        if (this.#knowsStats(action) || (await this.#read(action, 'stats', signal))) return conditions.isWanted(action);
      }
      if (signal.aborted) return false;
      await clock.sleep(lookWaitsMs[Math.min(tries, lookWaitsMs.length - 1)] ?? minuteMs, signal);
    }
    return false;
  }

  /** Makes one request. Returns true if its answer, or a newer one, was recorded. */
  async #read({ account, mailboxId }: Action, route: 'warmup' | 'stats', signal: AbortSignal): Promise<boolean> {
    const { api, fleet, lane, recorder } = this.#rooms;
    await lane.actionSlot(signal);
    if (signal.aborted) return false;
    const askedAt = recorder.asking();
    const mailbox = fleet.mailbox(account, mailboxId);
    const days = mailbox && this.#options.daysFor(mailbox);
    const look = route === 'warmup' ? await api.warmup(mailboxId) : await api.stats(mailboxId, days);
    if (!look.ok) {
      this.#options.onFailure(look.failure, { route, mailboxId });
      return false;
    }
    const observation = { route, observed: look.value } as Observation;
    const taken = await recorder.observed(mailboxId, observation, askedAt);
    return taken !== 'outdated' && taken !== 'ended';
  }

  #knowsStats({ account, mailboxId }: Action): boolean {
    const { fleet, recorder, world } = this.#rooms;
    const at = fleet.mailbox(account, mailboxId)?.stats?.at;
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
