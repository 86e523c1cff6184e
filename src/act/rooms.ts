// What acting on one account works with, and what it calls when something happened.
import type { Fleet } from '../fleet/fleet.ts';
import type { StatusWords } from '../guard/run-state.ts';
import type { Failure } from '../http/failure.ts';
import type { MailboxApi } from '../mailbox-api/client.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { StoreTrouble } from '../model/store-failure.ts';
import type { Lane } from '../poll/lane.ts';
import type { Poll } from '../poll/poll.ts';
import type { Recorder } from '../record/recorder.ts';
import type { World } from '../world.ts';

export interface ActorRooms {
  readonly world: World;
  readonly api: MailboxApi;
  readonly lane: Lane;
  readonly fleet: Fleet;
  readonly recorder: Recorder;
  readonly store: { readonly trouble: StoreTrouble };
}

/** Whose work an account is: this process's, until it says otherwise. */
export interface AccountLease {
  /** Whether it is this process's now. */
  readonly holds: () => boolean;
  /** Whether a POST that leaves now has ended before the account can be another's. */
  readonly mayPost: () => boolean;
  /** The process before died, perhaps within a POST: what it left open is looked at after so many milliseconds; 0: at once. */
  readonly openWaitMs: number;
}

export interface ActorOptions {
  readonly account: string;
  readonly lease: AccountLease;
  readonly words: StatusWords;
  /** How many days of statistics a mailbox is judged by. */
  readonly daysFor: (mailbox: MailboxState) => number;
  /** A POST about a mailbox was refused with 403, or one was accepted. */
  readonly onWritten: (write: { readonly mailboxId: string; readonly accepted: boolean }) => void;
  /** A look failed: that may say something about the account. */
  readonly onFailure: (failure: Failure, poll: Poll) => void;
  /** A change was read back, but an answer that was asked for after that was taken in before: it has to be asked again. */
  readonly onOvertaken: (mailboxId: string) => void;
}
