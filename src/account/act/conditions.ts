// What must hold of an action before it is sent, on what is known at this moment. Asks the API nothing.
import type { Action, OpenAction } from '../../core/action.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { minuteMs } from '../../core/time.ts';
import { aboveMaximum, mayTakeBack } from '../record/persons.ts';
import { actionKind, isActive, showsChange } from '../record/plan.ts';
import type { ActorOptions, ActorRooms } from './rooms.ts';

/** A person's change that could not be sent within this is dropped, and the command says so. */
export const personWaitsMs = minuteMs;
/** An action that got its turn in the budget later than this is not sent on what was seen before: the mailbox is looked at again. */
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

  /** The mailbox's action that still has something to be done; a failed one without a further try has not. */
  pending(mailboxId: string): Action | null {
    const action = this.#mailbox(mailboxId)?.action ?? null;
    if (!isActive(action)) return null;
    const exhausted = (action.state === 'unconfirmed' || action.state === 'refused') && action.nextTryAt === null;
    return exhausted ? null : action;
  }

  /** It has not been settled, dropped or displaced in the meantime. */
  isCurrent({ id, mailboxId }: Action): boolean {
    return this.pending(mailboxId)?.id === id;
  }

  /** A person who waits for an answer gets one: their change is not sent much later, unasked. */
  isLate({ by, plannedAt }: Action): boolean {
    return Boolean(by) && this.#rooms.world.clock.now() - plannedAt > personWaitsMs;
  }

  /** What a person asks for may be there already; what the guard wants is judged on the same look. */
  isAlreadySo(action: Action): boolean {
    const warmup = this.#mailbox(action.mailboxId)?.warmup;
    return Boolean(action.by) && Boolean(warmup && showsChange(action, warmup.answer, this.#options.words));
  }

  /** What is taken back must be ours until it is sent: others may have changed it since it was asked for. */
  isStillOurs(action: Action): boolean {
    const mailbox = this.#mailbox(action.mailboxId);
    return mailbox !== undefined && mayTakeBack(action, mailbox);
  }

  /** Why a limit is not sent: the look may show another mode than the person saw. null: nothing speaks against it. */
  aboveMaximum(action: Action): string | null {
    const mailbox = this.#mailbox(action.mailboxId);
    return mailbox ? aboveMaximum(action, mailbox) : null;
  }

  /** The verdict still asks for it. */
  isWanted(action: Action): boolean {
    const verdict = this.#mailbox(action.mailboxId)?.verdict?.answer;
    return verdict !== undefined && this.isCurrent(action) && actionKind(verdict) === action.kind;
  }

  /**
   * The turn in the budget may come long after the look at `lookedAt` (monotonic milliseconds), with a 429 in between: by
   * then what was seen is old, or an answer that was under way may have changed the verdict.
   */
  isSeasonable(action: Action, lookedAt: number): boolean {
    const age = this.#rooms.world.clock.monotonic() - lookedAt;
    return age <= lookKeepsMs && this.isCurrent(action) && !this.isLate(action) && this.#standsAsSeen(action);
  }

  /** While the intent was recorded somebody may have said stop, or an answer that was under way changed the verdict. */
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
