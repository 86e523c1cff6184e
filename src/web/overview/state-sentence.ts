// How many mailboxes are in which state, as the headline says it.
import type { Alert } from '../../core/alert.ts';
import { type AccountState, type GuardState, isUnread, type MailboxState, typedName } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, momentText, numberText } from '../../core/wording/phrases.ts';
import type { FiringAlerts } from './firing-alerts.ts';
import type { StateCounts } from './fleet-view.ts';

/** The states of the fleet, and what tells those apart that share one. */
export interface States {
  readonly counts: StateCounts;
  /** Of the held ones. */
  readonly heldByBreaker: number;
  /** Of the held ones, those that the configuration lets Warmwarden only watch. */
  readonly heldUnenforced: number;
  /** By account, of the other held ones: their action has yet to succeed. */
  readonly awaitingIn: ReadonlyMap<string, number>;
  readonly okIn: ReadonlyMap<string, number>;
}

interface Facts extends States {
  readonly accounts: readonly AccountState[];
}

/** Mailboxes in each state. None of an unread account is OK: what of them was OK when last read is not judged now. */
export function countsNow({ counts, okIn }: Pick<States, 'counts' | 'okIn'>, unread: ReadonlySet<string>): StateCounts {
  const old = [...okIn].reduce((sum, [account, count]) => (unread.has(account) ? sum + count : sum), 0);
  return { ...counts, ok: counts.ok - old, not_judged: counts.not_judged + old };
}

/** "1 mailbox paused by Warmwarden, 2 recovering, 9 OK": the first part names what is counted. Nothing that cannot be read is OK. */
export function stateSentence(facts: Facts): string {
  const { counts, accounts, okIn } = facts;
  const unread = sumIn(okIn, accounts, isUnread);
  const others = stateParts.map(
    ([state, what]) => [counts[state], state === 'held' ? heldText(what, facts) : what] as const,
  );
  const parts = [...others, [counts.ok - unread, 'OK'] as const, [unread, 'OK when last read'] as const];
  const words = parts
    .filter(([count]) => count > 0)
    .map(
      ([count, what], index) => `${index === 0 ? counted(count, 'mailbox', 'mailboxes') : numberText(count)} ${what}`,
    );
  return `${words.join(', ')}.`;
}

/** Why they are held, where it is not only that the action has yet to be carried out. */
function heldText(held: string, { counts, heldByBreaker, heldUnenforced, awaitingIn, accounts }: Facts): string {
  const readOnly = sumIn(awaitingIn, accounts, ({ keyWrites }) => keyWrites === false);
  const causes = (
    [
      [heldByBreaker, 'by the circuit breaker'],
      [readOnly, 'because the key may not write'],
      [heldUnenforced, 'because enforcement is off'],
    ] as const
  ).filter(([count]) => count > 0);
  const [only] = causes;
  if (!only) return held;
  if (only[0] === counts.held) return `${held} ${only[1]}`;
  return `${held} (${causes.map(([count, why]) => `${numberText(count)} ${why}`).join(', ')})`;
}

function sumIn(
  of: ReadonlyMap<string, number>,
  accounts: readonly AccountState[],
  which: (account: AccountState) => boolean,
): number {
  return accounts.filter(which).reduce((sum, { name }) => sum + (of.get(name) ?? 0), 0);
}

const stateParts: readonly (readonly [GuardState, string])[] = [
  ['held', 'over the limit and held'],
  ['paused_by_guard', 'paused by Warmwarden'],
  ['recovering', 'recovering'],
  ['not_judged', 'not judged'],
  ['over_limit', 'over the limit and not acted on'],
  ['near_limit', 'near the limit'],
  ['paused_by_others', 'paused by others'],
  ['not_running', 'not running'],
  ['no_warmup', 'without a warm-up'],
];

// What a person should do while the circuit breaker holds: release, or prevent what Warmwarden does without a release.

export interface AdviceWords {
  /** The words that start this program. */
  readonly command: string;
  /** For the times: an IANA name. */
  readonly zone: string;
}

export function heldAdvice(firing: FiringAlerts, { command, zone }: AdviceWords): string {
  const holds = firing.groups.filter(({ first }) => first.rule === 'guard_held');
  const [from] = holds.flatMap(({ first }) => actsFrom(first) ?? []).sort((a, b) => a - b);
  const otherwise =
    from === undefined
      ? 'If not, do nothing: Warmwarden waits for the release.'
      : `Otherwise prevent them, as the alert below says: from ${momentText(from, zone)}, Warmwarden acts on its own if fresh data still shows the breach.`;
  return `The circuit breaker is holding the actions, because many mailboxes exceed their limits at the same time. If the bounces are real, carry the actions out: \`${command} breaker release\`. ${otherwise}`;
}

/** The same for one of the mailboxes that it holds. `hold`: the circuit breaker's alert. */
export function heldMailboxAdvice(hold: Alert, mailbox: MailboxState, { command, zone }: AdviceWords): string {
  const from = actsFrom(hold);
  const next =
    from === null
      ? 'Warmwarden acts only after a release.'
      : `Without a release, Warmwarden acts on its own from ${momentText(from, zone)} if fresh data still shows the breach.`;
  return `Warmwarden has not acted, because the circuit breaker is holding its actions. ${next} If the bounces are real, carry out all held actions: \`${command} breaker release\`. To pause only this mailbox now: \`${command} pause ${typedName(mailbox)}\`.`;
}

/** From when Warmwarden acts without a release; null where it waits for one. */
function actsFrom({ facts }: Alert): EpochMs | null {
  const time = facts.numbers['acts_from'];
  return typeof time === 'string' ? Date.parse(time) : null;
}
