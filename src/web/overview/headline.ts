// The headline of the page and of /api/fleet: it says whether anything is wrong and whether a person must act.

import type { Action } from '../../core/action.ts';
import { type Alert, accountsOf } from '../../core/alert.ts';
import type { Incident } from '../../core/incident.ts';
import {
  type AccountState,
  type GuardState,
  mailboxKey,
  type SweepProgress,
  stateTable,
  urgentStates,
} from '../../core/mailbox.ts';
import { type NotGuardedCause, notGuardedCauses, type Trouble } from '../../core/not-guarded.ts';
import type { StoreFailure } from '../../core/store-failure.ts';
import { dayMs, type EpochMs } from '../../core/time.ts';
import { sentence as sentenceOf } from '../../core/wording/explain.ts';
import { sweepsText } from '../../core/wording/forecast.ts';
import { incidentTitle } from '../../core/wording/incidents.ts';
import { counted, duration, firstText, momentText, numberText } from '../../core/wording/phrases.ts';
import { unattendedText } from '../../core/wording/states.ts';
import { scopeText, type WritesOff, writesOnCommand } from '../../core/write-scope.ts';
import type { FiringAlerts } from './alerts.ts';

export type StateCounts = Readonly<Record<GuardState, number>>;

export interface Uncounted {
  /** Number of mailboxes whose emails count from the next full day on. */
  readonly tomorrow: number;
  /** Number of mailboxes that have sent nothing on the days that count. */
  readonly noEmails: number;
}

export interface HeadlineFacts {
  readonly counts: StateCounts;
  /** Number of `ok` mailboxes whose account can't be read or is not polled at present: within their limits when last read. */
  readonly okWhenRead: number;
  /** `ok` mailboxes whose account is read and that have no counted email: they are not called OK. */
  readonly uncounted: Uncounted;
  readonly accounts: readonly AccountState[];
  readonly firing: FiringAlerts;
  readonly incidents: readonly Incident[];
  readonly recentActions: readonly Action[];
  /** Addresses of the mailboxes that Warmwarden paused. */
  readonly paused: readonly string[];
  readonly ready: { readonly ready: boolean; readonly reasons: readonly string[] };
  /** Why accounts are not guarded. */
  readonly troubles: readonly Trouble[];
  readonly storeFailure: StoreFailure | null;
  readonly writesOff: readonly WritesOff[];
  readonly sweeps: readonly SweepProgress[];
  /** Number of mailboxes with guard.enforce false. */
  readonly notEnforced: number;
  readonly now: EpochMs;
  readonly zone: string;
}

/**
 * calm: nothing is urgent; alerts below critical may fire. acted: Warmwarden paused or switched mailboxes, or enforcement
 * or writes are off for some. alarm: a person must act. unknown: what Warmwarden knows is old, incomplete or not judged.
 */
export const tones = ['calm', 'acted', 'alarm', 'unknown'] as const;
export type Tone = (typeof tones)[number];

export interface Headline {
  readonly tone: Tone;
  readonly sentence: string;
  readonly advice: string;
}

export function headlineOf(facts: HeadlineFacts): Headline {
  return withEnforcement(facts, guardHeadline(facts));
}

/** A fleet on whose breaches Warmwarden does not act is not calm. */
function withEnforcement({ notEnforced, counts }: HeadlineFacts, headline: Headline): Headline {
  if (notEnforced === 0) return headline;
  const who = notEnforced === totalOf(counts) ? 'all mailboxes' : mailboxes(notEnforced);
  return {
    tone: headline.tone === 'calm' ? 'acted' : headline.tone,
    sentence: `Enforcement is OFF for ${who}. ${headline.sentence}`,
    advice: headline.advice,
  };
}

function guardHeadline(facts: HeadlineFacts): Headline {
  return (
    storeHeadline(facts) ??
    startingHeadline(facts) ??
    unknownHeadline(facts) ??
    writesOffHeadline(facts) ??
    fleetHeadline(facts)
  );
}

export type LeadFacts = Pick<HeadlineFacts, 'storeFailure' | 'accounts' | 'troubles' | 'writesOff' | 'now'>;

/** Facts that make the content of every page outdated or ineffective, most severe first. */
export function leadsOf(facts: LeadFacts): readonly Pick<Headline, 'sentence' | 'advice'>[] {
  const { accounts, writesOff } = facts;
  const failing = troublesOf(facts, ...outages);
  const isDown = failing.length > 0 && failing.length === accounts.length;
  const outage = isDown ? { sentence: outageSentence(facts), advice: accountsAdvice(failing).join(' ') } : null;
  const blind = storeHeadline(facts) ?? outage;
  const stops = writesOff.filter(({ scope }) => scope.kind !== 'mailbox');
  const stopped = stops.length > 0 ? [{ sentence: stopSentence(stops), advice: notActing }] : [];
  return [...(blind ? [blind] : []), ...stopped];
}

function storeHeadline({ storeFailure }: Pick<HeadlineFacts, 'storeFailure'>): Headline | null {
  return (
    storeFailure && {
      tone: 'alarm',
      sentence: 'The store is failing: Warmwarden takes no action that it cannot record.',
      advice: `${sentenceOf(storeFailure.said)} ${storeFailure.remedy}`,
    }
  );
}

/** Troubles of these causes, the worst first. */
function troublesOf({ troubles }: Pick<HeadlineFacts, 'troubles'>, ...causes: readonly NotGuardedCause[]) {
  return troubles.filter(({ cause }) => causes.includes(cause));
}

// During an outage or a start, the present state of the mailboxes is unknown, so none of them counts as fine.
const outages = ['key rejected', 'api down'] as const;
const starts = ['starting', 'list awaited'] as const;
const isOutage = ({ cause }: Trouble) => outages.some((one) => one === cause);
const isStart = ({ cause }: Trouble) => starts.some((one) => one === cause);

function startingHeadline(facts: HeadlineFacts): Headline | null {
  const { accounts, ready } = facts;
  if (accounts.some((account) => account.listed) || troublesOf(facts, 'stopped', 'list unread', ...outages).length > 0)
    return null;
  return {
    tone: 'unknown',
    sentence: 'Starting: Warmwarden has not read a mailbox list yet.',
    advice: ready.reasons.length > 0 ? `Waiting for: ${ready.reasons.join('; ')}.` : 'Wait a moment.',
  };
}

/** Returns a sentence for each cause, the worst first; the outages are one, and so are the accounts that start. */
function troubleSentences(facts: HeadlineFacts): readonly string[] {
  const alike = Map.groupBy(facts.troubles, (one) => (isOutage(one) ? 'outage' : isStart(one) ? 'start' : one.cause));
  return [...alike].map(([kind, some]) => {
    if (kind === 'outage') return outageSentence(facts);
    const is = some.length === 1 ? `Account ${some[0]?.account} is` : `${counted(some.length, 'account')} are`;
    if (kind === 'start') return `${is} starting: no mailbox list has been read yet.`;
    return `NOT GUARDED: ${namesIn(some)}: ${some[0]?.why}.`;
  });
}

/** Describes the outage, by the shortest one of several accounts. An API that only rejects keys is not down. */
function outageSentence({ accounts, troubles, now }: Pick<HeadlineFacts, 'accounts' | 'troubles' | 'now'>): string {
  const failing = troubles.filter(isOutage);
  const since = Math.max(...failing.map((trouble) => trouble.since ?? now));
  const count = failing.length === accounts.length ? 'any' : numberText(failing.length);
  const who =
    failing.length === 1 ? `account ${failing[0]?.account}` : `${count} of ${counted(accounts.length, 'account')}`;
  const rejected = troublesOf({ troubles }, 'key rejected').length;
  const what = rejected === 0 ? 'API down' : rejected === failing.length ? 'key rejected' : 'API down or key rejected';
  return `NOT GUARDED (${what}): no request of ${who} has succeeded for ${duration(now - since)}.`;
}

/** Headline while no mailbox is judged, unless the headlines that follow say something worse. */
function unknownHeadline(facts: HeadlineFacts): Headline | null {
  const { counts, sweeps, troubles, writesOff } = facts;
  const total = totalOf(counts);
  if (total === 0 || counts.not_judged < total || sweeps.length + writesOff.length > 0) return null;
  if (toneOf(facts) === 'alarm' || !troubles.every(isStart)) return null;
  return {
    tone: 'unknown',
    sentence: total === 1 ? 'The one mailbox is not judged.' : `None of the ${mailboxes(total)} is judged.`,
    advice:
      'This is normal right after a start, until Warmwarden has read the statistics and the warm-up once. If it lasts, Warmwarden cannot judge the data that the API sends: the page of a mailbox and `warmwarden explain MAILBOX` say why.',
  };
}

function totalOf(counts: StateCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

const stopsNamed = 3;

/** Headline for write stops. After a stop that does not cover everything, the headline of the fleet follows. */
function writesOffHeadline(facts: HeadlineFacts): Headline | null {
  const { writesOff, accounts, troubles } = facts;
  if (writesOff.length === 0) return null;
  const scopes = writesOff.map(({ scope }) => scope);
  const named = writesOff.slice(0, stopsNamed);
  const sentence = stopSentence(writesOff);
  const advice = `${notActing} ${named.map((off) => stopText(off, facts)).join(' ')}`;
  const isStopped = ({ name }: AccountState) => scopes.some((one) => one.kind === 'account' && one.account === name);
  const everywhere = scopes.some(({ kind }) => kind === 'everything') || accounts.every(isStopped);
  if (everywhere && troubles.every(isStart)) return { tone: 'alarm', sentence, advice };
  const fleet = fleetHeadline(facts);
  const quiet = fleet.tone === 'calm' || fleet.tone === 'acted';
  const waits = facts.counts.paused_by_guard > 0 || facts.firing.count('warning') > 0;
  return {
    tone: everywhere ? 'alarm' : quiet ? 'acted' : fleet.tone,
    sentence: `${sentence} ${fleet.sentence}`,
    advice: quiet && !waits ? advice : `${fleet.advice} ${advice}`,
  };
}

const notActing = 'Where writes are off, Warmwarden notifies you of breaches, but does not act.';

function stopSentence(writesOff: readonly WritesOff[]): string {
  const scopes = writesOff.map(({ scope }) => scopeText(scope));
  return `Writes are OFF for ${firstText(scopes, stopsNamed)}.`;
}

function stopText({ scope, by, reason, until }: WritesOff, { zone }: HeadlineFacts): string {
  const end = until === null ? 'To allow them' : `They stay off until ${momentText(until, zone)}. To allow them now`;
  return `${sentenceOf(`Writes were switched off by ${by}: ${reason}`)} ${end}: \`${writesOnCommand(scope)}\`.`;
}

function fleetHeadline(facts: HeadlineFacts): Headline {
  const { counts, firing, incidents, sweeps, now, zone } = facts;
  const total = totalOf(counts);
  const critical = firing.count('critical');
  const short = shortLists(facts);
  const [incident] = incidents;
  const isPartial = short.length + troublesOf(facts, 'nothing judged').length > 0;
  const isPast = isPartial || troublesOf(facts, 'stopped', 'list unread', ...outages, ...starts).length > 0;
  const { tomorrow, noEmails } = facts.uncounted;
  const isCounted = tomorrow + noEmails === 0;
  const okBefore = isPartial ? counts.ok - tomorrow - noEmails : facts.okWhenRead;
  const parts = [
    ...troubleSentences(facts),
    short.length > 0 && `NOT FULLY GUARDED: the mailbox list of ${namesIn(short)} is incomplete.`,
    incident && incidents.length === 1 && `${incidentTitle(incident, incident.members, zone)}.`,
    incidents.length > 1 && `${counted(incidents.length, 'incident')}.`,
    critical > 0 && `${counted(critical, 'critical alert')}.`,
    sweeps.length > 0 && `${sweepsText(sweeps, { now, zone })}.`,
    total > 0 &&
      (sweeps.length === 0 || counts.not_judged < total) &&
      (counts.ok === total && isCounted
        ? allFine(total, critical + firing.count('warning'), isPast)
        : stateSentence({ counts, okWhenRead: okBefore, uncounted: facts.uncounted })),
  ];
  const sentence = parts.filter(Boolean).join(' ') || 'There is no mailbox to guard.';
  return { tone: toneOf(facts), sentence, advice: adviceOf(facts) };
}

/** Alerts about incomplete lists. The list of an account without a guarded mailbox may be complete. */
function shortLists({ firing, ...facts }: HeadlineFacts): readonly Alert[] {
  const empty = troublesOf(facts, 'no mailbox').map(({ account }) => account);
  const isShort = ({ rule, object }: Alert) => rule === 'not_guarded' && object === 'mailbox list';
  return firing.all.filter((alert) => isShort(alert) && !empty.includes(alert.account));
}

/** Describes a fleet below its limits. It is OK only if nothing more than info fires and all mailboxes can be read. */
function allFine(total: number, alerts: number, isPast: boolean): string {
  const all = total === 1 ? 'The one mailbox' : `All ${mailboxes(total)}`;
  const [is, was, its] = total === 1 ? ['is', 'was', 'its bounce limit'] : ['are', 'were', 'their bounce limits'];
  if (isPast) return `${all} ${was} below ${its} when last read.`;
  return alerts > 0 ? `${all} ${is} below ${its}.` : `${all} ${is} OK.`;
}

function toneOf(facts: HeadlineFacts): Tone {
  const { counts, firing, troubles } = facts;
  const isAlarm = troubles.some(({ cause }) => notGuardedCauses[cause].tone === 'alarm');
  if (firing.count('critical') > 0 || counts.held > 0 || isAlarm || stuckActions(facts).length > 0) return 'alarm';
  if (counts.not_judged > 0 || troubles.length > 0 || totalOf(counts) === 0) return 'unknown';
  return counts.paused_by_guard + counts.recovering > 0 ? 'acted' : 'calm';
}

/** Time for which a failed action affects the page's tone. Its alert lasts as long as its cause. */
const stuckShownMs = dayMs;

/** Newest action of each mailbox, if it was sent without a confirmed effect. `recentActions`: newest first. */
function stuckActions({ recentActions, now }: HeadlineFacts): readonly Action[] {
  const newest = new Map<string, Action>();
  for (const action of recentActions) {
    const key = mailboxKey(action.account, action.mailboxId);
    if (!newest.has(key)) newest.set(key, action);
  }
  return [...newest.values()].filter(
    ({ state, nextTryAt, settledAt, plannedAt }) =>
      (state === 'refused' || state === 'unconfirmed') &&
      (nextTryAt !== null || now - (settledAt ?? plannedAt) < stuckShownMs),
  );
}

/** Advice about the accounts, then the first that applies to the mailboxes. */
function adviceOf(facts: HeadlineFacts): string {
  const accounts = accountsAdvice(facts.troubles);
  return [...accounts, mailboxAdvice(facts, accounts.length > 0)].filter(Boolean).join(' ');
}

function mailboxAdvice(facts: HeadlineFacts, isAccountTroubled: boolean): string {
  const { counts, firing, sweeps } = facts;
  const stuck = stuckActions(facts).length;
  if (stuck > 0)
    return `${counted(stuck, 'action has', 'actions have')} not taken effect. “What was done” and \`warmwarden history --guard\` show why.`;
  if (counts.held > 0) return heldAdvice(facts);
  if (firing.count('critical') > 0) return startAdvice(facts);
  const warned = firing.count('warning');
  // Warnings are omitted beside an account with a trouble, because one of them may be about it.
  const isWarned = !isAccountTroubled && warned > 0;
  const also = isWarned ? ` The ${warned === 1 ? 'warning' : 'warnings'} below can wait until morning.` : '';
  if (counts.paused_by_guard > 0)
    return `${stopAdvice(facts)} Once their recipient lists are clean, resume the warm-up: Warmwarden never does that by itself.${also}`;
  if (isAccountTroubled) return '';
  if (counts.recovering > 0)
    return `${isWarned ? '' : 'Nothing to do now: '}Warmwarden has acted and keeps watching.${also}`;
  if (sweeps.length > 0 && counts.not_judged > 0)
    return `Wait until the first sweep is done: Warmwarden has not judged the mailboxes that it has not read.${also}`;
  if (facts.troubles.some(isStart)) return `Wait a moment.${also}`;
  if (counts.not_judged > 0)
    return 'Warmwarden cannot guard a mailbox that it does not judge: `warmwarden explain MAILBOX` says why.';
  if (isWarned) return `Nothing is urgent.${also}`;
  if (firing.count() > 0) return 'Nothing is urgent. The alerts below can wait until morning.';
  return totalOf(counts) > 0 ? 'Nothing to do.' : 'Check the accounts and their include lists in the configuration.';
}

function heldAdvice(facts: HeadlineFacts): string {
  const { counts, firing, notEnforced } = facts;
  const holds = firing.all.filter(({ rule }) => rule === 'guard_held');
  if (holds.length > 0) return breakerAdvice(holds, facts);
  if (notEnforced === totalOf(counts))
    return 'Warmwarden does not act: pause what bounces yourself (`warmwarden pause MAILBOX`), or set guard.enforce to true.';
  return firing.count('critical') > 0
    ? `Warmwarden has NOT ACTED on the held mailboxes: the page of each says why. ${startAdvice(facts)}`
    : 'Look at the held mailboxes: Warmwarden has decided to act, but has not acted yet.';
}

function startAdvice(facts: HeadlineFacts): string {
  const start = facts.counts.paused_by_guard > 0 ? `${stopAdvice(facts)} Then start` : 'Start';
  return `${start} with the critical ${facts.firing.count('critical') === 1 ? 'alert' : 'alerts'} below.`;
}

function stopAdvice({ paused }: HeadlineFacts): string {
  return `Paused: take ${paused.length === 1 ? `${paused[0]} out of its campaigns` : `the ${paused.length} mailboxes out of their campaigns`} yourself, now.`;
}

/** Returns a sentence for each cause, the worst first. An outage has its last failure, which its headline does not say. */
function accountsAdvice(troubles: readonly Trouble[]): readonly string[] {
  const alike = Map.groupBy(
    troubles.filter((one) => !isStart(one)),
    ({ cause }) => cause,
  );
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const failure = isOutage(first) ? `${sentenceOf(first.why)} ` : '';
    return `${namesIn([first, ...others])}: ${failure}${first.advice}`;
  });
}

function mailboxes(count: number): string {
  return counted(count, 'mailbox', 'mailboxes');
}

/** Sentence such as `1 mailbox paused by Warmwarden, 9 OK.`. A mailbox that is unreadable or uncounted is never OK. */
function stateSentence({
  counts,
  okWhenRead,
  uncounted: { tomorrow, noEmails },
}: Pick<HeadlineFacts, 'counts' | 'okWhenRead' | 'uncounted'>): string {
  const troubled = urgentStates.filter((state) => state !== 'ok');
  const others = troubled.map((state) => [counts[state], stateTable[state].counted] as const);
  const parts: readonly (readonly [number, string])[] = [
    ...others,
    [tomorrow, 'counting from tomorrow'],
    [noEmails, 'without a counted email yet'],
    [counts.ok - okWhenRead - tomorrow - noEmails, stateTable.ok.counted],
    [okWhenRead, 'within limits when last read'],
  ];
  const words = parts
    .filter(([count]) => count > 0)
    .map(([count, what], index) => `${index === 0 ? mailboxes(count) : numberText(count)} ${what}`);
  return `${words.join(', ')}.`;
}

function breakerAdvice(holds: readonly Alert[], { zone, troubles, writesOff, now }: HeadlineFacts): string {
  const why = 'The circuit breaker is holding the actions, because many mailboxes exceed their limits.';
  const unread = new Set(troublesOf({ troubles }, ...outages).map(({ account }) => account));
  const accounts = holds.flatMap(accountsOf);
  const isUnread = accounts.length > 0 && accounts.every((account) => unread.has(account));
  const isStopped = (account: string) =>
    writesOff.some(
      ({ scope }) => scope.kind === 'everything' || (scope.kind === 'account' && scope.account === account),
    );
  if (accounts.length > 0 && accounts.every(isStopped)) return `${why} Nothing is carried out while writes are off.`;
  const unattended = unattendedText(holds, { now, zone, isUnread });
  if (isUnread) return `${why} ${unattended}`;
  return `${why} If the bounces are real, carry the actions out: \`warmwarden breaker apply\`. If the data is wrong, drop them: \`warmwarden breaker discard\`. ${unattended}`;
}

const namesShown = 5;

function namesIn(about: readonly { readonly account: string }[]): string {
  return firstText(
    about.map(({ account }) => account),
    namesShown,
  );
}
