// guard_held: the breaker holds every action under one base_url. One message lists them.
import { type Alert, noAccount, type Subject } from '../../core/alert.ts';
import { type BreakerEntry, type BreakerState, heldEntries } from '../../core/guard/breaker.ts';
import { idOfKey, typedName } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { countsAndRate } from '../../core/wording/explain.ts';
import { counted, listText, momentText } from '../../core/wording/phrases.ts';
import { everything, type WriteScope, writesOffCommand } from '../../core/write-scope.ts';
import { atOnce, type Condition } from '../condition.ts';

/** Maximum mailboxes that the message names; the page lists them all. */
const namedMailboxes = 10;
/** Maximum accounts that the title names and that get a command of their own. */
const namedAccounts = 3;

/** Returns the subject, which depends only on the API and not on its accounts or their order. */
export function heldSubject(api: string): Subject {
  return { rule: 'guard_held', account: noAccount, mailboxId: null, email: null, object: api };
}

export function guardHeld(
  breaker: BreakerState,
  about: {
    readonly api: string;
    /** Pending or firing alert of the breaker. */
    readonly alert: Alert | undefined;
    readonly windowMs: number;
    readonly now: EpochMs;
    /** Base of links to the page, or null if there is no page. */
    readonly pageUrl: string | null;
    /** Command line that starts this program, for the command in the advice. */
    readonly command: string;
    /** Time zone for sentences, an IANA name. */
    readonly zone: string;
    /** Returns the newest verdict on a mailbox, or undefined if none is known here. */
    readonly verdictOf: (entry: BreakerEntry) => Verdict | undefined;
  },
): Condition {
  const held = heldEntries(breaker);
  const accounts = [...new Set(held.map(({ account }) => account))].sort();
  const domains = new Set(held.map(({ domain }) => domain)).size;
  const open = breaker.openSince !== null;
  const mostBefore = mostHeld(about.alert);
  const emergencies = held.filter(({ emergency }) => emergency);
  const others = held.filter(({ emergency }) => !emergency);
  const ranked = [...emergencies, ...others];
  // A closed breaker holds nothing, so the alert provides the accounts.
  const name = nameOf(about.api, open ? accounts : (about.alert?.facts.accounts ?? []));
  return {
    subject: heldSubject(about.api),
    severity: 'critical',
    active: open,
    ...atOnce,
    worse: worseBy(breaker, about.alert) || doublings(held.length) > doublings(mostBefore),
    ...(breaker.openSince === null ? {} : { since: breaker.openSince }),
    facts: {
      title: open
        ? `${name}: ${counted(held.length, 'mailbox', 'mailboxes')} held${emergencyTitle(emergencies.length)}, because too many breached at once`
        : `${name}: the circuit breaker is closed again`,
      sentences: open
        ? [
            `The circuit breaker has been holding actions since ${momentText(breaker.openSince ?? about.now, about.zone)}. ${breachText(breaker)} Many breaches at the same time point to a fault of the provider or bad data.`,
            `NO ACTION TAKEN on: ${namesText(ranked, about.verdictOf)}.`,
            ...emergencyTexts(emergencies.length),
            nextText(breaker, about),
            `Look at the whole fleet. If the bounces are real, carry out the held actions: \`${about.command} breaker release\`. ${pauseText(ranked, about.command)}`,
            preventText(breaker, accounts, about.command),
          ]
        : ['The circuit breaker is no longer holding any action.'],
      numbers: {
        held: held.length,
        most_held: Math.max(held.length, mostBefore),
        emergencies: emergencies.length,
        emergencies_so_far: breaker.emergencies ?? 0,
        domains,
        api: about.api,
        accounts: accounts.join(', '),
        ...actsFrom(breaker, about.windowMs),
        ...heldLink(about.pageUrl),
      },
      accounts,
    },
  };
}

/** Returns the time at which Warmwarden acts without a release, as ISO 8601, or nothing if it waits for one. */
function actsFrom({ openSince, atFirstSight }: BreakerState, windowMs: number): Readonly<Record<string, string>> {
  return openSince === null || atFirstSight ? {} : { acts_from: new Date(openSince + windowMs).toISOString() };
}

/** Lists the mailboxes with the counts that show whether their bounces are real. */
function namesText(ranked: readonly BreakerEntry[], verdictOf: (entry: BreakerEntry) => Verdict | undefined): string {
  const named = ranked.slice(0, namedMailboxes).map((entry) => {
    const counts = countsAndRate(verdictOf(entry));
    const facts = [entry.account, entry.emergency && 'emergency', counts].filter(Boolean);
    return `${entry.email} (${facts.join(', ')})`;
  });
  const more = ranked.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function emergencyTexts(count: number): readonly string[] {
  if (count === 0) return [];
  const waiting = `${counted(count, 'mailbox', 'mailboxes')} in an emergency ${count === 1 ? 'waits' : 'wait'}`;
  return [`The ${waiting} like the others. When Warmwarden acts, it pauses the warm-up there.`];
}

function nextText(
  { openSince, atFirstSight }: BreakerState,
  { windowMs, now, zone }: { readonly windowMs: number; readonly now: EpochMs; readonly zone: string },
): string {
  if (atFirstSight)
    return 'Warmwarden had not seen these mailboxes before, so it does not act until you release the held actions.';
  return `From ${momentText((openSince ?? now) + windowMs, zone)}, Warmwarden acts on the worst mailboxes first, a tenth of the fleet every 15 minutes, if fresh data still shows the breach.`;
}

/** Returns advice for acting on one mailbox alone, with the worst one as the example. */
function pauseText([worst]: readonly BreakerEntry[], command: string): string {
  if (!worst) return '';
  const { account, key, email } = worst;
  const name = typedName({ account, id: idOfKey(key), email });
  return `To pause only one mailbox now, for example: \`${command} pause ${name}\`.`;
}

/** Returns advice for preventing the actions. Doing nothing prevents them only if the breaker waits for a release. */
function preventText({ atFirstSight }: BreakerState, accounts: readonly string[], command: string): string {
  if (atFirstSight) return 'If the data is wrong, you need not do anything.';
  const scopes: readonly WriteScope[] =
    accounts.length > namedAccounts ? [everything] : accounts.map((account) => ({ kind: 'account', account }));
  const commands = scopes.map((scope) => `\`${writesOffCommand(scope, command, 'wrong data')}\``);
  return `If the data is wrong, prevent the actions: ${listText(commands)}. Warmwarden then changes nothing there until you turn writes on again.`;
}

/**
 * Returns the maximum number of mailboxes held at once since the alert began. A number that falls and rises again is no
 * news.
 */
function mostHeld(alert: Alert | undefined): number {
  const { most_held: most, held } = alert?.facts.numbers ?? {};
  // An earlier version stored only the last number.
  return Number(most ?? held ?? 0);
}

/**
 * Returns whether a new emergency makes the alert worse. Each one is news, even if Warmwarden acted on another one
 * meanwhile. The first one does not wait for the interval between two messages; the next message includes those that
 * follow.
 */
function worseBy({ emergencies = 0 }: BreakerState, alert: Alert | undefined): Condition['worse'] {
  const known = Number(alert?.facts.numbers['emergencies_so_far'] ?? 0);
  if (emergencies <= known) return false;
  return known === 0 ? 'at_once' : true;
}

function emergencyTitle(count: number): string {
  return count === 0 ? '' : `, ${count} of them in an emergency`;
}

/**
 * Returns the number of doublings. People are notified again at 2, 4, 8, ... mailboxes, which is only a handful of
 * times.
 */
function doublings(held: number): number {
  return Math.floor(Math.log2(Math.max(1, held)));
}

/** Describes all breaches that the breaker counted, including those that were acted on before it opened. */
function breachText({ entries }: BreakerState): string {
  const domains = new Set(entries.map(({ domain }) => domain)).size;
  const held = entries.filter((entry) => entry.held).length;
  const acted = entries.length - held;
  const breached =
    entries.length === 1 ? 'has exceeded its bounce limit' : 'have exceeded their bounce limits at the same time';
  const actedOn = `${acted === 0 ? 'none' : acted} ${acted > 1 ? 'were' : 'was'} acted on`;
  return `${counted(entries.length, 'mailbox', 'mailboxes')} on ${counted(domains, 'domain')} ${breached}: ${actedOn}, ${held} ${held === 1 ? 'is' : 'are'} held.`;
}

/** Names the accounts, as the configuration calls them, and the host of the API that they share. */
function nameOf(api: string, accounts: readonly string[]): string {
  const host = URL.canParse(api) ? new URL(api).host : api;
  if (accounts.length === 0) return host;
  const named = accounts.slice(0, namedAccounts);
  const more = accounts.length - named.length;
  return `${listText(more > 0 ? [...named, `${more} more`] : named)} (${host})`;
}

/** Returns the link to the page of held mailboxes. */
function heldLink(pageUrl: string | null): Readonly<Record<string, string>> {
  return pageUrl === null ? {} : { page_url: `${pageUrl}/?state=held` };
}
