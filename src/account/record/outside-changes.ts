// Changes by others between two looks at a mailbox, as far as the API shows them, and those that people are notified of:
// a pause, a raised mode or limit, many stops at once. Pure.
import type { OutsideChange } from '../../alerts/rules/event-rules.ts';
import {
  type BlacklistAnswer,
  type DnsAnswer,
  dnsRecords,
  type MailboxDetail,
  type Observed,
  type WarmupAnswer,
} from '../../core/answers.ts';
import { type StatusWords, stateByVerdict, wordState } from '../../core/guard/run-state.ts';
import type { Change, ChangedThing, MailboxState } from '../../core/mailbox.ts';
import { isWarmupMode, modeEffectMs, type Policy } from '../../core/policy.ts';
import { dayMs, type EpochMs, hourMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { Observation } from './observe.ts';

interface Pair {
  readonly what: ChangedThing;
  readonly from: string | null;
  readonly to: string | null;
  /** True if null is a value (no record), not an unread one. */
  readonly nullable?: boolean;
}

export function changesIn(before: MailboxState, { route, observed }: Observation): readonly Change[] {
  switch (route) {
    case 'warmup':
      return between(before.warmup, observed, (was, is) => warmupPairs(was, is, before, observed.at));
    case 'mailbox':
      return between(before.detail, observed, connectionPairs);
    case 'dns':
      return between(before.dns, observed, dnsPairs);
    case 'blacklist':
      return between(before.blacklist, observed, listingPairs);
    case 'stats':
      return [];
  }
}

function between<Answer>(
  before: Observed<Answer> | null,
  observed: Observed<Answer>,
  pairs: (was: Answer, is: Answer) => readonly Pair[],
): readonly Change[] {
  if (!before) return [];
  return pairs(before.answer, observed.answer)
    .filter(({ from, to, nullable }) => from !== to && (nullable || (from !== null && to !== null)))
    .map(({ what, from, to }) => ({ since: before.at, at: observed.at, what, from, to }));
}

function warmupPairs(was: WarmupAnswer, is: WarmupAnswer, before: MailboxState, at: EpochMs): readonly Pair[] {
  const limit = (answer: WarmupAnswer) => answer.config.targetDailyLimit?.toString() ?? null;
  const ownEffect = modesSetAt(before).some((setAt) => at - setAt <= modeEffectMs);
  return [
    { what: 'mode', from: was.mode, to: is.mode },
    { what: 'warm-up', from: was.status, to: is.status },
    ...(ownEffect ? [] : [{ what: 'target_daily_limit' as const, from: limit(was), to: limit(is) }]),
  ];
}

/** Returns the times at which Warmwarden set a mode, also by an earlier action that a claim still names. */
function modesSetAt({ action, memory }: MailboxState): readonly EpochMs[] {
  const acted = action?.state === 'confirmed' && action.targetMode !== null ? [action.settledAt] : [];
  const claims = [memory?.claim, memory?.claim?.under].flatMap((claim) => (claim?.kind === 'recovery' ? [claim] : []));
  return [...acted, ...claims.map(({ since }) => since)];
}

function connectionPairs(was: MailboxDetail, is: MailboxDetail): readonly Pair[] {
  const word = ({ connection, connectionError }: MailboxDetail) =>
    connection === 'unclear' ? null : (connectionError ?? connection);
  return [{ what: 'connection', from: word(was), to: word(is) }];
}

function dnsPairs(was: DnsAnswer, is: DnsAnswer): readonly Pair[] {
  return dnsRecords.flatMap((name) => {
    const [before, now] = [was.records[name], is.records[name]];
    // An inconclusive look says nothing about the record either.
    if (before.pass === null || now.pass === null) return [];
    const record = { what: `${name}_record` as const, from: before.record, to: now.record, nullable: true };
    return [{ what: name, from: before.status, to: now.status }, record];
  });
}

function listingPairs(was: BlacklistAnswer, is: BlacklistAnswer): readonly Pair[] {
  const lists = ({ listed, lists: names, found }: BlacklistAnswer) =>
    listed === null
      ? null
      : listed
        ? [...names].sort().join(', ') || (found === null ? 'some lists' : counted(found, 'list'))
        : 'none';
  return [{ what: 'listing', from: lists(was), to: lists(is) }];
}

interface OutsideFacts {
  readonly words: StatusWords;
  readonly policy: Policy;
  /** True if Warmwarden had paused the warm-up. */
  readonly wasOurPause: boolean;
}

/** Returns the changes between two looks that let more mail out, or none at all. */
export function outsideChanges(changes: readonly Change[], facts: OutsideFacts): readonly OutsideChange[] {
  return changes.flatMap((change) => {
    const kind = kindOf(change, facts);
    return kind ? [{ kind, change }] : [];
  });
}

const togetherMs = hourMs;
/** A warm-up that stopped twice within this time stops by habit: at night, or at weekends. */
const habitMs = 8 * dayMs;

/** Returns the mailboxes that others stopped lately, not by habit, when this one makes them enough, or null. */
export function stoppedTogether(
  mailbox: MailboxState,
  changes: readonly Change[],
  { words, others, now }: Readonly<{ words: StatusWords; others: () => Iterable<MailboxState>; now: EpochMs }>,
): { readonly stopped: readonly MailboxState[]; readonly running: number } | null {
  const stops = ({ what, from, to }: Change) =>
    what === 'warm-up' && wordState(from, words) === 'running' && wordState(to, words) !== 'running';
  const stopsLately = ({ changes: all, warmup }: MailboxState) => {
    const [newest, before] = all.filter(stops).toReversed();
    const isStopped = newest && wordState(warmup?.answer.status ?? null, words) !== 'running';
    return isStopped && now - newest.at < togetherMs && !(before && newest.at - before.at < habitMs);
  };
  if (!changes.some(stops) || !stopsLately(mailbox)) return null;
  const all = [...others()];
  const stopped = [mailbox, ...all.filter(stopsLately)];
  const runs = ({ warmup }: MailboxState) => wordState(warmup?.answer.status ?? null, words) === 'running';
  // Mailboxes that stopped by habit within the hour count as running, so that a fifth stays the same number.
  const ran = (one: MailboxState) =>
    runs(one) || one.changes.some((change) => stops(change) && now - change.at < togetherMs);
  const running = 1 + all.filter(ran).length;
  return stopped.length === Math.max(leastStopped, Math.ceil(running / stoppedPart)) ? { stopped, running } : null;
}

/** People are notified when at least 5 warm-ups stopped, and a fifth of those that ran. */
const [leastStopped, stoppedPart] = [5, 5];

/** Returns true if others paused the warm-up in the last days. A paused status then proves no pause of ours. */
export function isPausedByHabit({ changes }: MailboxState, words: StatusWords, now: EpochMs): boolean {
  return changes.some(
    ({ what, to, at }) => what === 'warm-up' && wordState(to, words) === 'paused' && now - at < habitMs,
  );
}

function kindOf(
  { what, from, to }: Change,
  { words, policy, wasOurPause }: OutsideFacts,
): OutsideChange['kind'] | null {
  switch (what) {
    case 'warm-up':
      if (wordState(from, words) === 'paused')
        return wasOurPause && wordState(to, words) === 'running' ? 'resumed' : null;
      return wordState(to, words) === 'paused' ? 'paused' : null;
    case 'mode':
      if (!isWarmupMode(from) || !isWarmupMode(to)) return null;
      return policy.limitsPpm[to] > policy.limitsPpm[from] ? 'mode_raised' : null;
    case 'target_daily_limit':
      return Number(to) > Number(from) ? 'limit_raised' : null;
    default:
      return null;
  }
}

/** True if the mailbox was near its limit or over it by the last verdict, even if newer statistics are unjudged. */
export function isNearOrOver(mailbox: MailboxState, policy: Policy): boolean {
  const state = stateByVerdict(mailbox, policy.nearLimitPpm);
  return state === 'near_limit' || state === 'over_limit' || state === 'held';
}
