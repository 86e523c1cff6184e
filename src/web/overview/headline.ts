// The headline of the page and of /api/fleet: it says whether anything is wrong and whether a person must act.

import type { Action } from '../../core/action.ts';
import type { Alert } from '../../core/alert.ts';
import type { Incident } from '../../core/incident.ts';
import { type AccountState, type GuardState, mailboxKey, type SweepProgress } from '../../core/mailbox.ts';
import type { StoreFailure } from '../../core/store-failure.ts';
import { dayMs, type EpochMs } from '../../core/time.ts';
import { sentence as sentenceOf } from '../../core/wording/explain.ts';
import { sweepsText } from '../../core/wording/forecast.ts';
import { incidentTitle } from '../../core/wording/incidents.ts';
import { counted, duration, firstText, momentText, numberText } from '../../core/wording/phrases.ts';
import { noneJudged } from '../../core/wording/states.ts';
import { type Guarding, scopeText, type WritesOff, writesOnCommand } from '../../core/write-scope.ts';
import type { FiringAlerts } from './alerts.ts';

export type StateCounts = Readonly<Record<GuardState, number>>;

export interface FleetTotals {
  readonly counts: StateCounts;
  /** Number of `ok` mailboxes that were OK when last read: their account can't be read or is not polled at present. */
  readonly okWhenRead: number;
  /** Held mailboxes by cause, other than an action that has not been carried out yet. */
  readonly heldBy: Readonly<Record<'breaker' | 'readOnlyKey' | 'enforcementOff', number>>;
  readonly providers: ReadonlySet<string>;
  readonly firstSeenAt: EpochMs | null;
  readonly oldestStatsAt: EpochMs | null;
  readonly unread: number;
}

export interface HeadlineFacts extends Pick<FleetTotals, 'counts' | 'okWhenRead' | 'heldBy'> {
  readonly accounts: readonly AccountState[];
  readonly firing: FiringAlerts;
  readonly incidents: readonly Incident[];
  readonly recentActions: readonly Action[];
  readonly ready: { readonly ready: boolean; readonly reasons: readonly string[] };
  readonly guarding: readonly Guarding[];
  readonly storeFailure: StoreFailure | null;
  readonly writesOff: readonly WritesOff[];
  readonly sweeps: readonly SweepProgress[];
  readonly now: EpochMs;
  /** Command that runs this program, for the advice. */
  readonly command: string;
  /** IANA name of the time zone for displayed times. */
  readonly zone: string;
}

/**
 * calm: no problems. acted: the guard acted, and everything is contained. alarm: a person should look. unknown: the
 * state is unknown.
 */
export const tones = ['calm', 'acted', 'alarm', 'unknown'] as const;
export type Tone = (typeof tones)[number];

export interface Headline {
  readonly tone: Tone;
  readonly sentence: string;
  readonly advice: string;
}

export function headlineOf(facts: HeadlineFacts): Headline {
  return (
    storeHeadline(facts) ??
    startingHeadline(facts) ??
    apiDownHeadline(facts) ??
    unknownHeadline(facts) ??
    writesOffHeadline(facts) ??
    fleetHeadline(facts)
  );
}

export type LeadFacts = Pick<HeadlineFacts, 'storeFailure' | 'accounts' | 'writesOff' | 'now'>;

/** Facts that make the content of every page outdated or ineffective, most severe first. */
export function leadsOf(facts: LeadFacts): readonly Pick<Headline, 'sentence' | 'advice'>[] {
  const blind = storeHeadline(facts) ?? apiDownHeadline(facts);
  const stops = facts.writesOff.filter(({ scope }) => scope.kind !== 'mailbox');
  const stopped = stops.length > 0 ? [{ sentence: stopSentence(stops), advice: notActing }] : [];
  return [...(blind ? [blind] : []), ...stopped];
}

/** Headline for a failing store: a decision that can't be recorded is not carried out. */
function storeHeadline({ storeFailure }: Pick<HeadlineFacts, 'storeFailure'>): Headline | null {
  return (
    storeFailure && {
      tone: 'alarm',
      sentence: 'The store is failing: Warmwarden takes no action that it cannot record.',
      advice: `${sentenceOf(storeFailure.said)} ${storeFailure.remedy}`,
    }
  );
}

function startingHeadline({ accounts, ready }: HeadlineFacts): Headline | null {
  if (accounts.length > 0 && accounts.some((account) => account.listed)) return null;
  if (accounts.some((account) => account.failingSince !== null)) return null;
  return {
    tone: 'unknown',
    sentence: 'Starting: Warmwarden has not read a mailbox list yet.',
    advice: ready.reasons.length > 0 ? `Waiting for: ${ready.reasons.join('; ')}.` : 'Wait a moment.',
  };
}

function apiDownHeadline(facts: Pick<HeadlineFacts, 'accounts' | 'now'>): Headline | null {
  const failing = failingOf(facts);
  if (failing.length === 0 || failing.length < facts.accounts.length) return null;
  const rejected = namesIn(failing, ({ keyRejected }) => keyRejected);
  const cause = failing.find((account) => account.lastFailure !== null)?.lastFailure;
  return {
    tone: 'unknown',
    sentence: outageSentence(facts),
    advice:
      rejected.length > 0
        ? `The API rejects the key of ${namesOf(rejected)}. ${replaceKey}`
        : `The data shown is the last that could be read.${cause ? ` The last failure: ${cause}` : ''}`,
  };
}

/** Accounts that are starting. The present state of their mailboxes is unknown, so none of them counts as fine. */
function startingOf({ accounts, guarding }: Pick<HeadlineFacts, 'accounts' | 'guarding'>): readonly string[] {
  const unlisted = namesIn(accounts, ({ listed, failingSince }) => !listed && failingSince === null);
  const unpolled = guarding.flatMap(({ account, startingSince }) => (startingSince === null ? [] : [account]));
  return [...new Set([...unlisted, ...unpolled])];
}

function startingSentence(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const [who, their] =
    names.length === 1 ? [`Account ${names[0]} is`, 'its'] : [`${counted(names.length, 'account')} are`, 'their'];
  return [`${who} starting: ${their} mailbox list has not been read yet.`];
}

function failingOf({ accounts }: Pick<HeadlineFacts, 'accounts'>): readonly AccountState[] {
  return accounts.filter((account) => account.failingSince !== null);
}

const replaceKey = 'Put a valid key into the configuration and reload it.';

/**
 * Describes the outage. For several accounts, the duration is the shortest among them. An API that only rejects keys is
 * not down.
 */
function outageSentence({ accounts, now }: Pick<HeadlineFacts, 'accounts' | 'now'>): string {
  const failing = failingOf({ accounts });
  const since = Math.max(...failing.map((account) => account.failingSince ?? now));
  const count = failing.length === accounts.length ? 'any' : numberText(failing.length);
  const who =
    failing.length === 1 ? `account ${failing[0]?.name}` : `${count} of ${counted(accounts.length, 'account')}`;
  const rejected = failing.filter(({ keyRejected }) => keyRejected).length;
  const what = rejected === 0 ? 'API down' : rejected === failing.length ? 'Key rejected' : 'API down or key rejected';
  return `${what}: no request of ${who} has succeeded for ${duration(now - since)}.`;
}

function unknownHeadline({ counts, accounts, sweeps, command }: HeadlineFacts): Headline | null {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const unjudged = accounts.filter((account) => account.unjudged);
  const [cause] = unjudged;
  if (cause?.unjudged && failingOf({ accounts }).length === 0)
    return {
      tone: 'alarm',
      sentence: `NOT GUARDED: ${noneJudged} of ${namesOf(unjudged.map(({ name }) => name))}.`,
      advice: `The API of ${cause.name} answers, but refuses what Warmwarden judges by: ${sentenceOf(cause.unjudged.detail)}`,
    };
  if (total > 0 && counts.not_judged === total && judgingOf(sweeps).length === 0) {
    return {
      tone: 'unknown',
      sentence: total === 1 ? 'The one mailbox is not judged.' : `None of the ${mailboxes(total)} is judged.`,
      advice: `This is normal right after a start, until Warmwarden has read the statistics and the warm-up once. If it lasts, Warmwarden cannot judge the data that the API sends: the page of a mailbox and \`${command} explain MAILBOX\` say why.`,
    };
  }
  return null;
}

const stopsNamed = 3;

/**
 * Headline for emergency stops. A stop of all writes comes before everything else; for a narrower stop, the headline of
 * the fleet follows as usual.
 */
function writesOffHeadline(facts: HeadlineFacts): Headline | null {
  const { writesOff, accounts } = facts;
  if (writesOff.length === 0) return null;
  const scopes = writesOff.map(({ scope }) => scope);
  const named = writesOff.slice(0, stopsNamed);
  const sentence = stopSentence(writesOff);
  const advice = `${notActing} ${named.map((off) => stopText(off, facts)).join(' ')}`;
  const isStopped = ({ name }: AccountState) => scopes.some((one) => one.kind === 'account' && one.account === name);
  const everywhere = scopes.some(({ kind }) => kind === 'everything') || accounts.every(isStopped);
  if (everywhere) return { tone: 'alarm', sentence, advice };
  const fleet = fleetHeadline(facts);
  const quiet = fleet.tone === 'calm' || fleet.tone === 'acted';
  const waits = facts.counts.paused_by_guard > 0 || warningsOf(facts) > 0;
  return {
    tone: quiet ? 'acted' : fleet.tone,
    sentence: `${sentence} ${fleet.sentence}`,
    advice: quiet && !waits ? advice : `${fleet.advice} ${advice}`,
  };
}

const notActing = 'Where writes are off, Warmwarden notifies you of breaches, but does not act.';

function stopSentence(writesOff: readonly WritesOff[]): string {
  const scopes = writesOff.map(({ scope }) => scopeText(scope));
  return `Writes are OFF for ${firstText(scopes, stopsNamed)}.`;
}

/** Describes a stop: `Writes were switched off by bob: a look first. To allow them: ...`. */
function stopText({ scope, by, reason, until }: WritesOff, { command, zone }: HeadlineFacts): string {
  const end = until === null ? 'To allow them' : `They stay off until ${momentText(until, zone)}. To allow them now`;
  return `${sentenceOf(`Writes were switched off by ${by}: ${reason}`)} ${end}: \`${writesOnCommand(scope, command)}\`.`;
}

function fleetHeadline(facts: HeadlineFacts): Headline {
  const { counts, firing } = facts;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0) {
    return {
      tone: 'unknown',
      sentence: 'There is no mailbox to guard.',
      advice: 'Check the accounts and their include lists in the configuration.',
    };
  }
  const critical = firing.count('critical');
  const isDown = failingOf(facts).length > 0;
  const starting = startingOf(facts);
  const isOld = isDown || starting.length > 0;
  const states = counts.ok === total ? allFine(total, critical, isOld) : stateSentence(facts);
  const known = counts.not_judged < total ? [states] : [];
  const sweep = sweepSentence(facts);
  const parts = [
    ...unlistedSentence(facts),
    ...(isDown ? [outageSentence(facts)] : []),
    ...startingSentence(starting),
    ...incidentSentence(facts),
    ...(critical === 0 ? [] : [`${counted(critical, 'critical alert')}.`]),
    ...(sweep === null ? [states] : [sweep, ...known]),
  ];
  const sentence = parts.join(' ');
  return { tone: toneOf(facts, critical), sentence, advice: adviceOf(facts, critical) };
}

/** Describes the open incidents: a common cause says more than a count of alerts. */
function incidentSentence({ incidents }: HeadlineFacts): readonly string[] {
  const [only, ...others] = incidents;
  if (!only) return [];
  return others.length === 0
    ? [`${incidentTitle(only, only.members, 'UTC')}.`]
    : [`${counted(incidents.length, 'incident')}.`];
}

/**
 * Describes a fleet below its limits. OK requires that no critical alert fires and that all mailboxes can be read;
 * otherwise the sentence covers only the bounces.
 */
function allFine(total: number, critical: number, isOld: boolean): string {
  const all = total === 1 ? 'The one mailbox' : `All ${mailboxes(total)}`;
  const [is, its] = total === 1 ? ['is', 'its bounce limit'] : ['are', 'their bounce limits'];
  if (isOld) return `${all} ${total === 1 ? 'was' : 'were'} below ${its} when last read.`;
  return critical > 0 ? `${all} ${is} below ${its}.` : `${all} ${is} OK.`;
}

function toneOf(facts: HeadlineFacts, critical: number): Tone {
  const { counts, accounts } = facts;
  const failed = stuckActions(facts).length > 0;
  if (critical > 0 || counts.held > 0 || failed || accounts.some(({ keyWrites }) => keyWrites === false))
    return 'alarm';
  const isOld = failingOf(facts).length + startingOf(facts).length > 0;
  if (counts.not_judged > 0 || isOld || accounts.some((one) => isEmpty(one) || isLacking(one))) return 'unknown';
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

function adviceOf(facts: HeadlineFacts, critical: number): string {
  const { counts, firing, sweeps } = facts;
  const trouble = accountsAdvice(facts);
  if (trouble !== null) return trouble;
  const stuck = stuckActions(facts).length;
  if (stuck > 0)
    return `${counted(stuck, 'action has', 'actions have')} not taken effect. “What was done” and \`${facts.command} history --guard\` show why.`;
  const alertsSay = `Start with the critical ${critical === 1 ? 'alert' : 'alerts'} below.`;
  if (counts.held > 0 && firing.hasOf('guard_held')) return heldAdvice(facts);
  if (counts.held > 0 && critical > 0)
    return `Warmwarden has decided to act on the held mailboxes, but has not acted yet. ${alertsSay}`;
  if (counts.held > 0) return 'Look at the held mailboxes: Warmwarden has decided to act, but has not acted yet.';
  if (critical > 0) return alertsSay;
  const unguarded = `${emptyText(facts)}${unlistedText(facts)}`;
  // Warnings are omitted in this case, because one of them may be about these accounts.
  const warnings = unguarded === '' ? warningsText(warningsOf(facts)) : unguarded;
  if (counts.paused_by_guard > 0)
    return `Clean the recipient list of each mailbox that Warmwarden paused, then resume its warm-up: Warmwarden never does that by itself.${warnings}`;
  if (counts.recovering > 0)
    return warnings === ''
      ? 'Nothing to do now: Warmwarden has acted and keeps watching.'
      : `Warmwarden has acted and keeps watching.${warnings}`;
  if (judgingOf(sweeps).length > 0 && counts.not_judged > 0)
    return `Wait until the first sweep is done: Warmwarden has not judged the mailboxes that it has not read.${warnings}`;
  if (startingOf(facts).length > 0) return `Wait a moment.${warnings}`;
  if (unguarded !== '') return unguarded.trimStart();
  if (warnings !== '') return `Nothing is urgent.${warnings}`;
  if (firing.count() === 0 && counts.not_judged > 0)
    return `Warmwarden cannot guard a mailbox that it does not judge: \`${facts.command} explain MAILBOX\` says why.`;
  return firing.count() > 0 ? 'Nothing is urgent. The alerts below can wait until morning.' : 'Nothing to do.';
}

const blind = 'Warmwarden cannot guard the mailboxes of';

function sentenceOn(names: readonly string[], sentence: (of: string) => string): string | null {
  return names.length === 0 ? null : sentence(namesOf(names));
}

function accountsAdvice({ accounts }: Pick<HeadlineFacts, 'accounts'>): string | null {
  const failing = failingOf({ accounts });
  const rejected = namesIn(failing, ({ keyRejected }) => keyRejected);
  const down = namesIn(failing, ({ keyRejected }) => !keyRejected);
  const readOnly = namesIn(accounts, ({ keyWrites }) => keyWrites === false);
  const sentences = [
    sentenceOn(down, (of) => `${blind} ${of} while their API is down. Their last failure is below.`),
    sentenceOn(rejected, (of) => `${blind} ${of}, because the API rejects the key. ${replaceKey}`),
    sentenceOn(
      readOnly,
      (of) => `The key of ${of} may not write: Warmwarden does NOT act on breaches there. Replace the key.`,
    ),
  ].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : sentences.join(' ');
}

/** Number of warnings. Warnings without a mailbox count, because they also need a person. */
function warningsOf({ firing }: HeadlineFacts): number {
  return firing.count('warning');
}

function warningsText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ' The warning below can wait until morning.' : ' The warnings below can wait until morning.';
}

function judgingOf(sweeps: readonly SweepProgress[]): readonly SweepProgress[] {
  return sweeps.filter(({ part }) => part === 'judging');
}

function sweepSentence({ sweeps, now, zone }: HeadlineFacts): string | null {
  const judging = judgingOf(sweeps);
  return judging.length === 0 ? null : `${sweepsText(judging, { now, zone })}.`;
}

function mailboxes(count: number): string {
  return counted(count, 'mailbox', 'mailboxes');
}

// Accounts whose mailbox list lacks configured mailboxes, which are not guarded.

interface AccountFacts {
  readonly accounts: readonly AccountState[];
}

function isLacking({ unlisted }: AccountState): boolean {
  return unlisted.length > 0;
}

function unlistedSentence({ accounts }: AccountFacts): readonly string[] {
  const count = accounts.reduce((sum, { unlisted }) => sum + unlisted.length, 0);
  if (count === 0) return [];
  const are = count === 1 ? 'is' : 'are';
  return [
    `NOT GUARDED: ${counted(count, 'mailbox', 'mailboxes')} that the configuration includes ${are} not in the mailbox list.`,
  ];
}

/** True if the account's list was read but no mailbox is selected: the configuration may be wrong. */
export function isEmpty({ listed, forecast }: AccountState): boolean {
  return listed && forecast?.mailboxes === 0;
}

/** Advice for accounts without a selected mailbox, with a leading space; empty if there is no such account. */
function emptyText({ accounts }: AccountFacts): string {
  const empty = namesIn(accounts, isEmpty);
  return empty.length === 0
    ? ''
    : ` No mailbox of ${namesOf(empty)} is guarded: the mailbox list is empty, or the configuration selects no mailbox in it. Check whether the key can see the mailboxes, and check \`include\` and \`exclude\`.`;
}

/** Advice for accounts whose list lacks mailboxes, with a leading space; empty if there is no such account. */
function unlistedText({ accounts }: AccountFacts): string {
  const lacking = namesIn(accounts, isLacking);
  return lacking.length === 0
    ? ''
    : ` Check the spelling in \`include\` of ${namesOf(lacking)}, and whether ${lacking.length === 1 ? 'its key' : 'their keys'} can see every mailbox.`;
}

/**
 * Sentence such as `1 mailbox paused by Warmwarden, 2 recovering, 9 OK.`: the first part names the unit. An unreadable
 * mailbox is never OK.
 */
function stateSentence(facts: HeadlineFacts): string {
  const { counts, okWhenRead } = facts;
  const others = stateParts.map(
    ([state, what]) => [counts[state], state === 'held' ? heldText(what, facts) : what] as const,
  );
  const parts = [...others, [counts.ok - okWhenRead, 'OK'] as const, [okWhenRead, 'OK when last read'] as const];
  const words = parts
    .filter(([count]) => count > 0)
    .map(([count, what], index) => `${index === 0 ? mailboxes(count) : numberText(count)} ${what}`);
  return `${words.join(', ')}.`;
}

/** Adds the causes of the hold, other than an action that has not been carried out yet. */
function heldText(held: string, { counts, heldBy }: HeadlineFacts): string {
  const causes = (
    [
      [heldBy.breaker, 'by the circuit breaker'],
      [heldBy.readOnlyKey, 'because the key may not write'],
      [heldBy.enforcementOff, 'because enforcement is off'],
    ] as const
  ).filter(([count]) => count > 0);
  const [only] = causes;
  if (!only) return held;
  if (only[0] === counts.held) return `${held} ${only[1]}`;
  return `${held} (${causes.map(([count, why]) => `${numberText(count)} ${why}`).join(', ')})`;
}

const stateParts: readonly (readonly [GuardState, string])[] = [
  ['held', 'over the limit and held'],
  ['paused_by_guard', 'paused by Warmwarden'],
  ['recovering', 'recovering'],
  ['not_judged', 'not judged'],
  ['over_limit', 'over the limit and not acted on'],
  ['near_limit', 'near the limit'],
  ['paused_by_others', 'paused by others'],
  ['not_running', 'not running'],
  ['no_warmup', 'without a warm-up'],
];

/**
 * Advice while the circuit breaker holds actions: release them, or prevent the actions that Warmwarden takes without a
 * release.
 */
function heldAdvice({ firing, command, zone }: HeadlineFacts): string {
  const holds = firing.groups.filter(({ first }) => first.rule === 'guard_held');
  const [from] = holds.flatMap(({ first }) => actsFrom(first) ?? []).sort((a, b) => a - b);
  const otherwise =
    from === undefined
      ? 'If not, do nothing: Warmwarden waits for the release.'
      : `Otherwise prevent them, as the alert below says: from ${momentText(from, zone)}, Warmwarden acts on its own if fresh data still shows the breach.`;
  return `The circuit breaker is holding the actions, because many mailboxes exceed their limits at the same time. If the bounces are real, carry the actions out: \`${command} breaker release\`. ${otherwise}`;
}

export function actsFrom({ facts }: Alert): EpochMs | null {
  const time = facts.numbers['acts_from'];
  return typeof time === 'string' ? Date.parse(time) : null;
}

function namesIn(accounts: readonly AccountState[], which: (account: AccountState) => boolean): readonly string[] {
  return accounts.filter(which).map(({ name }) => name);
}

const namesShown = 5;

function namesOf(names: readonly string[]): string {
  return firstText(names, namesShown);
}
