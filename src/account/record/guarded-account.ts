// What a recorder works with, and the account it records for.

import type { Action } from '../../core/action.ts';
import type { Transition } from '../../core/alert.ts';
import type { AlertRule } from '../../core/alert-rules.ts';
import type { MeasuredRoute, Route, StaleMeasurement } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { StatusWords } from '../../core/guard/run-state.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { MailboxPattern } from '../../core/mailbox-pattern.ts';
import type { Policy } from '../../core/policy.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import type { Tally } from '../../core/tally.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Store } from '../../store/store.ts';
import type { World } from '../../world/world.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import type { Turns } from '../commit/turns.ts';

/** The rooms that a recorder works with. */
export interface RecorderRooms {
  readonly world: World;
  readonly store: Store;
  readonly fleet: Fleet;
  readonly tally: Tally;
  readonly turns: Turns;
  readonly group: GroupCommit;
  /** Called after a commit that people may be notified of. */
  readonly onTransitions: () => void;
}

/** How the configuration means mailboxes. */
export interface ConfiguredPatterns {
  readonly ofAccount: readonly MailboxPattern[];
  /** About the mailboxes of every account. */
  readonly ofRoutes: readonly MailboxPattern[];
  /** The names of all accounts. */
  readonly accounts: readonly string[];
}

/** The other accounts under the same API. */
export interface OtherAccounts {
  /** Mailboxes that one of them guarded are guarded by this account from now on. */
  readonly tookFrom: (account: string, mailboxes: readonly MailboxState[]) => void;
  /** This account has lost mailboxes that others may have: they read their lists again. */
  readonly askLists: () => void;
}

/** An account as the configuration has it, without what it takes to talk to its API. */
export interface GuardedAccount {
  readonly account: string;
  readonly policyFor: (mailbox: { readonly email: string; readonly id: string }) => Policy;
  readonly selects: (mailbox: { readonly email: string; readonly id: string }) => boolean;
  /** The mailboxes that the configuration names one by one, by address or id. */
  readonly expects: () => readonly string[];
  /** The globs that the configuration has for mailboxes; names that `expects` has are not among them. */
  readonly patterns: () => ConfiguredPatterns;
  readonly words: StatusWords;
  /** Base of the links in messages; null when there is no page. */
  readonly pageUrl: string | null;
  /** The settings of the alert rules in force. */
  readonly rules: () => RuleSettings;
  /** The base_url: its breaker admits the actions of all accounts under it. */
  readonly api: string;
  /** The accounts under it now, in the order of the file. */
  readonly accountsOfApi: () => readonly string[];
  readonly others: OtherAccounts;
}

export interface RecorderOptions extends GuardedAccount {
  /** The account's loop has ended: what hung in it and was left behind decides nothing beside the next one. */
  readonly ended: () => boolean;
  /** Whether the key may write, as far as its writes show; null before the first. */
  readonly keyWrites: () => boolean | null;
  /** Statistics, or warm-ups, from before this moment are stale; -Infinity while that can't be said. */
  readonly staleBefore: (route?: 'stats' | 'warmup') => EpochMs;
  /** When a measurement is stale. */
  readonly staleMeasurement: (route: MeasuredRoute) => StaleMeasurement;
  /** A first sweep goes on, and the answer (null: the outcome of an action) belongs to its first look at the mailbox. */
  readonly isFirstLook: (mailboxId: string, route: Route | null) => boolean;
  /** What was believed at the start was asked for again: a pending alert from before may fire now. */
  readonly seenAgain: () => boolean;
}

// What the first judgement of a mailbox finds is kept for the one message of its sweep; everything else is notified at once. Pure.

/** Never kept: what must be known at once, and what no first answer finds. */
const atOnce: readonly AlertRule[] = ['not_guarded', 'guard_held', 'guard_action_failed', 'mailbox_missing'];

/**
 * Whether the first judgement of a mailbox is still to come or not yet settled. `known`: the mailbox as it is before the
 * next one. A breach at first sight is judged with its second look, and what that leads to belongs to it.
 */
export function isUnsettled({ verdict, action }: MailboxState): boolean {
  const isUnderWay = action?.state === 'planned' || action?.state === 'open';
  return verdict === null || verdict.answer.reason === 'first_sight' || isUnderWay;
}

/** What was found about a mailbox at its first look, and which action of the guard's own is to be announced. */
interface FirstLook {
  readonly mailbox: MailboxState;
  readonly acted: Action | null;
}

/** The transitions of a first look: a switch to recovery that worked waits; a pause, a failure, an emergency do not. */
export function asFound(transition: Transition, { mailbox, acted }: FirstLook): Transition {
  const { kind, alert } = transition;
  const isUrgentAction = kind === 'event' && (acted?.kind === 'pause' || acted?.state !== 'confirmed');
  const isEmergency = mailbox.verdict?.answer.reason === 'emergency' && alert.rule === 'bounce_over_limit';
  const isNews = kind === 'resolved' || atOnce.includes(alert.rule) || isUrgentAction || isEmergency;
  return isNews ? transition : { ...transition, found: true };
}
