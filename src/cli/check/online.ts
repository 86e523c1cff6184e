// `warmwarden check --online`: whether each account answers, which mailboxes it would guard, and how old the data would
// become.

import type { Budget } from '../../api/budget.ts';
import { takeSlot } from '../../api/budget.ts';
import { MailboxApi } from '../../api/client.ts';
import type { Failure, Result } from '../../api/http/failure.ts';
import { forecastOf, type Gaps, gapsOf, ownLimitsOf } from '../../api/poll/forecast.ts';
import { cutText } from '../../api/stats-days.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { type MailboxName, patternsOf, resolvePolicy, routePatterns, selects } from '../../config/mailbox-rules.ts';
import { type HealthAnswer, type Observed, type Route, routes } from '../../core/answers.ts';
import type { Forecast, GuardedElsewhere } from '../../core/mailbox.ts';
import { idlePatterns, idleText } from '../../core/mailbox-pattern.ts';
import { daysNeeded, type Ppm } from '../../core/policy.ts';
import { noTally } from '../../core/tally.ts';
import { secondMs } from '../../core/time.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { counted, numberText, overlapText, roughSpanText, spanText } from '../../core/wording/phrases.ts';
import { noneJudged } from '../../core/wording/states.ts';
import type { FleetAnswer } from '../../web/json/fleet.ts';
import { elsewhereJson } from '../../web/json/fleet.ts';
import { cronSchedule } from '../../world/schedule.ts';
import type { World } from '../../world/world.ts';
import { screenRows } from '../terminal.ts';

/** Requests per account when a daemon runs: that daemon itself reports the responses that it receives. */
const requestsMade = 2;
/**
 * Mailboxes tried per account when no daemon runs: each other kind of request is sent for one of the first that have a
 * warm-up.
 */
const mailboxesTried = 3;
/** Maximum number of addresses on one line of a screen. */
const namesShown = 5;

/** Answers of an account's API. */
export interface OnlineAccount {
  readonly account: string;
  /** Answer to GET /v1/health, or why there was none. */
  readonly health: string;
  /** Reason why its mailboxes are not known, or null if they are. */
  readonly failure: string | null;
  readonly listed: number;
  readonly selected: number;
  /** Selected mailboxes, or null if not all are known. */
  readonly guarded: readonly MailboxName[] | null;
  /** Addresses that no rule selects. */
  readonly unselected: readonly string[];
  /** Selected mailboxes that an earlier account of the same API guards. */
  readonly guardedElsewhere: readonly GuardedElsewhere[];
  /** Sentences about includes, excludes and overrides that match no mailbox. */
  readonly idleRules: readonly string[];
  /**
   * Kinds of requests about a mailbox that failed: a sentence for each, and whether Warmwarden needs its answer to
   * judge.
   */
  readonly refused: readonly { readonly said: string; readonly isJudged: boolean }[];
  /** Sentence about what the API omits from the statistics, or null if no omission was seen. */
  readonly cut: string | null;
  /** Time by which our clock is ahead of the API's, or null if the API does not report the time or did not answer. */
  readonly clockAheadMs: number | null;
  readonly forecast: Forecast | null;
}

/** Daemon on the same store, which uses the same keys: its report about its accounts. */
export type Neighbor = Pick<FleetAnswer, 'accounts'>;

/** Checks every account, each within its own budget. `beside`: the daemon on the store, or null if none runs. */
export async function askOnline(
  config: Config,
  world: World,
  beside: Neighbor | null,
): Promise<readonly OnlineAccount[]> {
  const schedules = Object.fromEntries(routes.map((route) => [route, cronSchedule(config.poll[route])]));
  const gaps = gapsOf(schedules as Parameters<typeof gapsOf>[0], world.clock.now());
  const { spareSharePpm: sparePpm, statsIntervalMinMs } = config.poll;
  const earlyMs = sparePpm === 0 ? 0 : statsIntervalMinMs;
  const asking = { config, world, gaps, earlyMs, sparePpm, beside };
  const asked = await Promise.all(config.accounts.map((account) => askAccount(account, asking)));
  const guards = new Map<string, string>();
  return asked.map((account, index) => {
    const keyOf = ({ id, email }: MailboxName) => `${config.accounts[index]?.baseUrl} ${id} ${email.toLowerCase()}`;
    const elsewhere = (account.guarded ?? []).flatMap((mailbox) => {
      const guard = guards.get(keyOf(mailbox));
      return guard === undefined ? [] : [{ id: mailbox.id, email: mailbox.email, account: guard }];
    });
    for (const mailbox of account.guarded ?? [])
      if (!guards.has(keyOf(mailbox))) guards.set(keyOf(mailbox), account.account);
    const guardsAny = elsewhere.length === 0 || elsewhere.length < account.selected;
    return { ...account, guardedElsewhere: elsewhere, forecast: guardsAny ? account.forecast : null };
  });
}

/** Sentences about routes whose mailboxes are in no account; empty if an account's mailboxes are not all known. */
export function idleRoutes({ alerts }: Config, accounts: readonly OnlineAccount[]): readonly string[] {
  const known = accounts.flatMap(({ guarded }) => (guarded === null ? [] : [guarded]));
  return known.length < accounts.length ? [] : idlePatterns(routePatterns(alerts.routes), known.flat()).map(idleText);
}

interface Asking {
  readonly config: Config;
  readonly world: World;
  readonly gaps: Gaps;
  readonly earlyMs: number;
  readonly sparePpm: Ppm;
  readonly beside: Neighbor | null;
}

async function askAccount(account: AccountConfig, asking: Asking): Promise<OnlineAccount> {
  const { config, world, gaps, earlyMs, sparePpm, beside } = asking;
  const nothing = { account: account.name, health: 'not asked', listed: 0, selected: 0, guarded: null };
  const unknown = {
    ...nothing,
    unselected: [],
    guardedElsewhere: [],
    idleRules: [],
    ...untried,
    clockAheadMs: null,
    forecast: null,
  };
  const api = new MailboxApi({ ...account, account: account.name }, world, noTally);
  const inTurn = async <Answer>(kind: Route, ask: () => Promise<Result<Answer>>): Promise<Result<Answer>> => {
    await takeSlot(api.budget, kind, world.clock);
    return ask();
  };
  try {
    if (beside && (account.requestsPerMinute * api.budget.headroomPpm) / 1e6 < requestsMade) {
      const why =
        'a daemon runs on this store, and headroom leaves no request for this check; its page shows the account';
      return { ...unknown, failure: why };
    }
    const health = await inTurn('health', () => api.health());
    const said = health.ok ? `health says ${health.value.answer.status ?? 'nothing'}` : health.failure.detail;
    const clockAheadMs = health.ok ? clockAhead(health.value) : null;
    const list = await inTurn('mailboxes', () => api.mailboxes());
    if (!list.ok) return { ...unknown, health: said, clockAheadMs, failure: why(list.failure) };
    const { mailboxes, truncated } = list.value.answer;
    const selected = mailboxes.filter((entry) => selects(account, entry));
    const tried = beside ? untried : await tryKinds(api, account, selected, inTurn);
    const pace = paceOf(account, api.budget, beside);
    const sparePerMinute = (api.budget.limitPerMinute * sparePpm) / 1e6;
    return {
      account: account.name,
      health: said,
      failure: truncated
        ? 'the list of mailboxes is incomplete: it says that there are more, or entries cannot be read'
        : null,
      listed: mailboxes.length,
      selected: selected.length,
      guarded: truncated ? null : selected,
      guardedElsewhere: [],
      unselected: mailboxes.filter((entry) => !selects(account, entry)).map(({ email }) => email),
      idleRules: truncated ? [] : idlePatterns(patternsOf(config, account.name), mailboxes).map(idleText),
      ...tried,
      clockAheadMs,
      forecast: forecastOf({
        mailboxes: selected.length,
        ...pace,
        sparePerMinute,
        ownLimits: ownLimitsOf(api.budget),
        gaps,
        earlyMs,
      }),
    };
  } finally {
    await api.close();
  }
}

const untried = { refused: [], cut: null } as const;

/**
 * Requests each kind of answer about a mailbox once. A mailbox without a warm-up shows nothing about the others, so the
 * next one is tried.
 */
async function tryKinds(
  api: MailboxApi,
  account: AccountConfig,
  selected: readonly MailboxName[],
  inTurn: <Answer>(kind: Route, ask: () => Promise<Result<Answer>>) => Promise<Result<Answer>>,
): Promise<Pick<OnlineAccount, 'refused' | 'cut'>> {
  const refused: OnlineAccount['refused'][number][] = [];
  const failedBy = (results: readonly Result<unknown>[], isJudged: boolean) =>
    refused.push(...results.flatMap((one) => (one.ok ? [] : [{ said: one.failure.detail, isJudged }])));
  for (const [index, entry] of selected.slice(0, mailboxesTried).entries()) {
    const { id } = entry;
    const days = daysNeeded(resolvePolicy(account, entry), false);
    const judged = [await inTurn('warmup', () => api.warmup(id)), await inTurn('stats', () => api.stats(id, days))];
    if (index === 0) {
      const others = [await inTurn('mailbox', () => api.mailbox(id)), await inTurn('dns', () => api.dns(id))];
      failedBy([...others, await inTurn('blacklist', () => api.blacklist(id))], false);
    }
    if (judged.every((one) => !one.ok && one.failure.kind === 'missing')) continue;
    failedBy(judged, true);
    break;
  }
  return { refused, cut: api.statsCut && cutText(api.statsCut) };
}

/**
 * Request rate of an account. A headroom that is not configured depends on the key's use, which a running daemon knows
 * better.
 */
function paceOf({ name, headroomPpm }: AccountConfig, own: Budget, beside: Neighbor | null) {
  const known = headroomPpm === null ? beside?.accounts.find((account) => account.name === name) : undefined;
  // A daemon of an earlier version does not report the limit.
  const share = (known?.requests_per_minute ?? Number.NaN) / (known?.limit_per_minute ?? Number.NaN);
  if (!(share > 0)) return { allowedPerMinute: own.allowedPerMinute, headroomPpm: own.headroomPpm };
  const allowedPerMinute = Math.max(1, Math.round(own.limitPerMinute * share));
  return { allowedPerMinute, headroomPpm: Math.round((1 - share) * 1e6) };
}

function clockAhead({ at, answer: { timestamp } }: Observed<HealthAnswer>): number | null {
  return timestamp === null ? null : at - timestamp;
}

function why({ kind, status, detail }: Failure): string {
  if (kind === 'unauthorized') return `the key is rejected (${detail}): check api_key`;
  if (status === 403)
    return `the key may not read (${detail}): check its read permission, and that the plan has API access`;
  return detail;
}

/** JSON for programs: names in snake_case, times in seconds. */
export function onlineJson(online: OnlineAccount) {
  const {
    idleRules: idle_rules,
    guarded: _,
    guardedElsewhere,
    refused,
    cut,
    clockAheadMs,
    forecast,
    ...account
  } = online;
  const clock_ahead_seconds = clockAheadMs === null ? null : seconds(clockAheadMs);
  const guarded_elsewhere = elsewhereJson(guardedElsewhere);
  const tried = { refused: refused.map(({ said }) => said), statistics_cut: cut };
  const sum = forecast && forecastJson(forecast);
  return { ...account, clock_ahead_seconds, idle_rules, guarded_elsewhere, ...tried, forecast: sum };
}

function forecastJson({ mailboxes, allowedPerMinute, asksPerMinute, usedPerMinute, fits, mend, ...ages }: Forecast) {
  const oldest = Object.fromEntries(routes.map((route) => [route, seconds(ages.oldestMs[route])])) as Record<
    Route,
    number
  >;
  return {
    mailboxes,
    allowed_per_minute: allowedPerMinute,
    asks_per_minute: asksPerMinute,
    used_per_minute: usedPerMinute ?? allowedPerMinute,
    fits,
    oldest_seconds: oldest,
    calmest_stats_seconds: seconds(ages.calmestMs),
    first_sweep_seconds: seconds(ages.firstSweepMs),
    remedy: mend && {
      requests_per_minute: mend.requestsPerMinute,
      stats_seconds: seconds(mend.statsMs),
      warmup_seconds: seconds(mend.warmupMs),
    },
  };
}

function seconds(ms: number): number {
  return ms / secondMs;
}

/** Text for people. */
export function onlineText(accounts: readonly OnlineAccount[], beside: boolean, idle: readonly string[] = []): string {
  const named = Number.isFinite(screenRows()) ? namesShown : Number.POSITIVE_INFINITY;
  const lines = accounts.flatMap((account) => [`${account.account}: ${headline(account)}`, ...details(account, named)]);
  const note =
    'Whether a key may write cannot be proved without writing: the first action shows it (rule not_guarded, cause key read-only).';
  const problem = guardsNothing(accounts) ? ['Problem: no mailbox is guarded.'] : [];
  const neighbour = 'A daemon runs on this store; the requests of this check were taken from the headroom.';
  return [...lines, ...idle, ...fleetLines(accounts), ...(beside ? [neighbour] : []), note, ...problem]
    .map((line) => `${line}\n`)
    .join('');
}

/** Duration of the first sweep: accounts are swept in parallel, each with its own budget. */
function fleetLines(accounts: readonly OnlineAccount[]): readonly string[] {
  const known = accounts.filter(({ forecast, selected }) => forecast !== null && selected > 0);
  const [longest] = known.toSorted((a, b) => (b.forecast?.firstSweepMs ?? 0) - (a.forecast?.firstSweepMs ?? 0));
  if (known.length < 2 || !longest?.forecast) return [];
  const mailboxes = known.reduce((sum, { selected }) => sum + selected, 0);
  const takes = roughSpanText(longest.forecast.firstSweepMs);
  return [`First sweep of all ${numberText(mailboxes)} mailboxes: about ${takes}; ${longest.account} takes longest.`];
}

/** Says whether the account answers, and how many of its mailboxes are selected. */
export function headline({ health, failure, listed, selected, refused }: OnlineAccount): string {
  if (failure !== null && listed === 0) return `FAILED: ${failure}`;
  const unjudged = refused.find(({ isJudged }) => isJudged);
  if (unjudged) return `NOT GUARDED, ${noneJudged}: ${unjudged.said}`;
  return `${failure === null ? 'the API answers' : `INCOMPLETE: ${failure}`} (${health}); ${counted(listed, 'mailbox', 'mailboxes')} in the list, ${selected} selected`;
}

/** True if no mailbox of the account could be judged. */
export function isUnjudged({ refused }: OnlineAccount): boolean {
  return refused.some(({ isJudged }) => isJudged);
}

/** True if the daemon would guard no mailbox of any account. */
export function guardsNothing(accounts: readonly OnlineAccount[]): boolean {
  return accounts.every(({ selected }) => selected === 0);
}

/** Remedy for an account without a guarded mailbox. */
export function selectMore({ listed }: Pick<OnlineAccount, 'listed'>): string {
  return listed === 0
    ? 'its list is empty; check that the key belongs to the right account'
    : 'change mailboxes.include or mailboxes.exclude';
}

function details(account: OnlineAccount, named: number): readonly string[] {
  const { failure, unselected, guardedElsewhere, idleRules: idle, selected, forecast } = account;
  const lines: string[] = [];
  const more = unselected.length > named ? ` and ${unselected.length - named} more (--json names them)` : '';
  // Unselected mailboxes may be selected by another account whose key can also see them.
  if (unselected.length > 0)
    lines.push(
      `  this account does not select ${counted(unselected.length, 'mailbox', 'mailboxes')} that its key can see: ${unselected.slice(0, named).join(', ')}${more}`,
    );
  if (guardedElsewhere.length > 0) lines.push(`  ${overlapText(guardedElsewhere)}`);
  lines.push(...idle.map((rule) => `  ${rule}`));
  lines.push(...account.refused.filter(({ isJudged }) => !isJudged).map(({ said }) => `  refused: ${said}`));
  if (account.cut !== null) lines.push(`  ${account.cut}`);
  if (failure === null && selected === 0) lines.push(`  No mailbox of this account is guarded: ${selectMore(account)}`);
  if (forecast === null || selected === 0) return lines;
  const { oldestMs } = forecast;
  const { warmup, mailbox, dns, blacklist } = oldestMs;
  const rest = `connection ${spanText(mailbox)}, DNS ${spanText(dns)}, blacklists ${spanText(blacklist)}, the list ${spanText(oldestMs.mailboxes)}`;
  lines.push(
    `  ${sumText(forecast)}`,
    `  warm-up up to ${spanText(warmup)}, ${rest}`,
    `  first sweep: every mailbox is judged about ${roughSpanText(forecast.firstSweepMs)} after the first start`,
    '  Warmwarden acts on a breach that it finds then after a second look, within about a minute; on an emergency at once',
  );
  if (!forecast.fits) lines.push(`  ${mendText(forecast)}`);
  return lines;
}
