// Dependencies and callbacks of the actor of one account.

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

/** Ownership of an account by this process, until the lease ends. */
export interface AccountLease {
  /** True if this process owns the account now. */
  readonly holds: () => boolean;
  /** True if a POST that is sent now ends before another process can own the account. */
  readonly mayPost: () => boolean;
  /**
   * Wait before an open intent of a process that died is looked at, milliseconds, because its POST may be in progress;
   * 0 for no wait.
   */
  readonly openWaitMs: number;
}

export interface ActorOptions {
  readonly account: string;
  readonly lease: AccountLease;
  readonly words: StatusWords;
  /** Number of days of statistics that a mailbox is judged by. */
  readonly daysFor: (mailbox: MailboxState) => number;
  /** Called when a POST about a mailbox was accepted, or refused with 403. */
  readonly onWritten: (write: { readonly mailboxId: string; readonly accepted: boolean }) => void;
  /** Called when a look failed, which may concern the whole account. */
  readonly onFailure: (failure: Failure, poll: Poll) => void;
  /** Called when a change was read back after a newer answer had been recorded: the mailbox has to be read again. */
  readonly onOvertaken: (mailboxId: string) => void;
}
