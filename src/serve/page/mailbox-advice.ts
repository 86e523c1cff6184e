// What a person should do about a mailbox, by its state: one or two sentences.
import type { GuardState } from '../../model/mailbox.ts';
import type { MailboxRow } from '../fleet-view.ts';
import type { Tone } from '../headline.ts';

/** How a state colours the top of the mailbox's page. */
export function stateTone(state: GuardState): Tone {
  switch (state) {
    case 'held':
      return 'alarm';
    case 'not_judged':
    case 'paused_by_others':
    case 'not_running':
      return 'unknown';
    case 'paused_by_guard':
    case 'recovering':
      return 'acted';
    default:
      return 'calm';
  }
}

export function mailboxAdvice({ state, mailbox, verdict }: MailboxRow): string {
  const sent = mailbox.action?.state;
  if (state === 'held' && (sent === 'refused' || sent === 'unconfirmed'))
    return 'The last action has not taken effect: look at the mailbox at your provider and do by hand what stands below.';
  switch (state) {
    case 'held':
      return verdict?.reason === 'first_sight'
        ? 'Nothing to do yet: the guard acts when a second answer says the same.'
        : 'Not acted on so far. Look at it: if it must not wait, pause the warm-up at your provider.';
    case 'not_judged':
      return 'The guard can’t judge it and does nothing. The sentence above says what is missing.';
    case 'paused_by_guard':
      return 'Warm-up stays paused until a person resumes it. Find out where the bounces come from first. Campaign sending is not touched.';
    case 'recovering':
      return 'Nothing is needed: it sends less, and is watched with the recovery limit. If it bounces on, its warm-up is paused.';
    case 'near_limit':
      return 'Nothing was done yet. A look at where the bounces come from may save an intervention.';
    case 'paused_by_others':
      return 'Somebody else paused its warm-up, so Warmwarden leaves it paused. Nothing to do if that is on purpose.';
    case 'not_running':
      return 'Its warm-up is finished or has not started. Nothing to do if that is on purpose.';
    case 'ok':
      return 'Nothing to do.';
  }
}
