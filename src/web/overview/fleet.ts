// View of the fleet on pages and in /api/fleet: ranked worst first, counted, filtered and paged, with the headline.
import { silenceOf } from '../../alerts/routing.ts';
import { concerns } from '../../alerts/rules/finding-rules.ts';
import type { Alert, Silence } from '../../core/alert.ts';
import { dnsRecords } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { healthScoreOf } from '../../core/fleet/newest-value.ts';
import { unreadAccounts } from '../../core/fleet/unread-accounts.ts';
import { guardStateOf } from '../../core/guard/run-state.ts';
import { domainOf, type GuardState, guardStates, type MailboxState } from '../../core/mailbox.ts';
import { type Ppm, ratePpm } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { visibleText } from '../../core/wording/phrases.ts';
import { means, oneOf, type Query, upTo, whole } from '../query.ts';
import type { PolicyOf, RankingPolicy, RouteParts, Tags } from '../route-parts.ts';
import { FiringAlerts, gravestFirst, gravities, isFiring, WideAlerts } from './alerts.ts';
import { type FleetTotals, headlineOf, type StateCounts } from './headline.ts';

export interface MailboxRow {
  readonly mailbox: MailboxState;
  /** Address, with the id if the address is not unique. Not escaped yet. */
  readonly label: string;
  readonly state: GuardState;
  readonly verdict: Verdict | null;
  /** Bounces per million sent in the verdict's window, or null if nothing was counted. */
  readonly ratePpm: Ppm | null;
  readonly healthScore: number | null;
  readonly dns: DnsSummary;
  /**
   * Number of blacklists with the mailbox, 'listed' if they could not be counted, or null if inconclusive or never
   * read.
   */
  readonly listings: number | 'listed' | null;
  /** Time at which the statistics were last read, or null if never. */
  readonly statsAt: EpochMs | null;
  /** Firing alerts about this mailbox. */
  readonly alerts: readonly Alert[];
}

export interface DnsSummary {
  readonly failing: readonly string[];
  readonly inconclusive: readonly string[];
  readonly read: boolean;
}

/**
 * States, worst first: mailboxes that wait for a person, then those that can't be judged, that were contained, that are
 * near a limit, and that are fine.
 */
export const stateOrder: readonly GuardState[] = [
  'held',
  'not_judged',
  'paused_by_guard',
  'over_limit',
  'recovering',
  'near_limit',
  'paused_by_others',
  'not_running',
  'no_warmup',
  'ok',
];
/** Rank before all other mailboxes, whatever their alerts. */
const heldEmergency = -1 - gravities.critical * stateOrder.length;

/** Data by which all mailboxes are counted, filtered and sorted. Rows are built only for the shown ones. */
export interface RankedMailbox {
  readonly mailbox: MailboxState;
  readonly state: GuardState;
  /** True if the configuration lets Warmwarden act on the mailbox. */
  readonly enforced: boolean;
  /** Firing alerts about the mailbox. */
  readonly alerts: readonly Alert[];
  /** Urgency; lower is worse. */
  readonly urgency: number;
  /** Bounce rate as a share of the limit, or -1 if nothing was counted. */
  readonly closeness: number;
}

/**
 * Row of one mailbox. Includes alerts of its domain and its IP address that concern it, and of the circuit breaker that
 * holds it.
 */
export function rowOf(fleet: Fleet, mailbox: MailboxState, policyOf: PolicyOf): MailboxRow {
  const shared = [...fleet.wideAlerts()].filter((alert) => concerns(alert, mailbox) || isHolding(alert, mailbox));
  const firing = [...fleet.alertsAbout(mailbox), ...shared].filter(isFiring);
  return makeRow(fleet, { mailbox, state: guardStateOf(mailbox, policyOf(mailbox).nearLimitPpm), alerts: firing });
}

function isHolding({ rule, facts }: Alert, { account, verdict }: MailboxState): boolean {
  const held = rule === 'guard_held' && verdict?.answer.reason === 'circuit_breaker';
  return held && (facts.accounts ?? []).includes(account);
}

/**
 * Ranks a mailbox. A critical alert (DNS, disconnected) without a silence ranks it first, even if the guard's verdict
 * is fine.
 */
function rank(
  mailbox: MailboxState,
  policy: RankingPolicy,
  { alerts, silences }: { readonly alerts: readonly Alert[]; readonly silences: readonly Silence[] },
): RankedMailbox {
  const state = guardStateOf(mailbox, policy.nearLimitPpm);
  const loud = silences.length === 0 ? alerts : alerts.filter((alert) => silenceOf(alert, silences) === null);
  const urgency = isHeldEmergency(state, mailbox.verdict?.answer) ? heldEmergency : urgencyWith(state, loud);
  return { mailbox, state, enforced: policy.enforce, alerts, urgency, closeness: closenessOf(mailbox) };
}

/** True for an emergency that Warmwarden has not acted on. `verdict`: verdict on the mailbox, if any. */
export function isHeldEmergency(state: GuardState, verdict: Pick<Verdict, 'emergency'> | null | undefined): boolean {
  return state === 'held' && (verdict?.emergency ?? null) !== null;
}

/** Urgency of a mailbox in a state with these alerts; lower is worse. */
export function urgencyWith(state: GuardState, alerts: Iterable<Alert>): number {
  let gravest = 0;
  for (const { severity } of alerts) gravest = Math.max(gravest, gravities[severity]);
  return stateOrder.indexOf(state) - gravest * stateOrder.length;
}

function closenessOf({ verdict }: MailboxState): number {
  const limitPpm = verdict?.answer.limitPpm;
  const rate = verdict && rateOf(verdict.answer);
  return rate === null || !limitPpm ? -1 : rate / limitPpm;
}

/** Bounces per million sent in the window, or null if nothing was counted. */
function rateOf(verdict: Verdict): Ppm | null {
  return verdict.windowFrom ? ratePpm(verdict) : null;
}

const sortings = ['worst', 'address', 'account', 'rate', 'left', 'health', 'age'] as const;
/**
 * worst: mailboxes that need a person come first. The others sort by one column, with worse or older values first and
 * names from A to Z.
 */
export type Sorting = (typeof sortings)[number];

type Order = (a: RankedMailbox, b: RankedMailbox) => number;

/** Sorts by a number, smallest first and unknown last; then worst first. */
function byNumber(numberOf: (mailbox: MailboxState) => number | null): Order {
  const known = ({ mailbox }: RankedMailbox) => numberOf(mailbox) ?? Number.MAX_SAFE_INTEGER;
  return (a, b) => known(a) - known(b) || worstFirst(a, b);
}

function byWord(wordOf: (mailbox: MailboxState) => string): Order {
  return (a, b) => {
    const [one, other] = [wordOf(a.mailbox), wordOf(b.mailbox)];
    return one === other ? worstFirst(a, b) : one < other ? -1 : 1;
  };
}

const orders: Readonly<Record<Sorting, Order>> = {
  worst: worstFirst,
  address: byWord(({ email }) => email),
  account: byWord(({ account }) => account),
  rate: byNumber(({ verdict }) => {
    const rate = verdict && rateOf(verdict.answer);
    return rate === null ? null : -rate;
  }),
  left: byNumber(({ verdict }) => (verdict?.answer.windowFrom ? verdict.answer.bouncesUntilBreach : null)),
  health: byNumber(healthScoreOf),
  age: byNumber(({ stats }) => stats?.at ?? 0),
};

/** Values that the worst-first order compares. */
export interface Rank extends Pick<RankedMailbox, 'urgency' | 'closeness'> {
  readonly mailbox: Pick<MailboxState, 'account' | 'id' | 'email'>;
}

export function worstFirst(a: Rank, b: Rank): number {
  if (a.urgency !== b.urgency) return a.urgency - b.urgency;
  if (a.closeness !== b.closeness) return b.closeness - a.closeness;
  for (const name of ['email', 'id', 'account'] as const) {
    const [one, other] = [a.mailbox[name], b.mailbox[name]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

function makeRow(
  fleet: Fleet,
  { mailbox, state, alerts }: Pick<RankedMailbox, 'mailbox' | 'state' | 'alerts'>,
): MailboxRow {
  const verdict = mailbox.verdict?.answer ?? null;
  return {
    mailbox,
    label: fleet.nameOf(mailbox),
    state,
    verdict,
    ratePpm: verdict && rateOf(verdict),
    healthScore: healthScoreOf(mailbox),
    dns: dnsSummaryOf(mailbox),
    listings: listingsOf(mailbox),
    statsAt: mailbox.stats?.at ?? null,
    alerts: alerts.toSorted(gravestFirst),
  };
}

function dnsSummaryOf(mailbox: MailboxState): DnsSummary {
  const records = mailbox.dns?.answer.records;
  if (!records) return { failing: [], inconclusive: [], read: false };
  return {
    failing: dnsRecords.filter((name) => records[name].pass === false),
    inconclusive: dnsRecords.filter((name) => records[name].pass === null),
    read: true,
  };
}

function listingsOf(mailbox: MailboxState): number | 'listed' | null {
  const blacklist = mailbox.blacklist?.answer;
  if (!blacklist || blacklist.listed === null) return null;
  return blacklist.listed ? (blacklist.found ?? 'listed') : 0;
}

function totalsOf(ranked: readonly RankedMailbox[], fleet: Fleet): FleetTotals {
  const counts = Object.fromEntries(guardStates.map((state) => [state, 0])) as Record<GuardState, number>;
  const heldBy = { breaker: 0, readOnlyKey: 0, enforcementOff: 0 };
  const providers = new Set<string>();
  const unreadNow = unreadAccounts(fleet);
  let [okWhenRead, unread, firstSeenAt, oldestStatsAt] = [0, 0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const one of ranked) {
    const { mailbox, state } = one;
    const { account, entry, stats } = mailbox;
    counts[state] += 1;
    if (state === 'ok' && unreadNow.has(account)) okWhenRead += 1;
    const cause = holdCauseOf(one, fleet);
    if (cause !== null) heldBy[cause] += 1;
    if (entry.answer.provider !== null) providers.add(entry.answer.provider);
    firstSeenAt = Math.min(firstSeenAt, mailbox.firstSeenAt);
    if (stats) oldestStatsAt = Math.min(oldestStatsAt, stats.at);
    else unread += 1;
  }
  const orNull = (at: EpochMs) => (Number.isFinite(at) ? at : null);
  return {
    counts,
    okWhenRead,
    heldBy,
    providers,
    firstSeenAt: orNull(firstSeenAt),
    oldestStatsAt: orNull(oldestStatsAt),
    unread,
  };
}

function holdCauseOf({ mailbox, state, enforced }: RankedMailbox, fleet: Fleet): keyof FleetTotals['heldBy'] | null {
  const verdict = mailbox.verdict?.answer;
  if (state !== 'held') return null;
  if (verdict?.reason === 'circuit_breaker') return 'breaker';
  if (verdict?.action === 'hold') return null;
  if (!enforced) return 'enforcementOff';
  return fleet.account(mailbox.account)?.keyWrites === false ? 'readOnlyKey' : null;
}

/** Mailboxes in each state. Mailboxes of an unread account that were OK when last read count as not judged. */
export function countsNow({ counts, okWhenRead }: Pick<FleetTotals, 'counts' | 'okWhenRead'>): StateCounts {
  return { ...counts, ok: counts.ok - okWhenRead, not_judged: counts.not_judged + okWhenRead };
}

export interface Selection {
  /** Part of an address, id, account, domain or mode. Matches all if empty. */
  readonly text: string;
  readonly state: GuardState | null;
  /** Exact name of the account, or null for any. */
  readonly account: string | null;
  readonly domain: string | null;
  readonly provider: string | null;
  readonly tag: string | null;
  readonly sort: Sorting;
  /** Number of the page, from 1. */
  readonly page: number;
}

/** Selects all mailboxes, worst first. */
export const wholeFleet: Selection = {
  text: '',
  state: null,
  account: null,
  domain: null,
  provider: null,
  tag: null,
  sort: 'worst',
  page: 1,
};

export const noTags: Tags = { all: () => [], of: () => [] };

export interface Page {
  readonly rows: readonly MailboxRow[];
  /** Number of rows in the selection, on all pages. */
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** Values that the filters of the fleet offer. */
export interface Facets {
  readonly accounts: readonly string[];
  readonly providers: readonly string[];
  readonly tags: readonly string[];
}

/** Largest number of providers that the filter offers; a longer list would be useless. */
const providersOffered = 100;

export function facetsOf(fleet: Fleet, providers: ReadonlySet<string>, tags: Tags): Facets {
  return {
    accounts: [...fleet.accounts()].map(({ name }) => name).sort(),
    providers: [...providers].sort().slice(0, providersOffered),
    tags: tags.all(),
  };
}

function choose(selection: Selection, tags: Tags): (one: RankedMailbox) => boolean {
  const { text, state, account, domain, provider, tag } = selection;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (one) => {
    const { mailbox } = one;
    return (
      (state === null || one.state === state) &&
      (account === null || mailbox.account === account) &&
      (domain === null || domainOf(mailbox.email) === domain) &&
      (provider === null || mailbox.entry.answer.provider === provider) &&
      (tag === null || tags.of(mailbox).includes(tag)) &&
      words.every((word) => matches(one, word))
    );
  };
}

function matches({ mailbox, state }: RankedMailbox, word: string): boolean {
  const { email, account, id, warmup } = mailbox;
  const mode = warmup?.answer.mode ?? '';
  return [visibleText(email), account, id, state, mode].some((text) => text.toLowerCase().includes(word));
}

const maxFilterLength = 200;

/** Filters of GET /api/fleet and of the page. */
export const fleetFilters = {
  q: means('Words that the address, account, id, state or mode must contain.', upTo(maxFilterLength)),
  state: means("One of the guard's states.", oneOf(...guardStates)),
};

/** Parameters of the page. */
export const pageParameters = {
  ...fleetFilters,
  page: whole(1),
  account: upTo(maxFilterLength),
  domain: upTo(maxFilterLength),
  provider: upTo(maxFilterLength),
  tag: upTo(maxFilterLength),
  sort: oneOf(...sortings),
};

export function selectionFrom(asked: Partial<Query<typeof pageParameters>>): Selection {
  const { q, state, account, domain, provider, tag, sort, page } = asked;
  return {
    text: (q ?? '').trim(),
    state: state ?? null,
    // An empty text from a select of the form means all.
    account: account || null,
    domain: domain || null,
    provider: provider || null,
    tag: tag || null,
    sort: sort ?? wholeFleet.sort,
    page: page ?? wholeFleet.page,
  };
}

const rowsAPage = 50;

/** Returns the rows of one page; a page beyond the last is the last one. */
export function selectPage(
  { ranked }: Picture,
  selection: Selection,
  { fleet, tags }: Pick<RouteParts, 'fleet' | 'tags'>,
): Page {
  const chosen = ranked.filter(choose(selection, tags)).sort(orders[selection.sort]);
  const pages = Math.max(1, Math.ceil(chosen.length / rowsAPage));
  const page = Math.min(selection.page, pages);
  const shown = chosen.slice((page - 1) * rowsAPage, page * rowsAPage);
  return { rows: shown.map((one) => makeRow(fleet, one)), total: chosen.length, page, pages };
}

/**
 * Rows after a rank, worst first. The rank is the position at the time of its read, so changes since do not shift other
 * rows.
 */
export interface RowsAfter {
  readonly rows: readonly MailboxRow[];
  /** Number of rows in the selection. */
  readonly total: number;
  /** Rank of the last row, or null if no rows follow. */
  readonly last: Rank | null;
}

/** Returns at most `limit` rows. Starts with the worst if `after` is null. */
export function rowsAfter(
  { ranked }: Picture,
  { text, state }: Pick<Selection, 'text' | 'state'>,
  { fleet, after, limit }: { readonly fleet: Fleet; readonly after: Rank | null; readonly limit: number },
): RowsAfter {
  const chosen = ranked.filter(choose({ ...wholeFleet, text, state }, noTags)).sort(worstFirst);
  const behind = after === null ? chosen : chosen.filter((one) => worstFirst(one, after) > 0);
  const shown = behind.slice(0, limit);
  const last = behind.length > limit ? (shown.at(-1) ?? null) : null;
  return { rows: shown.map((one) => makeRow(fleet, one)), total: chosen.length, last };
}

export type RankingParts = Pick<RouteParts, 'fleet' | 'world' | 'policyOf'>;

/** Every mailbox with its state, its alerts and its urgency, in no particular order. */
export function rankedOf({ fleet, world, policyOf }: RankingParts): readonly RankedMailbox[] {
  const wide = new WideAlerts(fleet.wideAlerts());
  const silences = fleet.silences(world.clock.now());
  return [...fleet.mailboxes()].map((mailbox) => {
    const alerts = [...fleet.alertsAbout(mailbox).filter(isFiring), ...wide.concerning(mailbox)];
    return rank(mailbox, policyOf(mailbox), { alerts, silences });
  });
}

export type PictureParts = RankingParts & Pick<RouteParts, 'ready' | 'explain' | 'timeZone'>;
export type Picture = ReturnType<typeof pictureOf>;

/** Common data of the fleet's page and of /api/fleet. */
export function pictureOf(parts: PictureParts) {
  const { fleet, world, ready, timeZone } = parts;
  const ranked = rankedOf(parts);
  const now = world.clock.now();
  const facts = {
    ...totalsOf(ranked, fleet),
    accounts: [...fleet.accounts()],
    firing: new FiringAlerts(fleet.alerts()),
    incidents: fleet.incidents().filter(({ endedAt }) => endedAt === null),
    recentActions: fleet.recentActions(),
    ready: ready(),
    guarding: fleet.guarding(),
    storeFailure: fleet.storeFailure,
    writesOff: fleet.writesOff(now),
    sweeps: [...fleet.sweeps()],
    now,
    command: world.command,
    zone: timeZone(),
  };
  return { ...facts, ranked, headline: headlineOf(facts) };
}
