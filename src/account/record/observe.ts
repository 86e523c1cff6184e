// An answer becomes what we believe of a mailbox, and that becomes a verdict. Pure.

import type {
  BlacklistAnswer,
  DnsAnswer,
  MailboxDetail,
  MailboxEntry,
  Observed,
  Route,
  StatsAnswer,
  StatsRow,
  WarmupAnswer,
} from '../../core/answers.ts';
import { situationOf } from '../../core/guard/judgement.ts';
import { isMostLost, lostAfter } from '../../core/guard/lost-counts.ts';
import { afterJudgement, afterSight, firstSight } from '../../core/guard/memory.ts';
import { runStateOf, type StatusWords, wordState } from '../../core/guard/run-state.ts';
import { judge, verdictWithoutCounts } from '../../core/guard/verdict.ts';
import type { GuardMemory, LostCounts } from '../../core/guard-memory.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { limitsAfter, type Policy } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';

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
    changes: [],
  };
}

/** The mailbox with the answer taken in. */
export function observe(mailbox: MailboxState, { route, observed }: Observation): MailboxState {
  return { ...mailbox, [route === 'mailbox' ? 'detail' : route]: observed };
}

interface JudgeOptions {
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

// Which of two answers about one thing is the newer one: by when each was asked for, not by when it came.

/** When something was asked for, as its place among all requests and writes of an account. */
export type AskedAt = number;

/** Before the first of them. */
const never: AskedAt = 0;

/**
 * superseded: an answer that was asked for later has been taken in already. outdated: a write of ours came after it was
 * asked for, so it may show the time before the write, and must not pass for somebody's change.
 */
type Freshness = 'fresh' | 'superseded' | 'outdated';

export class AnswerOrder {
  #place: AskedAt = 0;
  /** By mailbox and route: when the newest answer that was taken in was asked for. */
  readonly #taken = new Map<string, Partial<Record<Route, AskedAt>>>();
  /** By mailbox: the newest write, opened or settled. */
  readonly #wrote = new Map<string, AskedAt>();

  /** A request is about to be made. */
  asking(): AskedAt {
    this.#place += 1;
    return this.#place;
  }

  /** A write to the mailbox begins or ends. */
  wrote(mailboxId: string): void {
    this.#wrote.set(mailboxId, this.asking());
  }

  /** Only the warm-up is what our writes change. */
  freshnessOf(route: Route, mailboxId: string, askedAt: AskedAt): Freshness {
    if (askedAt < (this.#taken.get(mailboxId)?.[route] ?? never)) return 'superseded';
    return route === 'warmup' && askedAt < (this.#wrote.get(mailboxId) ?? never) ? 'outdated' : 'fresh';
  }

  taken(route: Route, mailboxId: string, askedAt: AskedAt): void {
    this.#taken.set(mailboxId, { ...this.#taken.get(mailboxId), [route]: askedAt });
  }

  /** Whether an answer of the route was taken in. */
  hasTaken(route: Route, mailboxId: string): boolean {
    return (this.#taken.get(mailboxId)?.[route] ?? never) > never;
  }

  /** The mailbox has left: what is asked about it from now on is new. */
  forget(mailboxId: string): void {
    this.#taken.delete(mailboxId);
    this.#wrote.delete(mailboxId);
  }
}
