// State of a mailbox and of an account, with the moments of its parts.
import { type Action, actionUnder } from './action.ts';
import type {
  BlacklistAnswer,
  DnsAnswer,
  MailboxDetail,
  MailboxEntry,
  Observed,
  Route,
  StatsAnswer,
  WarmupAnswer,
} from './answers.ts';
import type { GuardMemory } from './guard/memory.ts';
import { didYouMean } from './nearest.ts';
import { type EpochMs, minuteMs } from './time.ts';
import type { Verdict } from './verdict.ts';

// Age of each kind of data under a cadence and a budget, and remedies.

export interface NarrowRoutes {
  readonly routes: readonly Route[];
  readonly perMinute: number;
  readonly needsPerMinute: number;
}

export interface Forecast {
  readonly mailboxes: number;
  readonly allowedPerMinute: number;
  /** The API lets nothing start for most of the time, although more is allowed. */
  readonly isHeldBack: boolean;
  readonly asksPerMinute: number;
  /** Requests a minute that are made at most, with spare ones, in the long run. Absent in what an earlier version stored. */
  readonly usedPerMinute?: number;
  /** The kinds that the API allows too few requests for; null, or absent as above: none. */
  readonly narrow?: NarrowRoutes | null;
  readonly fits: boolean;
  /** Age that each kind of data reaches, milliseconds. */
  readonly oldestMs: Readonly<Record<Route, number>>;
  /**
   * Age of the calmest mailboxes' statistics, milliseconds; larger than `oldestMs.stats` only where riskier ones are
   * read sooner.
   */
  readonly calmestMs: number;
  readonly firstSweepMs: number;
  /** Remedies for a cadence that does not fit, or null if it fits. */
  readonly mend: {
    /** A limit of the key, headroom included. */
    readonly requestsPerMinute: number;
    /** A cadence that this budget holds, milliseconds. */
    readonly statsMs: number;
    readonly warmupMs: number;
  } | null;
}

/** `ACCOUNT/ID`: unique in a daemon. */
export type MailboxKey = string;

export function mailboxKey(account: string, id: string): MailboxKey {
  return `${account}/${id}`;
}

/** An account's name has no slash in it. */
export function accountOfKey(key: MailboxKey): string {
  return key.slice(0, key.indexOf('/'));
}

export function idOfKey(key: MailboxKey): string {
  return key.slice(key.indexOf('/') + 1);
}

export function isSameAddress(one: Pick<MailboxState, 'email'>, other: Pick<MailboxState, 'email'>): boolean {
  return one.email.toLowerCase() === other.email.toLowerCase();
}

/** The part of an address behind its last @, in lower case. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

/** True if a name means this mailbox: its address, its id, ACCOUNT/ADDRESS, or its key. */
function isCalled(name: string, mailbox: Pick<MailboxState, 'account' | 'id' | 'email'>): boolean {
  const { account, id, email } = mailbox;
  const wanted = name.toLowerCase();
  return (
    id === name ||
    mailboxKey(account, id) === name ||
    email.toLowerCase() === wanted ||
    `${account}/${email}`.toLowerCase() === wanted
  );
}

/**
 * A mailbox as it is typed in a command that people copy: with its account, since another account may have the address too,
 * and by its id where a shell would take the address apart.
 */
export function typedName({ account, id, email }: Pick<MailboxState, 'account' | 'id' | 'email'>): string {
  return mailboxKey(account, /^[\w.+@-]+$/.test(email) ? email : id);
}

/** The one mailbox that is called so, or what is wrong with the name, in a sentence. */
export function namedMailbox(
  name: string,
  mailboxes: Iterable<MailboxState>,
): { readonly mailbox: MailboxState } | { readonly wrong: string } {
  const all = [...mailboxes];
  const [mailbox, ...others] = all.filter((one) => isCalled(name, one));
  if (!mailbox) {
    const named = name.slice(name.indexOf('/') + 1);
    const elsewhere = named === name ? undefined : all.find((one) => isCalled(named, one));
    if (elsewhere) {
      const { account, email } = elsewhere;
      return {
        wrong: `No guarded mailbox is called ${name}. Account ${account} guards ${email}: name ${account}/${email}.`,
      };
    }
    const emails = all.map(({ email }) => email);
    return { wrong: `No guarded mailbox is called ${name}${didYouMean(named, emails)}.` };
  }
  if (others.length === 0) return { mailbox };
  const found = [mailbox, ...others];
  const isAlone = (one: MailboxState) =>
    found.filter(({ account, email }) => account === one.account && email === one.email).length === 1;
  const names = found.map((one) => `${one.account}/${isAlone(one) ? one.email : one.id}`);
  return { wrong: `${name} is ambiguous: name one of ${names.join(', ')}.` };
}

export interface MailboxState {
  readonly account: string;
  readonly id: string;
  readonly email: string;
  readonly firstSeenAt: EpochMs;
  /** Consecutive lists in which it was absent. */
  readonly missingLists: number;
  readonly entry: Observed<MailboxEntry>;
  readonly warmup: Observed<WarmupAnswer> | null;
  readonly stats: Observed<StatsAnswer> | null;
  readonly detail: Observed<MailboxDetail> | null;
  readonly dns: Observed<DnsAnswer> | null;
  readonly blacklist: Observed<BlacklistAnswer> | null;
  readonly memory: GuardMemory | null;
  readonly verdict: Observed<Verdict> | null;
  readonly action: Action | null;
  /** Latest changes by others, the oldest first; at most changesShown. */
  readonly changes: readonly Change[];
}

/** The mailbox once it is guarded under another account, with all that is known of it. */
export function mailboxUnder(mailbox: MailboxState, account: string): MailboxState {
  const { action } = mailbox;
  return { ...mailbox, account, action: action && actionUnder(action, account) };
}

/** A mailbox of an account's list that another account of the same API guards. */
export interface GuardedElsewhere {
  readonly id: string;
  readonly email: string;
  readonly account: string;
}

/** States of a mailbox, one word each: the same in metrics, JSON, recipes, the terminal and on the page. */
export const guardStates = [
  'ok',
  'near_limit',
  'over_limit',
  'held',
  'recovering',
  'paused_by_guard',
  'paused_by_others',
  'not_running',
  'no_warmup',
  'not_judged',
] as const;
export type GuardState = (typeof guardStates)[number];

/** Latest answer of GET /v1/health. A failed request changes nothing here. */
export interface ApiHealth {
  /** The status word as sent; null before the first answer. */
  readonly status: string | null;
  /** Version of the API. The API may leave it out. */
  readonly version?: string;
  /** Milliseconds by which Warmwarden's clock is ahead of the API's, or null before the second answer. */
  readonly clockAheadMs: number | 'not_told' | null;
}

/** Milliseconds by which the API's clock is ahead of ours, or 0 if it is not or that is unknown. */
export function aheadMs(account: Pick<AccountState, 'apiHealth'> | undefined): number {
  const ahead = account?.apiHealth.clockAheadMs;
  return typeof ahead === 'number' ? Math.max(0, -ahead) : 0;
}

/** A failure to read the mailbox list, or the statistics or the warm-up of every mailbox, while other requests may succeed. */
export interface ReadFailure {
  readonly since: EpochMs;
  readonly detail: string;
}

export interface AccountState {
  readonly name: string;
  /** Requests a minute that can be made at present. */
  readonly requestsPerMinute: number;
  /** The limit of the key that this is a share of, requests a minute. */
  readonly limitPerMinute: number;
  /** The limit that the configuration says, requests a minute. Absent, as the next, in what an earlier version stored. */
  readonly configuredPerMinute?: number;
  /** The API allows less than half of what the configuration does. */
  readonly isSlow?: boolean;
  /** A request succeeded since this moment; null before the first. */
  readonly lastSuccessAt: EpochMs | null;
  /** Moment since which no request succeeds, or null while they succeed. */
  readonly failingSince: EpochMs | null;
  readonly lastFailure: string | null;
  readonly keyRejected: boolean;
  /** Refusals of the key in a row; 0 once it is accepted. */
  readonly rejections: number;
  /** True if the key may write, by its latest write, or null before the first write of this process. */
  readonly keyWrites: boolean | null;
  /** 429s of the last hour in spite of our counting. */
  readonly throttledLastHour: number;
  readonly watchedSince: EpochMs;
  readonly listed: boolean;
  readonly listFailing?: ReadFailure | null;
  /** Every list that came lately could not be recorded; null, or absent, while they are, and in the first minutes. */
  readonly listUnrecorded?: ReadFailure | null;
  /** Why no mailbox can be judged although the API answers: the statistics, or the warm-up, of none can be read. Absent or null: they can. */
  readonly unjudged?: ReadFailure | null;
  /** The mailboxes that the configuration names one by one and that the newest list does not have. */
  readonly unlisted: readonly string[];
  /** Mailboxes of the newest list that another account of the API guards. Absent: none. */
  readonly guardedElsewhere?: readonly GuardedElsewhere[];
  readonly health: 'ok' | 'other' | 'unknown';
  readonly apiHealth: ApiHealth;
  readonly queueLength: number;
  readonly oldestDueAt: EpochMs | null;
  readonly forecast: Forecast | null;
}

/** True if the state of the mailboxes may be outdated: the API fails, or nothing was read since polling began. */
export function isUnread({ failingSince, listed }: Pick<AccountState, 'failingSince' | 'listed'>): boolean {
  return failingSince !== null || !listed;
}

/** Requests by route and outcome; code is the HTTP status, or the failure's kind when there was none. */
export interface RequestCount {
  readonly account: string;
  readonly route: Route | 'warmup_write';
  readonly code: string;
}

/** Statistics are judged as soon as they are read, unless the warm-up was not read yet. */
const judgedWithinMs = 5 * minuteMs;

/** Newer statistics were read than it was judged by: without its warm-up they say nothing. */
export function awaitsJudgement({ verdict, stats }: Pick<MailboxState, 'verdict' | 'stats'>): boolean {
  return verdict !== null && stats !== null && stats.at - verdict.at > judgedWithinMs;
}

// The first sweep of an account: how far it is and when it will be done.

/**
 * judging: warm-up and statistics are read, by which the guard judges. details: then connection, DNS and blacklists are,
 * in turns with what the cadence has made due.
 */
export type SweepPart = 'judging' | 'details';

export interface SweepProgress {
  readonly account: string;
  readonly since: EpochMs;
  readonly mailboxes: number;
  readonly part: SweepPart;
  /** Number of mailboxes with nothing of this part left to read. */
  readonly read: number;
  /** Expected end of the part, or null if it can't be foreseen. */
  readonly doneAt: EpochMs | null;
  /** Moment from which findings are announced together at the end of the part. */
  readonly keptFrom: EpochMs;
}

// Something about a mailbox that was otherwise at the look before, and that Warmwarden did not do.

/** Things that are watched for changes: the warm-up as others set it, and possible causes of bounces. */
export type ChangedThing =
  | 'mode'
  | 'warm-up'
  | 'target_daily_limit'
  | 'connection'
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'spf_record'
  | 'dkim_record'
  | 'dmarc_record'
  | 'listing';

/** Change between `since` (the look before) and `at` (the look that shows it). Its author is unknown. */
export interface Change {
  readonly since: EpochMs;
  readonly at: EpochMs;
  readonly what: ChangedThing;
  /** Value before, as the API wrote it, or null if there was none. */
  readonly from: string | null;
  readonly to: string | null;
}

/** Number of newest changes that a mailbox keeps in memory; the store keeps all. */
export const changesShown = 20;

// Values that several answers of the API report: the newest answer that reports one counts.

interface Dated<Value> {
  readonly at: EpochMs;
  readonly value: Value | null;
}

/** The newest value that is known; null when none is. */
function newest<Value>(...values: readonly (Dated<Value> | null)[]): Value | null {
  let best: Dated<Value> | null = null;
  for (const one of values) if (one && one.value !== null && (best === null || one.at > best.at)) best = one;
  return best?.value ?? null;
}

export function healthScoreOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.healthScore },
    warmup && { at: warmup.at, value: warmup.answer.healthScore },
    detail && { at: detail.at, value: detail.answer.healthScore },
  );
}

export function dailyLimitOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.dailyLimit },
    warmup && { at: warmup.at, value: warmup.answer.dailyLimit },
    detail && { at: detail.at, value: detail.answer.dailyLimit },
  );
}

/** The day of the warm-up, from 1. */
export function warmupDayOf({ entry, warmup }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.warmupDay },
    warmup && { at: warmup.at, value: warmup.answer.warmupDay },
  );
}

/** The mailbox's status word, as the API wrote it. */
export function mailboxStatusOf({ entry, detail }: MailboxState): string | null {
  return newest({ at: entry.at, value: entry.answer.status }, detail && { at: detail.at, value: detail.answer.status });
}
