// An answer becomes what we believe of a mailbox, and that becomes a verdict. Pure.
import { situationOf } from '../guard/judgement.ts';
import { isMostLost, lostAfter } from '../guard/lost-counts.ts';
import { afterJudgement, afterSight, firstSight } from '../guard/memory.ts';
import { runStateOf, type StatusWords, wordState } from '../guard/run-state.ts';
import { judge, verdictWithoutCounts } from '../guard/verdict.ts';
import type {
  BlacklistAnswer,
  DnsAnswer,
  MailboxDetail,
  MailboxEntry,
  Observed,
  StatsAnswer,
  StatsRow,
  WarmupAnswer,
} from '../model/answers.ts';
import { limitsAfter } from '../model/day-limits.ts';
import type { GuardMemory, LostCounts } from '../model/guard-memory.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { none } from '../model/none.ts';
import type { Policy } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';

/** An answer about one mailbox with the route that it came by. */
export type Observation =
  | { readonly route: 'stats'; readonly observed: Observed<StatsAnswer> }
  | { readonly route: 'warmup'; readonly observed: Observed<WarmupAnswer> }
  | { readonly route: 'mailbox'; readonly observed: Observed<MailboxDetail> }
  | { readonly route: 'dns'; readonly observed: Observed<DnsAnswer> }
  | { readonly route: 'blacklist'; readonly observed: Observed<BlacklistAnswer> };

/** A mailbox that was just found in the list. */
export function newMailbox(account: string, entry: Observed<MailboxEntry>): MailboxState {
  return {
    account,
    id: entry.answer.id,
    email: entry.answer.email,
    firstSeenAt: entry.at,
    missingLists: 0,
    entry,
    warmup: null,
    stats: null,
    detail: null,
    dns: null,
    blacklist: null,
    memory: null,
    verdict: null,
    action: null,
    changes: none,
  };
}

/** The mailbox with the answer taken in. */
export function observe(mailbox: MailboxState, { route, observed }: Observation): MailboxState {
  return { ...mailbox, [route === 'mailbox' ? 'detail' : route]: observed };
}

export interface JudgeOptions {
  readonly policy: Policy;
  readonly words: StatusWords;
  readonly now: EpochMs;
  /** A new stats answer is judged, not the old one beside a new warm-up answer. */
  readonly freshStats: boolean;
  /** The statistics that were believed before; null, or absent: there are none, or no new ones were read. */
  readonly earlierRows?: readonly StatsRow[] | null;
  /** How far the API's clock is ahead of ours. */
  readonly apiAheadMs?: number;
  /** Whether its account counts half of the emails that were read before, or fewer; asked only when the mailbox does. */
  readonly accountHasShrunk?: (mailbox: MailboxState) => boolean;
}

/** The verdict on what is believed, and the memory after it; null until stats and warm-up were both read. */
export function judgeMailbox(
  mailbox: MailboxState,
  options: JudgeOptions,
): { readonly verdict: Verdict; readonly memory: GuardMemory | null } | null {
  const { warmup, stats } = mailbox;
  if (!warmup || !stats) return null;
  const { policy, words, now, earlierRows = null, apiAheadMs = 0 } = options;
  // The memory stays: it counts again when the mailbox has a warm-up.
  if (warmup.answer.isAbsent) {
    const dataAgeMs = Math.max(0, now - stats.at);
    return { verdict: verdictOnAbsence(mailbox, words, dataAgeMs), memory: mailbox.memory };
  }
  const { rows } = stats.answer;
  const { mode, status: word, config, warmupDay } = warmup.answer;
  const sight = {
    mode,
    run: runStateOf(word, words, rows, now, mailbox.memory),
    word,
    rows,
    now,
    apiAheadMs,
  };
  const seen = mailbox.memory ? afterSight(policy, mailbox.memory, sight) : firstSight(policy, sight);
  const memory = withLost(seen, lostAfter(earlierRows, { rows, lost: seen.lost }, now));
  const fresh = options.freshStats || mailbox.memory === null;
  const judged = memory.answersJudged + (fresh ? 1 : 0);
  const first = { weekdaysOnly: config.weekdaysOnly === true, warmupDay: warmupDay ?? mailbox.entry.answer.warmupDay };
  const found = situationOf(policy, memory, { ...sight, ...first, statsAt: stats.at }, judged < 2);
  const { lost } = memory;
  const isMissing = lost && rows && (isMostLost(rows, lost) || options.accountHasShrunk?.({ ...mailbox, memory }));
  const verdict = judge(policy, isMissing ? { ...found, lost } : found);
  return {
    verdict,
    memory: withLimits(afterJudgement(memory, verdict, { fresh, rows, now, apiAheadMs }), mailbox, now),
  };
}

/** Of a mailbox that was judged, and that the list does not show as stopped, the API has stopped to tell: its counts are missing. */
function verdictOnAbsence({ memory, entry }: MailboxState, words: StatusWords, dataAgeMs: number): Verdict {
  const listed = wordState(entry.answer.status, words);
  const wasJudged = memory !== null && memory.answersJudged > 0;
  if (!wasJudged || listed === 'paused' || listed === 'not_running')
    return verdictWithoutCounts({ reason: 'no_warmup', mode: null, run: 'not_running', dataAgeMs });
  const warnings = ['the API answers 404 for the warm-up and the statistics, and the mailbox list has the mailbox'];
  const missing = verdictWithoutCounts({ reason: 'missing_counts', mode: memory.mode, run: 'running', dataAgeMs });
  return { ...missing, action: 'hold', wanted: 'hold', warnings };
}

function withLost(memory: GuardMemory, lost: LostCounts | undefined): GuardMemory {
  if (memory.lost === lost) return memory;
  const { lost: _, ...others } = memory;
  return lost ? { ...others, lost } : others;
}

/** The memory with the limits that the mailbox shows now. */
export function withLimits(
  memory: GuardMemory,
  looks: Pick<MailboxState, 'entry' | 'warmup'>,
  now: EpochMs,
): GuardMemory {
  const before = memory.limits ?? [];
  const limits = limitsAfter(before, looks, now);
  return limits === before ? memory : { ...memory, limits };
}
