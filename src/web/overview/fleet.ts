// View of the fleet on pages and in /api/fleet: ranked worst first, counted, filtered and paged, with the headline.
import { silenceOf } from '../../alerts/routing.ts';
import type { ActionKind } from '../../core/action.ts';
import type { Alert, Silence } from '../../core/alert.ts';
import { severities } from '../../core/alert-rules.ts';
import { dnsRecords } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { guardStateOf } from '../../core/guard/run-state.ts';
import {
  domainOf,
  type GuardState,
  guardStates,
  healthScoreOf,
  type MailboxState,
  mailboxKey,
  stateTable,
  urgentStates,
} from '../../core/mailbox.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import { accountBadges, notGuardedBy, type Trouble } from '../../core/not-guarded.ts';
import { type Policy, type Ppm, ratePpm } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { counted, countedOf, roughSpanText, visibleText } from '../../core/wording/phrases.ts';
import { factsOf, type HeldRow, holdOf, isHeld, uncountedBy } from '../../core/wording/states.ts';
import { enforcementOff, writesAreOff } from '../../core/write-scope.ts';
import { compareKeys, type Key, means, oneOf, pageNumbered, type Query, upTo, whole } from '../query.ts';
import { orNull, type PolicyOf, type RouteParts } from '../route-parts.ts';
import { FiringAlerts, gravestFirst, isFiring, WideAlerts } from './alerts.ts';
import { type HeadlineFacts, headlineOf, type StateCounts } from './headline.ts';

export interface MailboxRow {
  readonly mailbox: MailboxState;
  /** Address, with the id if the address is not unique. Not escaped yet. */
  readonly label: string;
  readonly state: GuardState;
  readonly verdict: Verdict | null;
  /** Bounces per million sent, of the counts that decided, or null if nothing was counted. */
  readonly ratePpm: Ppm | null;
  readonly healthScore: number | null;
  /** Names of the DNS records that fail or are inconclusive, or null if they were never read. */
  readonly dns: { readonly failing: readonly string[]; readonly inconclusive: readonly string[] } | null;
  /** Number of blacklists with the mailbox, 'listed' if they could not be counted, or null if unknown. */
  readonly listings: number | 'listed' | null;
  readonly statsAt: EpochMs | null;
  readonly alerts: readonly Alert[];
}

/** Rank before all other mailboxes, whatever their alerts. */
const heldEmergency = -1;

/** Data by which all mailboxes are counted, filtered and sorted. Rows are built only for the shown ones. */
export interface RankedMailbox {
  readonly mailbox: MailboxState;
  readonly state: GuardState;
  readonly alerts: readonly Alert[];
  /** Lower is worse. */
  readonly rank: number;
  /** Sort key: worst first. */
  readonly key: Key;
}

/** Row of one mailbox, with the alerts of its domain, its IP address and the circuit breaker that concern it. */
export function rowOf(fleet: Fleet, mailbox: MailboxState, policyOf: PolicyOf): MailboxRow {
  const alerts = alertsOn(fleet, new WideAlerts(fleet.wideAlerts()), mailbox);
  const state = guardStateOf(mailbox, policyOf(mailbox).nearLimitPpm, fleet.isStale(mailbox));
  return makeRow(fleet, { mailbox, state, alerts });
}

function alertsOn(fleet: Fleet, wide: WideAlerts, mailbox: MailboxState): readonly Alert[] {
  return [...fleet.alertsAbout(mailbox).filter(isFiring), ...wide.concerning(mailbox)];
}

/** Ranks a mailbox. A critical alert without a silence ranks it first, even if the guard's verdict is fine. */
function ranked(
  mailbox: MailboxState,
  { nearLimitPpm }: Policy,
  { alerts, silences }: { readonly alerts: readonly Alert[]; readonly silences: readonly Silence[] },
  fleet: Fleet,
): RankedMailbox {
  const state = guardStateOf(mailbox, nearLimitPpm, fleet.isStale(mailbox));
  const verdict = mailbox.verdict?.answer ?? null;
  const loud = silences.length === 0 ? alerts : alerts.filter((alert) => silenceOf(alert, silences, fleet) === null);
  const rank = isHeldEmergency(state, verdict) ? heldEmergency : rankWith(state, loud);
  const rate = verdict && rateOf(verdict);
  const closeness = rate === null || !verdict?.limitPpm ? -1 : rate / verdict.limitPpm;
  const key = [rank, -closeness, mailbox.email, mailbox.id, mailbox.account];
  return { mailbox, state, alerts, rank, key };
}

function isHeldEmergency(state: GuardState, verdict: Verdict | null): boolean {
  return state === 'held' && verdict !== null && verdict.emergency !== null;
}

export function rankWith(state: GuardState, alerts: readonly Alert[]): number {
  const gravest = Math.min(severities.length - 1, ...alerts.map(({ severity }) => severities.indexOf(severity)));
  return urgentStates.indexOf(state) + gravest * urgentStates.length;
}

function rateOf(verdict: Verdict): Ppm | null {
  if (verdict.emergency) return ratePpm(verdict.emergency);
  return verdict.windowFrom ? ratePpm(verdict) : null;
}

type Order = (mailboxes: readonly RankedMailbox[]) => readonly RankedMailbox[];

/** Orders by a key, smallest first and null last; then worst first. */
function by<Key extends number | string>(keyOf: (mailbox: MailboxState) => Key | null): Order {
  return (mailboxes) =>
    mailboxes.toSorted((a, b) => {
      const [one, other] = [keyOf(a.mailbox), keyOf(b.mailbox)];
      if (one === other) return worstFirst(a, b);
      return other === null || (one !== null && one < other) ? -1 : 1;
    });
}

/** Sort orders of the table. Worse or older values come first, and names from A to Z. */
const orders = {
  worst: (mailboxes) => mailboxes.toSorted(worstFirst),
  address: by(({ email }) => email),
  account: by(({ account }) => account),
  rate: by(({ verdict }) => {
    const rate = verdict && rateOf(verdict.answer);
    return rate === null ? null : -rate;
  }),
  left: by(({ verdict }) => (verdict?.answer.windowFrom ? verdict.answer.bouncesUntilBreach : null)),
  health: by(healthScoreOf),
  age: by(({ stats }) => stats?.at ?? 0),
  held: oldestFirst,
} as const satisfies Readonly<Record<string, Order>>;
export type Sorting = keyof typeof orders;

export function worstFirst(a: RankedMailbox, b: RankedMailbox): number {
  return compareKeys(a.key, b.key);
}

export function makeRow(
  fleet: Fleet,
  { mailbox, state, alerts }: Pick<RankedMailbox, 'mailbox' | 'state' | 'alerts'>,
): MailboxRow {
  const verdict = mailbox.verdict?.answer ?? null;
  const records = mailbox.dns?.answer.records;
  const namesWith = (pass: boolean | null) => dnsRecords.filter((name) => records?.[name].pass === pass);
  return {
    mailbox,
    label: fleet.nameOf(mailbox),
    state,
    verdict,
    ratePpm: verdict && rateOf(verdict),
    healthScore: healthScoreOf(mailbox),
    dns: records ? { failing: namesWith(false), inconclusive: namesWith(null) } : null,
    listings: listingsOf(mailbox),
    statsAt: mailbox.stats?.at ?? null,
    alerts: alerts.toSorted(gravestFirst),
  };
}

function listingsOf(mailbox: MailboxState): number | 'listed' | null {
  const blacklist = mailbox.blacklist?.answer;
  if (!blacklist || blacklist.listed === null) return null;
  return blacklist.listed ? (blacklist.found ?? 'listed') : 0;
}

function totalsOf(ranked: readonly RankedMailbox[], fleet: Fleet) {
  const counts = Object.fromEntries(guardStates.map((state) => [state, 0])) as Record<GuardState, number>;
  const providers = new Set<string>();
  const unreadNow = fleet.unreadAccounts();
  const uncounted = { tomorrow: 0, noEmails: 0 };
  let [okWhenRead, unread, firstSeenAt, oldestStatsAt] = [0, 0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { mailbox, state } of ranked) {
    const { account, entry, stats } = mailbox;
    counts[state] += 1;
    const verdict = mailbox.verdict?.answer;
    const by = verdict ? uncountedBy(state, { sent: verdict.sent, days: verdict.windowDays }) : null;
    if (state === 'ok' && unreadNow.has(account)) okWhenRead += 1;
    else if (by) uncounted[by] += 1;
    if (entry.answer.provider !== null) providers.add(entry.answer.provider);
    firstSeenAt = Math.min(firstSeenAt, mailbox.firstSeenAt);
    if (stats) oldestStatsAt = Math.min(oldestStatsAt, stats.at);
    else unread += 1;
  }
  const orNull = (at: EpochMs) => (Number.isFinite(at) ? at : null);
  return {
    counts,
    okWhenRead,
    uncounted,
    providers,
    firstSeenAt: orNull(firstSeenAt),
    oldestStatsAt: orNull(oldestStatsAt),
    unread,
  };
}

/** Counts the mailboxes that are judged and may be changed, on accounts that are guarded and read. */
function guardedOf(
  ranked: readonly RankedMailbox[],
  { troubles, now }: { readonly troubles: readonly Trouble[]; readonly now: EpochMs },
  { fleet, policyOf }: Pick<PictureParts, 'fleet' | 'policyOf'>,
): number {
  const [badges, unread] = [accountBadges(troubles), fleet.unreadAccounts()];
  const isGuarded = ({ mailbox, mailbox: { account, id }, state }: RankedMailbox) =>
    state !== 'not_judged' &&
    policyOf(mailbox).enforce &&
    !badges.has(account) &&
    !unread.has(account) &&
    fleet.writesOffOver(account, id, now) === null;
  return fleet.storeFailure ? 0 : ranked.filter(isGuarded).length;
}

export function countsNow({ counts, okWhenRead }: Pick<HeadlineFacts, 'counts' | 'okWhenRead'>): StateCounts {
  return { ...counts, ok: counts.ok - okWhenRead, not_judged: counts.not_judged + okWhenRead };
}

const maxFilterLength = 200;

export const fleetFilters = {
  q: means('Words that the address, account, id, state or mode must contain.', upTo(maxFilterLength)),
  state: means("One of the guard's states.", oneOf(...guardStates)),
  account: means('The name of an account.', upTo(maxFilterLength)),
  held: means(
    'true: only mailboxes that are paused, in recovery by Warmwarden, or held, the oldest first.',
    oneOf('true'),
  ),
};

export const tagFilter = means('A glob on a tag: vip, client=north, client=*.', upTo(maxFilterLength));

export const pageParameters = {
  ...fleetFilters,
  page: whole(1),
  domain: upTo(maxFilterLength),
  provider: upTo(maxFilterLength),
  tag: tagFilter,
  sort: oneOf(...(Object.keys(orders) as readonly Sorting[])),
};
export type Selection = Partial<Query<typeof pageParameters>>;

export function selectMailboxes(ranked: readonly RankedMailbox[], selection: Selection, { tags }: Pick<Fleet, 'tags'>) {
  const { q = '', state, account, domain, provider, tag, held } = selection;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return ranked.filter(
    (one) =>
      (!state || one.state === state) &&
      (!held || isHeld(one)) &&
      (!account || one.mailbox.account === account) &&
      (!domain || domainOf(one.mailbox.email) === domain) &&
      (!provider || one.mailbox.entry.answer.provider === provider) &&
      (!tag || tags.of(one.mailbox).some((own) => fitsGlob(tag, own))) &&
      words.every((word) => hasWord(one, word)),
  );
}

function hasWord({ mailbox, state }: RankedMailbox, word: string): boolean {
  const { email, account, id, warmup } = mailbox;
  const texts = [visibleText(email), account, id, state, stateTable[state].label, warmup?.answer.mode ?? ''];
  return texts.some((text) => text.toLowerCase().includes(word));
}

/** Sort key: the oldest first. What memory does not date comes before all others. */
export function heldKey(one: RankedMailbox): Key {
  const { account, id, email } = one.mailbox;
  const { since } = holdOf(one, factsOf(one.mailbox), { zone: 'UTC', isUnread: false, now: 0, stop: null });
  return [since ?? 0, one.rank, email, id, account];
}

/** Sorts by `heldKey`, which is made once for each mailbox. */
function oldestFirst(mailboxes: readonly RankedMailbox[]): readonly RankedMailbox[] {
  const keyed = mailboxes.map((one) => ({ one, key: heldKey(one) }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ one }) => one);
}

/** Returns null if nothing holds the mailbox. Reads the store if a later change hides in memory who paused it. */
export async function holdFacts(
  {
    fleet,
    world,
    entries,
    timeZone,
    policyOf,
  }: Pick<RouteParts, 'fleet' | 'world' | 'entries' | 'timeZone' | 'policyOf'>,
  row: HeldRow & { readonly mailbox: MailboxState },
) {
  if (!isHeld(row)) return null;
  const { memory, action } = row.mailbox;
  const isInMemory = memory?.claim ? memory.claim.actionId === action?.id : !leavesPause.includes(action?.kind);
  const read = () => entries.entriesOf(row.mailbox, Number.MAX_SAFE_INTEGER, entriesRead);
  const facts = (isInMemory ? null : await orNull(world, read)) ?? factsOf(row.mailbox);
  const { account, id } = row.mailbox;
  const isUnread = typeof fleet.account(account)?.failingSince === 'number';
  const off = fleet.writesOffOver(account, id, world.clock.now());
  const waitsForGuard = row.state === 'held' || row.state === 'recovering';
  const unenforced = waitsForGuard && !policyOf(row.mailbox).enforce ? enforcementOff : null;
  const stop = off ? writesAreOff(off) : unenforced;
  const hold = holdOf(row, facts, { zone: timeZone(), isUnread, now: world.clock.now(), stop });
  const key = mailboxKey(account, id);
  const held = [...fleet.breakers()].flatMap(([, state]) => state.entries).find((one) => one.held && one.key === key);
  return { ...hold, since: held?.heldSince ?? hold.since };
}

const leavesPause: readonly (ActionKind | undefined)[] = ['mode', 'limit', 'set'];
const entriesRead = 100;

const rowsAPage = 50;

export function selectPage(
  { ranked }: Pick<Picture, 'ranked'>,
  selection: Selection,
  { fleet }: Pick<RouteParts, 'fleet'>,
) {
  const usual = selection.held ? 'held' : 'worst';
  const chosen = orders[selection.sort ?? usual](selectMailboxes(ranked, selection, fleet));
  const page = pageNumbered(chosen, selection.page ?? 1, rowsAPage);
  return { ...page, rows: page.rows.map((one) => makeRow(fleet, one)), total: chosen.length };
}

export type RankingParts = Pick<RouteParts, 'fleet' | 'world' | 'policyOf'>;

export function rankedOf({ fleet, world, policyOf }: RankingParts): readonly RankedMailbox[] {
  const wide = new WideAlerts(fleet.wideAlerts());
  const silences = fleet.silences(world.clock.now());
  return [...fleet.mailboxes()].map((mailbox) =>
    ranked(mailbox, policyOf(mailbox), { alerts: alertsOn(fleet, wide, mailbox), silences }, fleet),
  );
}

export type PictureParts = RankingParts & Pick<RouteParts, 'ready' | 'timeZone'>;
export type Picture = ReturnType<typeof pictureOf>;

export function pictureOf(parts: PictureParts) {
  const { fleet, world, ready, timeZone } = parts;
  const ranked = rankedOf(parts);
  const now = world.clock.now();
  const troubles = notGuardedBy(fleet, now);
  const facts = {
    ...totalsOf(ranked, fleet),
    guarded: guardedOf(ranked, { troubles, now }, parts),
    accounts: [...fleet.accounts()],
    firing: new FiringAlerts(fleet.alerts()),
    incidents: fleet.incidents().filter(({ endedAt }) => endedAt === null),
    recentActions: fleet.recentActions(),
    ready: ready(),
    troubles,
    held: ranked.filter(isHeld).length,
    paused: ranked.filter(({ state }) => state === 'paused_by_guard').map(({ mailbox }) => mailbox.email),
    notEnforced: ranked.filter(({ mailbox }) => !parts.policyOf(mailbox).enforce).length,
    storeFailure: fleet.storeFailure,
    writesOff: fleet.writesOff(now),
    sweeps: [...fleet.sweeps()],
    now,
    zone: timeZone(),
  };
  return { ...facts, ranked, headline: headlineOf(facts) };
}

/** `Guarding 12 mailboxes`, `Guarding 10 of 12 mailboxes now` or `Watching 12 mailboxes, changing none`. */
export function guardedText({ ranked, guarded, troubles, writesOff, notEnforced, storeFailure }: Picture): string {
  const all = ranked.length;
  // Every mailbox is watched if only writes or enforcement are missing.
  const isStopped = !storeFailure && (writesOff.length > 0 || notEnforced > 0);
  if (guarded === 0 && troubles.length === 0 && isStopped)
    return `Watching ${counted(all, 'mailbox', 'mailboxes')}, changing none`;
  return `Guarding ${countedOf(guarded, all, 'mailbox', 'mailboxes')}${guarded === all ? '' : ' now'}`;
}

export function guardingText(picture: Picture): string {
  const { ranked, oldestStatsAt, now } = picture;
  if (ranked.length === 0) return 'No mailbox is known yet.';
  const age = oldestStatsAt === null ? 'never read' : roughSpanText(now - oldestStatsAt);
  return `${guardedText(picture)}. Oldest stats: ${age}.`;
}
