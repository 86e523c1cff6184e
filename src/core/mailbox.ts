// State of a mailbox and of an account, with the moments of its parts.
import { type Action, actionUnder } from './action.ts';
import type {
  BlacklistAnswer,
  DnsAnswer,
  DnsRecordName,
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

export interface NarrowRoutes {
  readonly routes: readonly Route[];
  readonly perMinute: number;
  readonly needsPerMinute: number;
}

export interface Forecast {
  readonly mailboxes: number;
  readonly allowedPerMinute: number;
  /** True if the API lets nothing start for most of the time. */
  readonly isHeldBack: boolean;
  readonly asksPerMinute: number;
  /** Maximum requests a minute in the long run, with spare ones. */
  readonly usedPerMinute: number;
  readonly narrow: NarrowRoutes | null;
  readonly fits: boolean;
  readonly oldestMs: Readonly<Record<Route, number>>;
  /** Age of the calmest mailboxes' statistics, milliseconds. Riskier ones may be read sooner. */
  readonly calmestMs: number;
  readonly firstSweepMs: number;
  readonly mend: {
    /** Limit of the key, headroom included. */
    readonly requestsPerMinute: number;
    /** Cadence that fits this budget, milliseconds. */
    readonly statsMs: number;
    readonly warmupMs: number;
  } | null;
}

/** `ACCOUNT/ID`, unique in a daemon. */
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

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

/** A name is an address, an id, ACCOUNT/ADDRESS, or a key. */
export function isCalled(name: string, mailbox: MailboxName): boolean {
  const { account, id, email } = mailbox;
  const wanted = name.toLowerCase();
  return (
    id === name ||
    mailboxKey(account, id) === name ||
    email.toLowerCase() === wanted ||
    `${account}/${email}`.toLowerCase() === wanted
  );
}

function isShellWord(text: string): boolean {
  return /^[\w.+@/-]+$/.test(text);
}

/** Quotes untrusted text as one word of a shell. */
export function shellWord(text: string): string {
  return isShellWord(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A name to type in a shell: with its account, and by its id if a shell would split the address. */
export function typedName({ account, id, email }: MailboxName): string {
  return shellWord(mailboxKey(account, isShellWord(email) ? email : id));
}

export function namedMailbox(
  name: string,
  mailboxes: Iterable<MailboxState>,
): { readonly mailbox: MailboxState } | { readonly wrong: string } {
  const all = [...mailboxes];
  const [mailbox, ...others] = all.filter((one) => isCalled(name, one));
  if (!mailbox) {
    const named = name.slice(name.indexOf('/') + 1);
    const emails = all.map(({ email }) => email);
    const near = didYouMean(named, emails);
    const next = ' `status --all` lists the mailboxes, and mailboxes.include of its account selects them.';
    return { wrong: `No guarded mailbox is called ${name}${near}.${near === '' ? next : ''}` };
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
  /** Latest changes by others, the oldest first. */
  readonly changes: readonly Change[];
}

export function mailboxUnder(mailbox: MailboxState, account: string): MailboxState {
  const { action } = mailbox;
  return { ...mailbox, account, action: action && actionUnder(action, account) };
}

export type MailboxName = Pick<MailboxState, 'account' | 'id' | 'email'>;
/** Mailbox of one account's list. */
export type ListedMailbox = Pick<MailboxState, 'id' | 'email'>;

/** Tags by the configuration: each is a word, such as `vip`, or a key and its value, such as `client=north`. */
export interface Tags {
  readonly all: () => readonly string[];
  readonly of: (mailbox: MailboxName) => readonly string[];
  readonly ofAccount: (account: string) => readonly string[];
  /** For each tag of the account: all tags of its name that overrides may give a mailbox in its place, and itself. */
  readonly choicesOf: (account: string) => readonly (readonly string[])[];
}

export const noTags: Tags = { all: () => [], of: () => [], ofAccount: () => [], choicesOf: () => [] };

/** Name and value of a tag. A word has the value `true`. */
export function tagParts(tag: string): readonly [name: string, value: string] {
  const [name = tag, value = 'true'] = tag.split('=');
  return [name, value];
}

/** Name of its label in Alertmanager: `tag_client`. */
export function tagLabel(name: string): string {
  return `tag_${name.replaceAll(/\W/g, '_')}`;
}

/** Joins lists of tags. A name has one value: that of the latest list. */
export function mergedTags(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Map(lists.flat().map((tag) => [tagParts(tag)[0], tag])).values()];
}

/**
 * The states, which are the same words in metrics, JSON and recipes. label: fits a row of 80 columns. counted: follows a
 * number of mailboxes. urgency: highest for states that wait for a person, then for those that can't be judged, that
 * were contained, that are near a limit.
 */
export const stateTable = {
  ok: { label: 'OK', counted: 'within limits', urgency: 0 },
  near_limit: { label: 'Near limit', counted: 'near the limit', urgency: 4 },
  over_limit: { label: 'Over limit', counted: 'over the limit and not acted on', urgency: 6 },
  held: { label: 'Held', counted: 'over the limit and held', urgency: 9 },
  recovering: { label: 'Slowed by Warmwarden', counted: 'slowed by Warmwarden', urgency: 5 },
  paused_by_guard: { label: 'Paused by Warmwarden', counted: 'paused by Warmwarden', urgency: 7 },
  paused_by_others: { label: 'Paused by others', counted: 'paused by others', urgency: 3 },
  not_running: { label: 'Not running', counted: 'not running', urgency: 2 },
  no_warmup: { label: 'No warm-up', counted: 'without a warm-up', urgency: 1 },
  not_judged: { label: 'Not judged', counted: 'not judged', urgency: 8 },
} as const;
export type GuardState = keyof typeof stateTable;
export const guardStates = Object.keys(stateTable) as [GuardState, ...GuardState[]];
/** States, the most urgent first. */
export const urgentStates = guardStates.toSorted((a, b) => stateTable[b].urgency - stateTable[a].urgency);

/** Latest answer of GET /v1/health. A failed request changes nothing. */
export interface ApiHealth {
  /** The status word as sent, or null before the first answer. */
  readonly status: string | null;
  readonly version?: string;
  /** Our clock's lead over the API's in milliseconds, or null before the second answer. */
  readonly clockAheadMs: number | 'not_told' | null;
}

/** Milliseconds by which the API's clock is ahead of ours, or 0 if unknown. */
export function aheadMs(account: Pick<AccountState, 'apiHealth'> | undefined): number {
  const ahead = account?.apiHealth.clockAheadMs;
  return typeof ahead === 'number' ? Math.max(0, -ahead) : 0;
}

export interface ReadFailure {
  readonly since: EpochMs;
  readonly detail: string;
}

export interface AccountState {
  readonly name: string;
  readonly requestsPerMinute: number;
  readonly limitPerMinute: number;
  /** Configured limit, requests a minute. */
  readonly configuredPerMinute: number;
  /** True if the API allows less than half of the configured limit. */
  readonly isSlow: boolean;
  readonly lastSuccessAt: EpochMs | null;
  readonly failingSince: EpochMs | null;
  readonly lastFailure: string | null;
  readonly keyRejected: boolean;
  readonly rejections: number;
  /** True if the key's latest write was allowed, or null before the first one. */
  readonly keyWrites: boolean | null;
  /** 429s of the last hour despite our budget. */
  readonly throttledLastHour: number;
  readonly watchedSince: EpochMs;
  readonly listed: boolean;
  readonly listFailing?: ReadFailure | null;
  /** Set if no recent list could be recorded. Null in the first minutes. */
  readonly listUnrecorded?: ReadFailure | null;
  /** Set if no mailbox can be judged although the API answers. */
  readonly unjudged?: ReadFailure | null;
  readonly unlisted: readonly string[];
  readonly guardedElsewhere?: readonly MailboxName[];
  readonly health: 'ok' | 'other' | 'unknown';
  readonly apiHealth: ApiHealth;
  readonly queueLength: number;
  readonly oldestDueAt: EpochMs | null;
  readonly forecast: Forecast | null;
}

export function isUnread({ failingSince, listed }: Pick<AccountState, 'failingSince' | 'listed'>): boolean {
  return failingSince !== null || !listed;
}

/** Count by route and outcome; code is the HTTP status or the kind of failure. */
export interface RequestCount {
  readonly account: string;
  readonly route: Route | 'warmup_write' | 'mailbox_write';
  readonly code: string;
}

/** Statistics are judged at once, unless the warm-up was not read yet. */
const judgedWithinMs = 5 * minuteMs;

/** True if newer statistics wait for their warm-up. */
export function awaitsJudgement({
  verdict,
  stats,
}: Readonly<Record<'verdict' | 'stats', { readonly at: EpochMs } | null>>): boolean {
  return verdict !== null && stats !== null && stats.at - verdict.at > judgedWithinMs;
}

export interface SweepProgress {
  readonly account: string;
  readonly since: EpochMs;
  readonly mailboxes: number;
  /** Mailboxes whose warm-up and statistics were read. */
  readonly read: number;
  readonly doneAt: EpochMs | null;
}

// Changes of a mailbox between two looks that others made.

/** Warm-up settings, and possible causes of bounces. */
export type ChangedThing =
  | 'mode'
  | 'warm-up'
  | 'target_daily_limit'
  | 'connection'
  | 'listing'
  | DnsRecordName
  | `${DnsRecordName}_record`;

/** Change between the looks at `since` and `at`. Its author is unknown. */
export interface Change {
  readonly since: EpochMs;
  readonly at: EpochMs;
  readonly what: ChangedThing;
  readonly from: string | null;
  readonly to: string | null;
}

/** Number of changes in memory; the store keeps all. */
export const changesShown = 20;

type AnswerField<Field extends string, Value> = Observed<{ readonly [Name in Field]: Value | null }> | null;

/** Value of a field that several answers have: the newest that is not null. */
function newest<Field extends string, Value>(field: Field, ...answers: readonly AnswerField<Field, Value>[]) {
  const known = answers.flatMap((one) => (one && one.answer[field] !== null ? one : []));
  return known.sort((a, b) => b.at - a.at)[0]?.answer[field] ?? null;
}

export function healthScoreOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest<'healthScore', number>('healthScore', entry, warmup, detail);
}

export function dailyLimitOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest<'dailyLimit', number>('dailyLimit', entry, warmup, detail);
}

/** The first day is 1. */
export function warmupDayOf({ entry, warmup }: MailboxState): number | null {
  return newest<'warmupDay', number>('warmupDay', entry, warmup);
}

export function mailboxStatusOf({ entry, detail }: MailboxState): string | null {
  return newest<'status', string>('status', entry, detail);
}
