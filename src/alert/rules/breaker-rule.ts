// guard_held: the breaker holds every action under one base_url. One message with the list.
import { type Alert, noAccount, type Subject } from '../../model/alert.ts';
import { type BreakerEntry, type BreakerState, heldEntries } from '../../model/breaker.ts';
import type { EpochMs } from '../../model/time.ts';
import { counted, momentText, spanText } from '../../wording/phrases.ts';
import { atOnce, type Condition } from '../condition.ts';

/** Mailboxes that the message names; the page has them all. */
const namedMailboxes = 10;

/** It is the API's, whatever accounts there are under it and in whatever order. */
export function heldSubject(api: string): Subject {
  return { rule: 'guard_held', account: noAccount, mailboxId: null, email: null, object: api };
}

export function guardHeld(
  breaker: BreakerState,
  about: {
    readonly api: string;
    /** Its pending or firing alert. */
    readonly alert: Alert | undefined;
    readonly windowMs: number;
    readonly now: EpochMs;
    /** Base of the links to the page; null when there is no page. */
    readonly pageUrl: string | null;
    /** The words that start this program, for the command in the advice. */
    readonly command: string;
    /** For the times in the sentences: an IANA name. */
    readonly zone: string;
  },
): Condition {
  const held = heldEntries(breaker);
  const accounts = [...new Set(held.map(({ account }) => account))].sort();
  const name = nameOf(about.api);
  const domains = new Set(held.map(({ domain }) => domain)).size;
  const open = breaker.openSince !== null;
  const mostBefore = mostHeld(about.alert);
  const emergencies = held.filter(({ emergency }) => emergency);
  const others = held.filter(({ emergency }) => !emergency);
  const named = [...emergencies, ...others].slice(0, namedMailboxes).map(nameOfHeld);
  const more = held.length > named.length ? ` and ${held.length - named.length} more` : '';
  const onward = breaker.atFirstSight
    ? 'Warmwarden had not seen these mailboxes before, so it does not act until you release the held actions.'
    : `After ${spanText(about.windowMs)}, Warmwarden acts on the worst mailboxes first, a tenth of the fleet every 15 minutes, if fresh data still shows the breach.`;
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
            `NO ACTION TAKEN on: ${named.join(', ')}${more}.`,
            onward,
            `Look at the whole fleet. If the bounces are real, carry out the held actions: \`${about.command} breaker release\`. If not, do nothing.`,
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
        ...heldLink(about.pageUrl),
      },
      accounts,
    },
  };
}

/** The most that were held at once since it began: what is held may become less and more again, which is no news. */
function mostHeld(alert: Alert | undefined): number {
  const { most_held: most, held } = alert?.facts.numbers ?? {};
  // An earlier version stored only what was held last.
  return Number(most ?? held ?? 0);
}

/**
 * Each emergency that it comes to hold is news, also where another one was acted on meanwhile. The first one does not wait for
 * the interval between two messages; the next message has those that follow.
 */
function worseBy({ emergencies = 0 }: BreakerState, alert: Alert | undefined): Condition['worse'] {
  const known = Number(alert?.facts.numbers['emergencies_so_far'] ?? 0);
  if (emergencies <= known) return false;
  return known === 0 ? 'at_once' : true;
}

function emergencyTitle(count: number): string {
  return count === 0 ? '' : `, ${count} of them in an emergency`;
}

function nameOfHeld({ account, email, emergency }: BreakerEntry): string {
  return `${email} (${account}${emergency ? ', emergency' : ''})`;
}

/** People are notified again at 2, 4, 8, ...: a handful of times, however many are held in the end. */
function doublings(held: number): number {
  return Math.floor(Math.log2(Math.max(1, held)));
}

/** Everything that breached, as the breaker counted it: what was acted on before it opened belongs to it. */
function breachText({ entries }: BreakerState): string {
  const domains = new Set(entries.map(({ domain }) => domain)).size;
  const held = entries.filter((entry) => entry.held).length;
  const acted = entries.length - held;
  const breached =
    entries.length === 1 ? 'has exceeded its bounce limit' : 'have exceeded their bounce limits at the same time';
  const actedOn = `${acted === 0 ? 'none' : acted} ${acted > 1 ? 'were' : 'was'} acted on`;
  return `${counted(entries.length, 'mailbox', 'mailboxes')} on ${counted(domains, 'domain')} ${breached}: ${actedOn}, ${held} ${held === 1 ? 'is' : 'are'} held.`;
}

/** Of a base_url what people call it by: the host. */
function nameOf(api: string): string {
  return URL.canParse(api) ? new URL(api).host : api;
}

/** The page with those that are held. */
function heldLink(pageUrl: string | null): Readonly<Record<string, string>> {
  return pageUrl === null ? {} : { page_url: `${pageUrl}/?state=held` };
}
