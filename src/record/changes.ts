// What others changed between two looks at a mailbox, as far as the API shows it. Pure.
import type { BlacklistAnswer, DnsAnswer, MailboxDetail, Observed, WarmupAnswer } from '../model/answers.ts';
import { dnsRecords } from '../model/answers.ts';
import type { Change, ChangedThing } from '../model/change.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { dayMs, type EpochMs } from '../model/time.ts';
import { counted } from '../wording/phrases.ts';
import type { Observation } from './observe.ts';

/** A change of the limit this soon after a mode was set through Warmwarden is taken for its effect. */
const effectWithinMs = dayMs;

/** One value at two looks; what could not be read at one of them is no change. */
interface Pair {
  readonly what: ChangedThing;
  readonly from: string | null;
  readonly to: string | null;
  /** null is a value (no record), not something unread. */
  readonly nullable?: boolean;
}

/** What is different in an answer from the one before it on the same route; nothing without one before. */
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
  const ownEffect = modesSetAt(before).some((setAt) => at - setAt <= effectWithinMs);
  return [
    { what: 'mode', from: was.mode, to: is.mode },
    { what: 'warm-up', from: was.status, to: is.status },
    ...(ownEffect ? [] : [{ what: 'target_daily_limit' as const, from: limit(was), to: limit(is) }]),
  ];
}

/** When Warmwarden set a mode: its newest action did, or one before it that a claim still names. */
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
