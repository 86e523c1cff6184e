// Events, announced once: changes by others (changed_by_others) and commands of people (operator_acted).
import { noAccount, type Transition } from '../../core/alert.ts';
import type { Change, MailboxState } from '../../core/mailbox.ts';
import type { CommandEntry } from '../../core/operator-command.ts';
import { changeSentence } from '../../core/wording/causes.ts';
import { rateText, sentence } from '../../core/wording/explain.ts';
import { countedOf, firstText, listText } from '../../core/wording/phrases.ts';
import { accountSubject, eventOf, type MailboxContext, subjectOf } from '../condition.ts';

type EventContext = Pick<MailboxContext, 'now' | 'rules'>;

export interface OutsideChange {
  readonly kind: 'paused' | 'resumed' | 'mode_raised' | 'limit_raised';
  readonly change: Change;
}

const changeNames: Readonly<Record<OutsideChange['kind'], string>> = {
  paused: 'warm-up paused',
  resumed: 'warm-up resumed',
  mode_raised: 'mode raised',
  limit_raised: 'daily limit raised',
};

/** Returns null if there are no changes or the rule is off. `forgets`: bounces until now do not count any more. */
export function changedByOthersEvent(
  changes: readonly OutsideChange[],
  { before, nearLimit, forgets }: Readonly<{ before: MailboxState; nearLimit: boolean; forgets: boolean }>,
  context: EventContext,
): Transition | null {
  const { severity } = context.rules.of.changed_by_others;
  const [first] = changes;
  if (!first) return null;
  const { email, verdict } = before;
  const isRaised = nearLimit && changes.some(({ kind }) => kind === 'mode_raised');
  const isResumed = changes.some(({ kind }) => kind === 'resumed');
  const effect = forgets
    ? 'After a change of the mode, these bounces no longer count: counting starts again the day after (UTC).'
    : 'These bounces still count, now against the higher limit of the new mode.';
  const facts = {
    title: `${email}: ${listText(changes.map(({ kind }) => changeNames[kind]))} by others`,
    sentences: [
      ...changes.map(({ change }) => changeSentence(change, context.rules.timeZone)),
      ...(isRaised && verdict ? [rateText(verdict.answer), effect] : []),
      ...(isResumed ? ['Warmwarden had paused it, and leaves it running: only bounces after the resume count.'] : []),
      'If your team did not do this, find out which person or tool changes the mailbox.',
    ],
    numbers: { changed: changes.map(({ kind }) => kind).join(',') },
  };
  const graver = (isRaised || isResumed) && severity === 'info' ? 'warning' : severity;
  const since = first.change.at;
  return eventOf(subjectOf('changed_by_others', before, `${since}`), { severity: graver, since, facts }, context);
}

const wordsNamed = 3;

export function manyStoppedEvent(
  stopped: readonly MailboxState[],
  running: number,
  context: EventContext,
): Transition | null {
  const { now, rules } = context;
  const { severity } = rules.of.changed_by_others;
  const [newest] = stopped;
  if (!newest) return null;
  const { account } = newest;
  const words = [...new Set(stopped.map(({ warmup }) => warmup?.answer.status ?? 'nothing'))];
  const facts = {
    title: `${account}: ${countedOf(stopped.length, running, 'warm-up')} stopped within an hour`,
    sentences: [
      `Their status now says ${firstText(words, wordsNamed)}. Warmwarden did not do this, and the number may still grow.`,
      'Warmwarden does not judge a stopped warm-up.',
      `If your team did not do this, find out who did. If the warm-ups still run, they are NOT GUARDED: check api.status_words.`,
    ],
    numbers: { stopped: stopped.length, running },
  };
  const subject = accountSubject('changed_by_others', account, `stopped:${now}`);
  return eventOf(subject, { severity: severity === 'info' ? 'warning' : severity, since: now, facts }, context);
}

/** Maximum characters of a command's outcome in a message; the audit log has all of it. */
const outcomeShown = 500;

/** Returns null if the command changed nothing or its rule is off. */
export function operatorActedEvent(entry: CommandEntry, context: EventContext): Transition | null {
  const { severity } = context.rules.of.operator_acted;
  const { id, account, mailboxes, by, name, command, reason, end, outcome, at: since } = entry;
  if (end === null || end === 'no_change') return null;
  const only = mailboxes.length === 1 ? mailboxes[0] : undefined;
  const failed = end === 'done' ? '' : end === 'failed' ? ', which FAILED' : ', and the outcome is not known';
  const shown = outcome.length > outcomeShown ? `${outcome.slice(0, outcomeShown)}…` : outcome;
  const subject = only
    ? subjectOf('operator_acted', only, `${id}`)
    : accountSubject('operator_acted', account ?? noAccount, `${id}`);
  const facts = {
    title: `${by} ran “${command}”${failed}`,
    sentences: [...shown.split('\n'), reason === '' ? 'No reason given.' : sentence(`Reason: ${reason}`)],
    numbers: { operator: by, operation: name, result: end },
  };
  return eventOf(subject, { severity, since, facts }, context);
}
