// What another configuration would change for the mailboxes that are known now: who leaves, whose verdict turns. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import { resolvePolicy } from '../config/mailbox-rules.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { judgeMailbox } from '../record/observe.ts';
import { droppedBy } from './impact.ts';

/** More than this of a kind are counted, not named. */
const named = 10;

/** Sentences; none when nothing that is known changes. */
export function previewOf(before: Config, after: Config, fleet: Fleet, now: EpochMs): readonly string[] {
  const dropped = droppedBy(after, fleet.mailboxes());
  const gone = new Set(dropped.map(({ account, id }) => `${account}/${id}`));
  const accounts = new Set(after.accounts.map(({ name }) => name));
  const ending = [...fleet.alerts()].filter(
    ({ status, account, mailboxId }) =>
      status === 'firing' &&
      account !== '' &&
      (!accounts.has(account) || (mailboxId !== null && gone.has(`${account}/${mailboxId}`))),
  );
  return [
    ...atMost(
      dropped.map(({ account, email }) => `${account}/${email} is guarded no more`),
      'mailboxes are guarded no more',
    ),
    ...atMost(
      ending.map(({ facts }) => `the alert "${facts.title}" ends`),
      'alerts end',
    ),
    ...atMost(turnedVerdicts(before, after, fleet, now), 'mailboxes are judged otherwise'),
  ];
}

function turnedVerdicts(before: Config, after: Config, fleet: Fleet, now: EpochMs): readonly string[] {
  return after.accounts.flatMap((account) => {
    const was = before.accounts.find(({ name }) => name === account.name);
    if (!was) return [];
    return [...fleet.mailboxesOf(account.name)].flatMap((mailbox) => {
      const policy = resolvePolicy(account, mailbox);
      if (isDeepStrictEqual(policy, resolvePolicy(was, mailbox))) return [];
      const words = after.api.statusWords;
      const verdict = judgeMailbox(mailbox, { policy, words, now, freshStats: false })?.verdict;
      return verdict ? turned(mailbox, verdict) : [];
    });
  });
}

type Word = Pick<NonNullable<MailboxState['verdict']>['answer'], 'action' | 'reason'>;

function turned({ account, email, verdict }: MailboxState, after: Word): readonly string[] {
  const now = verdict?.answer;
  if (!now || (now.action === after.action && now.reason === after.reason)) return [];
  return [
    `${account}/${email} is judged otherwise, and its alerts follow: ${now.action} (${now.reason}) -> ${after.action} (${after.reason})`,
  ];
}

function atMost(lines: readonly string[], what: string): readonly string[] {
  if (lines.length <= named) return lines;
  return [...lines.slice(0, named), `... and ${lines.length - named} more ${what}`];
}
