// What another configuration would change for the mailboxes that are known now: which leave, which verdicts and alerts change.

import { judgeMailbox } from '../../account/record/observe.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { resolvePolicy } from '../../config/mailbox-rules.ts';
import { type Alert, accountsOf, noAccount } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import { decisionWords } from '../../core/wording/states.ts';
import type { AccountMove } from '../../store/records.ts';
import type { Pacer } from '../../world/world.ts';
import { droppedBy, isReruled } from './impact.ts';
import { isMoved, leftChangedText } from './moves.ts';

/** More than this of a kind are counted, not named. */
const named = 10;

/** What the preview is made for: the configuration in force, and the one that is asked about. */
interface Change {
  readonly before: Config;
  readonly after: Config;
  readonly moves: readonly AccountMove[];
}

export interface Preview {
  /** None when nothing that is known changes. */
  readonly sentences: readonly string[];
  /** Of each kind all of them, also those that the sentences only count. */
  readonly counts: Readonly<Record<string, number>>;
}

/** What changes for the mailboxes that are known. The event loop gets its turns between the mailboxes. */
export async function previewOf(
  { before, after, moves }: Change,
  fleet: Fleet,
  now: EpochMs,
  pacer: Pacer,
): Promise<Preview> {
  const dropped = await droppedBy(after, fleet.mailboxes(), moves, pacer);
  const gone = new Set(dropped.map(({ account, id }) => `${account}/${id}`));
  const accounts = new Set(after.accounts.map(({ name }) => name));
  const leaves = ({ account, mailboxId }: Alert) =>
    account !== noAccount &&
    !isMoved(moves, { account, id: mailboxId ?? '' }) &&
    (!accounts.has(account) || (mailboxId !== null && gone.has(`${account}/${mailboxId}`)));
  const ending: Alert[] = [];
  for (const alert of [...fleet.alerts()]) {
    if (pacer.due()) await pacer.turn();
    if (alert.status === 'firing' && (leaves(alert) || holdsNobody(alert, after))) ending.push(alert);
  }
  const turned: string[] = [];
  for (const account of after.accounts) {
    const was = before.accounts.find(({ name }) => name === account.name);
    if (!was) continue;
    for (const mailbox of [...fleet.mailboxesOf(account.name)]) {
      if (pacer.due()) await pacer.turn();
      if (isReruled(was, account, mailbox)) turned.push(...turnedVerdict(mailbox, account, after, now));
    }
  }
  const sentences = [
    ...atMost(
      dropped.map(({ account, email }) => `${account}/${email} is no longer guarded`),
      ['more mailbox is no longer guarded', 'more mailboxes are no longer guarded'],
    ),
    ...leftChangedText(dropped),
    ...atMost(
      ending.map(({ facts }) => `the alert "${facts.title}" ends`),
      ['more alert ends', 'more alerts end'],
    ),
    ...atMost(turned, ['more mailbox is judged differently', 'more mailboxes are judged differently']),
  ];
  const counts = { no_longer_guarded: dropped.length, alerts_ending: ending.length, judged_differently: turned.length };
  return { sentences, counts };
}

/** What the circuit breaker of an API holds ends with the last account under it that something is held of. */
function holdsNobody(alert: Alert, { accounts }: Config): boolean {
  if (alert.rule !== 'guard_held') return false;
  const held = accountsOf(alert);
  return !accounts.some(({ name, baseUrl }) => baseUrl === alert.object && held.includes(name));
}

function turnedVerdict(mailbox: MailboxState, account: AccountConfig, after: Config, now: EpochMs): readonly string[] {
  const policy = resolvePolicy(account, mailbox);
  const words = after.api.statusWords;
  const verdict = judgeMailbox(mailbox, { policy, words, now, freshStats: false })?.verdict;
  return verdict ? turnOf(mailbox, verdict) : [];
}

type Word = Pick<NonNullable<MailboxState['verdict']>['answer'], 'action' | 'reason'>;

function turnOf({ account, email, verdict }: MailboxState, after: Word): readonly string[] {
  const now = verdict?.answer;
  if (!now || (now.action === after.action && now.reason === after.reason)) return [];
  return [
    `${account}/${email} is judged differently, and its alerts change: ${decisionWords(now)} -> ${decisionWords(after)}`,
  ];
}

function atMost(lines: readonly string[], [one, many]: readonly [string, string]): readonly string[] {
  if (lines.length <= named) return lines;
  return [...lines.slice(0, named), `... and ${counted(lines.length - named, one, many)}`];
}
