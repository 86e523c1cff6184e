// Dependencies of a recorder, and the account that it records for.

import type { Action } from '../../core/action.ts';
import type { Transition } from '../../core/alert.ts';
import { type RuleSettings, ruleBook } from '../../core/alert-rules.ts';
import type { MeasuredRoute, Route, StaleMeasurement } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { StatusWords } from '../../core/guard/run-state.ts';
import type { ListedMailbox, MailboxState } from '../../core/mailbox.ts';
import type { MailboxPattern } from '../../core/mailbox-pattern.ts';
import type { Policy } from '../../core/policy.ts';
import type { Tally } from '../../core/records.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Store } from '../../store/store.ts';
import type { World } from '../../world/world.ts';
import type { GroupCommit, Turns } from '../commit/group-commit.ts';

export interface RecorderRooms {
  readonly world: World;
  readonly store: Store;
  readonly fleet: Fleet;
  readonly tally: Tally;
  readonly turns: Turns;
  readonly group: GroupCommit;
  readonly onTransitions: () => void;
}

export interface ConfiguredPatterns {
  readonly ofAccount: readonly MailboxPattern[];
  /** Patterns of the routes, which concern the mailboxes of every account. */
  readonly ofRoutes: readonly MailboxPattern[];
  readonly accounts: readonly string[];
}

export interface OtherAccounts {
  /** Called when this account takes over mailboxes that another one guarded. */
  readonly tookFrom: (account: string, mailboxes: readonly MailboxState[]) => void;
  /** Called when this account has lost mailboxes that others may have. They read their lists again. */
  readonly askLists: () => void;
}

export interface GuardedAccount {
  readonly account: string;
  readonly policyFor: (mailbox: ListedMailbox) => Policy;
  readonly selects: (mailbox: ListedMailbox) => boolean;
  readonly expects: () => readonly string[];
  /** Globs of the configuration for mailboxes. Names that `expects` returns are not among them. */
  readonly patterns: () => ConfiguredPatterns;
  readonly words: StatusWords;
  readonly rules: () => RuleSettings;
  readonly api: string;
  readonly accountsOfApi: () => readonly string[];
  readonly others: OtherAccounts;
}

export interface RecorderOptions extends GuardedAccount {
  readonly ended: () => boolean;
  readonly keyWrites: () => boolean | null;
  /** Time before which statistics or warm-ups are stale, or -Infinity if that is unknown. */
  readonly staleBefore: (route?: 'stats' | 'warmup') => EpochMs;
  readonly staleMeasurement: (route: MeasuredRoute) => StaleMeasurement;
  /** True if the answer belongs to a first look at the mailbox. A null route stands for the outcome of an action. */
  readonly isFirstLook: (mailboxId: string, route: Route | null) => boolean;
  /** True if the state from before the start was requested again, so that an alert pending since then may fire. */
  readonly seenAgain: () => boolean;
}

// Findings of the first judgement of a mailbox wait for the one message of its sweep. Pure.

/** True until the first judgement is settled. A breach at first sight settles with its second look and its action. */
export function isUnsettled({ verdict, action }: MailboxState): boolean {
  const isUnderWay = action?.state === 'planned' || action?.state === 'open';
  return verdict === null || verdict.answer.reason === 'first_sight' || isUnderWay;
}

/** A successful switch to recovery waits as a finding; a pause, a failure and an emergency do not. */
export function asFound(
  transition: Transition,
  { mailbox, acted }: { readonly mailbox: MailboxState; readonly acted: Action | null },
): Transition {
  const { kind, alert } = transition;
  const isUrgentAction = kind === 'event' && (acted?.kind === 'pause' || acted?.state !== 'confirmed');
  const isEmergency = mailbox.verdict?.answer.reason === 'emergency' && alert.rule === 'bounce_over_limit';
  const isNews = kind === 'resolved' || ruleBook[alert.rule].isToldAtOnce || isUrgentAction || isEmergency;
  return isNews ? transition : { ...transition, found: true };
}
