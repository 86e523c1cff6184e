// Conditions of an action before it is sent, by the present state. Makes no requests.
import type { Action, OpenAction } from '../../core/action.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { minuteMs } from '../../core/time.ts';
import { aboveMaximum, mayTakeBack } from '../record/persons.ts';
import { actionKind, isActive, showsChange } from '../record/plan.ts';
import type { ActorOptions, ActorRooms } from './rooms.ts';

/** Deadline for sending a person's change. A late change is dropped, and the command reports it. */
export const personWaitsMs = minuteMs;
/** Maximum age of the look before a POST. If the slot comes later, the mailbox is read again. */
const lookKeepsMs = 2 * minuteMs;

export class Conditions {
  readonly #rooms: Pick<ActorRooms, 'world' | 'fleet' | 'recorder'>;
  readonly #options: Pick<ActorOptions, 'account' | 'words'>;

  constructor(
    rooms: Pick<ActorRooms, 'world' | 'fleet' | 'recorder'>,
    options: Pick<ActorOptions, 'account' | 'words'>,
  ) {
    this.#rooms = rooms;
    this.#options = options;
  }

  /**
   * Returns the mailbox's action if it still needs work, or null. A failed action without a further attempt needs none.
   */
  pending(mailboxId: string): Action | null {
    const action = this.#mailbox(mailboxId)?.action ?? null;
    if (!isActive(action)) return null;
    const exhausted = (action.state === 'unconfirmed' || action.state === 'refused') && action.nextTryAt === null;
    return exhausted ? null : action;
  }

  /** Returns true unless the action was settled, dropped or displaced meanwhile. */
  isCurrent({ id, mailboxId }: Action): boolean {
    return this.pending(mailboxId)?.id === id;
  }

  /**
   * Returns true if a person's change is past its deadline. The person has an answer by then, so the change is not sent
   * later.
   */
  isLate({ by, plannedAt }: Action): boolean {
    return Boolean(by) && this.#rooms.world.clock.now() - plannedAt > personWaitsMs;
  }

  /**
   * Returns true if the mailbox already is as a person wants it. The guard's own actions follow a verdict on the same
   * answer.
   */
  isAlreadySo(action: Action): boolean {
    const warmup = this.#mailbox(action.mailboxId)?.warmup;
    return Boolean(action.by) && Boolean(warmup && showsChange(action, warmup.answer, this.#options.words));
  }

  /**
   * Returns true if the change that the action takes back is still ours. Another person may have changed it since the
   * request.
   */
  isStillOurs(action: Action): boolean {
    const mailbox = this.#mailbox(action.mailboxId);
    return mailbox !== undefined && mayTakeBack(action, mailbox);
  }

  /**
   * Returns the reason not to send a limit, or null if there is none. The answer may show another mode than the person
   * saw.
   */
  aboveMaximum(action: Action): string | null {
    const mailbox = this.#mailbox(action.mailboxId);
    return mailbox ? aboveMaximum(action, mailbox) : null;
  }

  /** Returns true if the verdict still asks for the action. */
  isWanted(action: Action): boolean {
    const verdict = this.#mailbox(action.mailboxId)?.verdict?.answer;
    return verdict !== undefined && this.isCurrent(action) && actionKind(verdict) === action.kind;
  }

  /**
   * Returns true if the action may still be sent on the look at `lookedAt` (monotonic milliseconds). The slot of the
   * budget may come long after the look, for example after a 429: by then the look may be old, or another answer may
   * have changed the verdict.
   */
  isSeasonable(action: Action, lookedAt: number): boolean {
    const age = this.#rooms.world.clock.monotonic() - lookedAt;
    return age <= lookKeepsMs && this.isCurrent(action) && !this.isLate(action) && this.#standsAsSeen(action);
  }

  /**
   * Returns true if the intent may still be sent. While it was recorded, an emergency stop or another answer may have
   * come.
   */
  maySend(open: OpenAction): boolean {
    return this.#rooms.recorder.maySend(open) && this.#standsAsSeen(open);
  }

  #standsAsSeen(action: Action): boolean {
    return action.by
      ? !this.isAlreadySo(action) && this.isStillOurs(action) && this.aboveMaximum(action) === null
      : this.isWanted(action);
  }

  #mailbox(mailboxId: string): MailboxState | undefined {
    return this.#rooms.fleet.mailbox(this.#options.account, mailboxId);
  }
}
