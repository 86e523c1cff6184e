// What a person should do about a mailbox, by its state: one or two sentences.
import { isDisconnected } from '../../../core/connection.ts';
import { awaitsJudgement, type GuardState, typedName } from '../../../core/mailbox.ts';
import { counted } from '../../../core/wording/phrases.ts';
import type { MailboxRow } from '../../overview/fleet-view.ts';
import type { Tone } from '../../overview/headline.ts';
import { type AdviceWords, heldMailboxAdvice } from '../../overview/state-sentence.ts';

/** How a state colours the top of the mailbox's page. */
export function stateTone(state: GuardState): Tone {
  switch (state) {
    case 'held':
      return 'alarm';
    case 'not_judged':
    case 'paused_by_others':
    case 'not_running':
    case 'no_warmup':
      return 'unknown';
    case 'paused_by_guard':
    case 'recovering':
      return 'acted';
    default:
      return 'calm';
  }
}

export function mailboxAdvice({ state, mailbox, verdict, alerts }: MailboxRow, words: AdviceWords): string {
  const needing = alerts.filter(({ severity }) => severity !== 'info').length;
  const nothing = needing === 0 ? 'Nothing to do' : `Read the ${needing === 1 ? 'alert' : 'alerts'} below`;
  const sent = mailbox.action?.state;
  if (state === 'held' && (sent === 'refused' || sent === 'unconfirmed'))
    return 'The last action has not taken effect. Look at the mailbox in the mailbox app and make the change below yourself.';
  const hold = alerts.find(({ rule }) => rule === 'guard_held');
  if (state === 'held' && hold) return heldMailboxAdvice(hold, mailbox, words);
  switch (state) {
    case 'held':
      return verdict?.reason === 'first_sight'
        ? `${needing === 0 ? 'Nothing to do yet' : nothing}. A mailbox seen for the first time is judged on its last ${counted(verdict.windowDays, 'day')}, and Warmwarden acts when a second answer shows the breach again.`
        : `Warmwarden has decided to act, but has not acted yet. To pause the warm-up now: \`${words.command} pause ${typedName(mailbox)}\`.`;
    case 'not_judged':
      if (awaitsJudgement(mailbox))
        return 'Warmwarden has read newer statistics, but not the warm-up, so it has not judged them yet. The sentence above is about older ones.';
      return 'The guard cannot judge it, so Warmwarden does nothing. The sentence above says what is missing.';
    case 'paused_by_guard':
      return 'The warm-up stays paused until a person resumes it. First find out where the bounces come from. Warmwarden does not touch campaign sending.';
    case 'recovering':
      return `${nothing}${needing === 0 ? ': the' : '. The'} mailbox sends less, and the bounce limit of recovery mode applies. If its emails keep bouncing, Warmwarden pauses its warm-up.`;
    case 'over_limit':
      return overLimitAdvice(verdict);
    case 'near_limit':
      return 'Warmwarden has not acted. Find out now where the bounces come from, so that it does not have to.';
    case 'paused_by_others':
      return `The guard did not pause it, so Warmwarden leaves it paused. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'not_running':
      if (isDisconnected(mailbox))
        return 'The mailbox app has lost its connection to the mailbox, so it neither sends nor receives. Connect it again in the mailbox app.';
      return `Its warm-up is finished or has not started. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'no_warmup':
      return `The mailbox app does not warm it up. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'ok':
      return needing === 0 ? 'Nothing to do.' : `${nothing}: ${needing === 1 ? 'it says' : 'each says'} what to do.`;
  }
}

function overLimitAdvice(verdict: MailboxRow['verdict']): string {
  if (verdict?.foundUntil)
    return 'The next bounce would be a breach in recovery mode. Find out where the bounces come from, or pause the warm-up yourself.';
  return verdict?.reason === 'insufficient_evidence'
    ? 'The bounces are too few for Warmwarden to act. Find out where they come from before the next one.'
    : 'The configuration asks for an alert only, so Warmwarden does not act. Pause the warm-up or set the mode to recovery yourself.';
}
