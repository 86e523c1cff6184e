// What the first judgement of a mailbox finds is kept for the one message of its sweep; everything else is notified at once. Pure.
import type { Action } from '../model/action.ts';
import type { AlertRule, Transition } from '../model/alert.ts';
import type { MailboxState } from '../model/mailbox.ts';

/** Never kept: what must be known at once, and what no first answer finds. */
const atOnce: readonly AlertRule[] = [
  'key_read_only',
  'guard_held',
  'guard_action_failed',
  'mailbox_missing',
  'mailbox_list_short',
];

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
