// Conditions of an action before it is sent, by the present state. Makes no requests.
import type { MailboxApi } from '../../api/client.ts';
import type { Failure } from '../../api/http/failure.ts';
import type { Lane } from '../../api/poll/lane.ts';
import type { Poll } from '../../api/poll/poll.ts';
import { type Action, alreadySo, type OpenAction } from '../../core/action.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { StatusWords } from '../../core/guard/run-state.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { StoreTrouble } from '../../core/store-failure.ts';
import { minuteMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import { aboveMaximum, changedSince, mayTakeBack } from '../record/persons.ts';
import { actionKind, isActive, showsChange } from '../record/plan.ts';
import type { Recorder } from '../record/recorder.ts';

export interface ActorRooms {
  readonly world: World;
  readonly api: MailboxApi;
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

  isWanted(action: Action): boolean {
    const verdict = this.#mailbox(action.mailboxId)?.verdict?.answer;
    return verdict !== undefined && this.isCurrent(action) && actionKind(verdict) === action.kind;
  }

  /**
   * `lookedAt`: monotonic milliseconds. The slot of the budget may come long after the look, for example after a 429:
   * by then the look may be old, or another answer may have changed the verdict.
   */
  isSeasonable(action: Action, lookedAt: number): boolean {
    const age = this.#rooms.world.clock.monotonic() - lookedAt;
    return age <= lookKeepsMs && this.isCurrent(action) && !this.isLate(action) && this.#standsAsSeen(action);
  }

  /** While the intent was recorded, an emergency stop or another answer may have come. */
  maySend(open: OpenAction): boolean {
    return this.#rooms.recorder.maySend(open) && this.#standsAsSeen(open);
  }

  #standsAsSeen(action: Action): boolean {
    return action.by ? this.obstacle(action) === null : this.isWanted(action);
  }

  #mailbox(mailboxId: string): MailboxState | undefined {
    return this.#rooms.fleet.mailbox(this.#options.account, mailboxId);
  }
}
