// Applies an answer to the state of a mailbox, and judges the state: pure. AnswerOrder keeps which answer is newer.

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
import { judge, situationOf, verdictWithoutCounts } from '../../core/guard/judge.ts';
import { isMostLost, lostAfter } from '../../core/guard/lost-counts.ts';
import { afterJudgement, afterSight, firstSight, type GuardMemory, type LostCounts } from '../../core/guard/memory.ts';
import { runStateOf, type StatusWords, wordState } from '../../core/guard/run-state.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { Policy } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';

export type Observation =
  | { readonly route: 'stats'; readonly observed: Observed<StatsAnswer> }
  | { readonly route: 'warmup'; readonly observed: Observed<WarmupAnswer> }
  | { readonly route: 'mailbox'; readonly observed: Observed<MailboxDetail> }
  | { readonly route: 'dns'; readonly observed: Observed<DnsAnswer> }
  | { readonly route: 'blacklist'; readonly observed: Observed<BlacklistAnswer> };

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

export function observe(mailbox: MailboxState, { route, observed }: Observation): MailboxState {
  return { ...mailbox, [route === 'mailbox' ? 'detail' : route]: observed };
}

export interface JudgeOptions {
  readonly policy: Policy;
  readonly words: StatusWords;
  readonly now: EpochMs;
  readonly freshStats: boolean;
  /** Statistics before this answer. Null if there are none, or if no new statistics were read. */
  readonly earlierRows: readonly StatsRow[] | null;
  /** Milliseconds by which the API's clock is ahead of ours, or 0 if unknown. */
  readonly apiAheadMs: number;
  /** True if the account counts at most half of the emails that were read before. Called only if the mailbox does. */
  readonly accountHasShrunk: (mailbox: MailboxState) => boolean;
}

export function judgeMailbox(
  mailbox: MailboxState,
  options: JudgeOptions,
): { readonly verdict: Verdict; readonly memory: GuardMemory | null } | null {
  const { warmup, stats } = mailbox;
  if (!warmup || !stats) return null;
  const { policy, words, now, earlierRows, apiAheadMs } = options;
  // The memory stays. It counts again when the mailbox has a warm-up.
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
  const isFirstSight = judged < 2;
  const ofWarmup = {
    weekdaysOnly: config.weekdaysOnly === true,
    warmupDay: warmupDay ?? mailbox.entry.answer.warmupDay,
  };
  const found = situationOf(policy, memory, { ...sight, ...ofWarmup, statsAt: stats.at }, isFirstSight);
  const { lost } = memory;
  const isMissing = lost && rows && (isMostLost(rows, lost) || options.accountHasShrunk({ ...mailbox, memory }));
  const verdict = judge(policy, isMissing ? { ...found, lost } : found);
  return { verdict, memory: afterJudgement(memory, verdict, { fresh, rows, now, apiAheadMs }) };
}

/** If a judged mailbox is not listed as stopped, the API has stopped giving its counts: they are missing. */
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

// Order of answers. The newer of two answers is the one that was requested later, whenever it came.

/** Place of a request or a write in the order of an account. */
export type AskPlace = number;

const never: AskPlace = 0;

/**
 * superseded: an answer that was requested later is recorded already. outdated: our own write came after the request,
 * so the answer may show the state before the write and must not count as another person's change.
 */
type Freshness = 'fresh' | 'superseded' | 'outdated';

export class AnswerOrder {
  #place: AskPlace = 0;
  readonly #taken = new Map<string, Partial<Record<Route, AskPlace>>>();
  readonly #wrote = new Map<string, AskPlace>();

  asking(): AskPlace {
    this.#place += 1;
    return this.#place;
  }

  wrote(mailboxId: string): void {
    this.#wrote.set(mailboxId, this.asking());
  }

  /** Returns the freshness of an answer. Our writes change only the warm-up. */
  freshnessOf(route: Route, mailboxId: string, askPlace: AskPlace): Freshness {
    if (askPlace < (this.#taken.get(mailboxId)?.[route] ?? never)) return 'superseded';
    return route === 'warmup' && askPlace < (this.#wrote.get(mailboxId) ?? never) ? 'outdated' : 'fresh';
  }

  taken(route: Route, mailboxId: string, askPlace: AskPlace): void {
    this.#taken.set(mailboxId, { ...this.#taken.get(mailboxId), [route]: askPlace });
  }

  hasTaken(route: Route, mailboxId: string): boolean {
    return (this.#taken.get(mailboxId)?.[route] ?? never) > never;
  }

  forget(mailboxId: string): void {
    this.#taken.delete(mailboxId);
    this.#wrote.delete(mailboxId);
  }
}
