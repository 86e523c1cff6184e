// What acting on one account works with, and what it calls when something happened.

import type { MailboxApi } from '../../api/client.ts';
import type { Failure } from '../../api/http/failure.ts';
import type { Lane } from '../../api/poll/lane.ts';
import type { Poll } from '../../api/poll/poll.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { StatusWords } from '../../core/guard/run-state.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { StoreTrouble } from '../../core/store-failure.ts';
import type { World } from '../../world/world.ts';
import type { Recorder } from '../record/recorder.ts';

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
