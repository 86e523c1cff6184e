// guard_held: the breaker holds every action under one base_url. One message lists them.
import { type Alert, noAccount, type Subject } from '../../core/alert.ts';
import { apiHost, type BreakerEntry, type BreakerState, heldEntries } from '../../core/guard/breaker.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { countsAndRate, undoEarlier } from '../../core/wording/explain.ts';
import { counted, firstText, listText, momentText, spanText } from '../../core/wording/phrases.ts';
import { actsFromText } from '../../core/wording/states.ts';
import { accountSubject, type Condition, condition } from '../condition.ts';

/** Maximum mailboxes that the message names; the page lists them all. */
const namedMailboxes = 5;
const namedAccounts = 3;

/** The subject does not depend on the API's accounts or their order. */
export function heldSubject(api: string): Subject {
  return accountSubject('guard_held', noAccount, api);
}

interface HeldContext {
  readonly api: string;
  readonly alert: Alert | undefined;
  readonly windowMs: number;
  readonly now: EpochMs;
  readonly zone: string;
  readonly verdictOf: (entry: BreakerEntry) => Verdict | undefined;
  /** Held mailboxes that the words name; the others are counted. All of them if absent. */
  readonly isOwn?: (entry: BreakerEntry) => boolean;
}

export function guardHeld(breaker: BreakerState, context: HeldContext): Condition {
  const { api, alert, windowMs, zone, isOwn = () => true } = context;
  const { openSince, atFirstSight } = breaker;
  const all = heldEntries(breaker);
  const held = all.filter(isOwn);
  const others = all.length - held.length;
  const accountsHeld = [...new Set(held.map(({ account }) => account))].sort();
  // A closed breaker holds nothing, so the alert provides the accounts.
  const accounts = openSince === null ? (alert?.facts.accounts ?? []) : accountsHeld;
  const mostBefore = Number(alert?.facts.numbers['most_held'] ?? 0);
  const emergencies = held.filter(({ emergency }) => emergency);
  const ranked = [...emergencies, ...held.filter(({ emergency }) => !emergency)];
  const actsFrom = (openSince ?? context.now) + windowMs;
  const name = apiName(api, accounts);
  const urgent = firstText(
    emergencies.map(({ email }) => email),
    namedMailboxes,
  );
  const pauses = held.filter((entry) => context.verdictOf(entry)?.wanted === 'pause').length;
  const mailboxes = counted(held.length, 'mailbox', 'mailboxes');
  const acted = breaker.entries.filter((one) => !one.held && isOwn(one)).length;
  const inEmergency = emergencies.length === 0 ? '' : `, ${emergencies.length} of them in an emergency`;
  const [from, isOverdue] = [momentText(actsFrom, zone), context.now >= actsFrom];
  const end = (what: 'apply' | 'discard') => `\`warmwarden breaker ${what} ${apiHost(api)}\``;
  const titleOf = () => {
    const what = `${name}: NO ACTION on ${mailboxes}${inEmergency}`;
    if (atFirstSight) return `${what}: Warmwarden waits for you`;
    return `${what}: ${isOverdue ? 'acting step by step since' : 'decide by'} ${from}`;
  };
  return condition(heldSubject(api), {
    active: openSince !== null,
    worse: worseBy(breaker, alert) || doublings(held.length) > doublings(mostBefore),
    ...(openSince !== null && { since: openSince }),
    accounts,
    firing: () => [
      titleOf(),
      breachText(breaker, context),
      `Held: ${namesText(ranked, context.verdictOf)}${others === 0 ? '' : `, and ${counted(others, 'mailbox', 'mailboxes')} of others`}.`,
      atFirstSight
        ? 'Warmwarden waits until you decide: it has read most of these mailboxes only once or twice, too few to be sure.'
        : `${actsFromText(actsFrom, context.now, zone)}, if fresh data still shows the breach: on at most a tenth of this API's running mailboxes per 15 minutes, the worst first.`,
      'Read the bounces of one of them in the warm-up service: real, or wrong data?',
      emergencies.length > 0
        ? `If they are real, take ${urgent} out of ${emergencies.length === 1 ? 'its' : 'their'} campaigns yourself, now${emergencies.length < held.length ? '; the others if an incident says so' : ''}.`
        : pauses === 0 && 'If they are real, leave the campaigns running, unless a Warmwarden incident says otherwise.',
      `Real bounces: ${end('apply')} ${appliedText(held.length, pauses)}${others === 0 ? '' : `, and acts on ${counted(others, 'mailbox', 'mailboxes')} of others`}.`,
      `Wrong data: ${end('discard')} voids the bounces of ${held.length === 1 ? 'this mailbox' : `these ${held.length}`}${others === 0 ? '' : `, and of ${counted(others, 'mailbox', 'mailboxes')} of others`}: only new ones count.`,
      acted > 0 && undoEarlier,
    ],
    ended: () => [closedTitle(name)],
    numbers: () => ({
      held: held.length,
      pauses,
      most_held: Math.max(held.length, mostBefore),
      emergencies: emergencies.length,
      emergencies_so_far: breaker.emergencies ?? 0,
      domains: new Set(held.map(({ domain }) => domain)).size,
      api,
      accounts: accounts.join(', '),
      ...(openSince !== null && !atFirstSight && { acts_from: new Date(actsFrom).toISOString() }),
    }),
  });
}

/** `name`: the accounts with the API, or the API alone. */
export function closedTitle(name: string): string {
  return `${name}: the circuit breaker holds no action any more`;
}

function namesText(ranked: readonly BreakerEntry[], verdictOf: (entry: BreakerEntry) => Verdict | undefined): string {
  const isOne = new Set(ranked.map(({ account }) => account)).size === 1;
  const named = ranked.map((entry) => {
    const facts = [isOne ? '' : entry.account, entry.emergency && 'emergency', countsAndRate(verdictOf(entry))].filter(
      Boolean,
    );
    return facts.length === 0 ? entry.email : `${entry.email} (${facts.join(', ')})`;
  });
  return firstText(named, namedMailboxes);
}

function appliedText(held: number, pauses: number): string {
  if (pauses === 0) return `switches ${held === 1 ? 'it' : `these ${held}`} to recovery mode now`;
  if (pauses === held) return `pauses ${held === 1 ? 'it' : `these ${held}`} now`;
  return `pauses ${pauses} and switches ${held - pauses} to recovery mode now`;
}

/** Each new emergency is news, even if another one was acted on meanwhile. The first one is sent at once. */
function worseBy({ emergencies = 0 }: BreakerState, alert: Alert | undefined): Condition['worse'] {
  const known = Number(alert?.facts.numbers['emergencies_so_far'] ?? 0);
  if (emergencies <= known) return false;
  return known === 0 ? 'at_once' : true;
}

/** People are notified again at 2, 4, 8, ... mailboxes, which is only a handful of times. */
function doublings(held: number): number {
  return Math.floor(Math.log2(Math.max(1, held)));
}

/** Describes all breaches, including those that were acted on before the breaker opened. */
function breachText({ entries, openSince }: BreakerState, { windowMs, now, zone }: HeldContext): string {
  const domains = new Set(entries.map(({ domain }) => domain)).size;
  const acted = entries.filter((entry) => !entry.held).length;
  const all = counted(entries.length, 'mailbox', 'mailboxes');
  const breached = entries.length === 1 ? 'its bounce limit' : `their bounce limits in the last ${spanText(windowMs)}`;
  const split = `Warmwarden acted on ${acted === 0 ? 'none' : acted} of them, and has held ${entries.length - acted} since ${momentText(openSince ?? now, zone)}.`;
  return `${all} on ${counted(domains, 'domain')} exceeded ${breached}. ${split}`;
}

export function apiName(api: string, accounts: readonly string[]): string {
  const host = apiHost(api);
  if (accounts.length === 0) return host;
  const names = accounts.length > namedAccounts ? firstText(accounts, namedAccounts) : listText(accounts);
  return `${names} (${host})`;
}
