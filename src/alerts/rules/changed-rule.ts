// changed_by_others: another person or tool paused a warm-up, raised a mode or a limit, or stopped many at once. An
// event, announced once.
import type { Transition } from '../../core/alert.ts';
import type { Change, MailboxState } from '../../core/mailbox.ts';
import { changeSentence } from '../../core/wording/causes.ts';
import { rateText } from '../../core/wording/explain.ts';
import { countedOf, firstText, listText } from '../../core/wording/phrases.ts';
import { accountSubject, eventOf, type MailboxContext, pageLink, subjectOf } from '../condition.ts';

/** Change by others of which people want to be notified. */
export interface OutsideChange {
  readonly kind: 'paused' | 'mode_raised' | 'limit_raised';
  readonly change: Change;
}

const words: Readonly<Record<OutsideChange['kind'], string>> = {
  paused: 'warm-up paused',
  mode_raised: 'mode raised',
  limit_raised: 'daily limit raised',
};

/**
 * Returns the event for changes by others between two looks, or null if there are none or the rule is switched off. A
 * mode that was raised while the mailbox (`before`) was near its limit is a warning. `forgets` is true if the bounces
 * until now no longer count.
 */
export function changedByOthersEvent(
  changes: readonly OutsideChange[],
  { before, nearLimit, forgets }: Readonly<{ before: MailboxState; nearLimit: boolean; forgets: boolean }>,
  { now, pageUrl, rules }: Pick<MailboxContext, 'now' | 'pageUrl' | 'rules'>,
): Transition | null {
  const { enabled, severity } = rules.of.changed_by_others;
  const [first] = changes;
  if (!enabled || !first) return null;
  const { account, id, email, verdict } = before;
  const isRaised = nearLimit && changes.some(({ kind }) => kind === 'mode_raised');
  const effect = forgets
    ? 'After a change of the mode, these bounces no longer count: the count starts again on the next full day.'
    : 'These bounces go on counting, and the higher limit of the new mode applies.';
  const facts = {
    title: `${email}: ${listText(changes.map(({ kind }) => words[kind]))} by others`,
    sentences: [
      ...changes.map(({ change }) => changeSentence(change, rules.timeZone)),
      ...(isRaised && verdict ? [rateText(verdict.answer), effect] : []),
      'If your team did not do this, find out which person or tool changes the mailbox.',
    ],
    numbers: { changed: changes.map(({ kind }) => kind).join(','), ...pageLink(pageUrl, account, id) },
  };
  const graver = isRaised && severity === 'info' ? 'warning' : severity;
  const subject = { ...subjectOf('changed_by_others', before), object: `${first.change.at}` };
  return eventOf(subject, { severity: graver, since: first.change.at, now, facts });
}

/** Returns the event for many warm-ups that were stopped together, or null if its rule is switched off. */
export function manyStoppedEvent(
  stopped: readonly MailboxState[],
  running: number,
  { now, rules }: Pick<MailboxContext, 'now' | 'rules'>,
): Transition | null {
  const [newest] = stopped;
  if (!rules.of.changed_by_others.enabled || !newest) return null;
  const { account } = newest;
  const words = [...new Set(stopped.map(({ warmup }) => warmup?.answer.status ?? 'nothing'))];
  const facts = {
    title: `${account}: ${countedOf(stopped.length, running, 'warm-up')} stopped within an hour`,
    sentences: [
      `Their status now says ${firstText(words, wordsNamed)}. Warmwarden did not do this, and the number may still grow.`,
      'As long as no emails of a later day are counted, Warmwarden does not judge them.',
      'If your team did not do this, find out who did, or add a new word for running to api.status_words.',
    ],
    numbers: { stopped: stopped.length, running },
  };
  const subject = { ...accountSubject('changed_by_others', account), object: `stopped:${now}` };
  const { severity } = rules.of.changed_by_others;
  return eventOf(subject, { severity: severity === 'info' ? 'warning' : severity, since: now, now, facts });
}

const wordsNamed = 3;
