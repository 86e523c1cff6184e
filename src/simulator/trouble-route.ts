// POST /admin/troubles: one trouble, now, for a mailbox or a domain that is named as people name it.
import { z } from 'zod';
import type { Measurements } from './checks.ts';
import { percent } from './day-row.ts';
import type { Fleet } from './fleet.ts';
import type { Mailbox } from './mailbox.ts';
import { bounceLimitPercent } from './ramp.ts';
import { Refusal } from './refusal.ts';
import type { Incident } from './scenario.ts';
import { breach, type Counts, emergency, type TroubleKind, troubleKinds } from './trouble.ts';

/** A trouble as it is asked for. `target` is an address, an id or, where a whole domain is meant, a domain. */
export interface TroubleRequest {
  readonly kind: TroubleKind;
  readonly target: string;
}

/** What came of it; sent over HTTP as it is. */
export interface Trouble {
  readonly success: true;
  readonly kind: TroubleKind;
  /** The addresses that it is about. */
  readonly mailboxes: readonly string[];
  /** One sentence for people. */
  readonly message: string;
  /** Why a guard is likely to do nothing about it; null when one acts. */
  readonly caveat: string | null;
}

const request = z.strictObject({ kind: z.enum(troubleKinds), target: z.string().min(1).max(320) });
const loginError = 'IMAP login failed: invalid credentials';
const brokenRecords = ['spf', 'dkim'] as const;
const namesShown = 12;

/** Throws a ZodError. */
export function readTroubleRequest(value: unknown): TroubleRequest {
  return request.parse(value);
}

/** Lets it happen. Throws a Refusal: 404 for a name that the fleet does not have, 409 for a mailbox that sends nothing. */
export function strike(fleet: Fleet, checks: readonly Measurements[], { kind, target }: TroubleRequest): Trouble {
  const one = named(fleet, target);
  const struck =
    kind === 'dns-failure' || kind === 'repair' ? ofDomain(fleet, one?.domain ?? target) : one ? [one] : [];
  const [first] = struck;
  if (!first) throw new Refusal(404, unknown(fleet, target));
  const message = happen[kind](fleet, first, struck);
  // A measurement of the moment before would show the old state for up to an hour.
  for (const measurements of checks) for (const mailbox of struck) measurements.drop(mailbox);
  const caveat = kind === 'breach' ? breachCaveat(first) : null;
  return { success: true, kind, mailboxes: struck.map(({ email }) => email), message, caveat };
}

type Happen = (fleet: Fleet, mailbox: Mailbox, all: readonly Mailbox[]) => string;

const happen: Readonly<Record<TroubleKind, Happen>> = {
  breach: (_fleet, mailbox) => bounced(mailbox, breach(sending(mailbox))),
  emergency: (_fleet, mailbox) => bounced(mailbox, emergency(sending(mailbox))),
  'dns-failure': (fleet, { domain }, all) => {
    befallEach(fleet, all, { kind: 'dns', records: brokenRecords });
    return `The SPF and DKIM records of ${domain} are gone. That affects ${counted(all.length, 'mailbox', 'mailboxes')}.`;
  },
  disconnect: (fleet, { email }, all) => {
    befallEach(fleet, all, { kind: 'disconnect', error: loginError });
    return `${email} is disconnected (${loginError}) and sends nothing.`;
  },
  repair: (fleet, { domain }, all) => {
    fleet.repair(all);
    const whole = `the domain ${domain} (${counted(all.length, 'mailbox', 'mailboxes')})`;
    return `DNS, listings and logins of ${whole} are in order again. Emails that bounced stay bounced.`;
  },
};

type Befalling = { kind: 'dns'; records: typeof brokenRecords } | { kind: 'disconnect'; error: string };

function befallEach(fleet: Fleet, mailboxes: readonly Mailbox[], what: Befalling): void {
  for (const { email } of mailboxes) fleet.addIncident({ ...what, mailbox: email, from: 0 } satisfies Incident);
}

/** Throws a Refusal (409) for one that sends nothing: its emails can't bounce. */
function sending(mailbox: Mailbox): Mailbox {
  const { email, running } = mailbox;
  const instead = 'Choose another mailbox, or';
  if (!running) throw new Refusal(409, `The warm-up of ${email} is paused, so it sends nothing. ${instead} resume it.`);
  if (mailbox.disconnected) {
    throw new Refusal(409, `${email} is disconnected, so it sends nothing. ${instead} repair it.`);
  }
  return mailbox;
}

function bounced({ email, config }: Mailbox, { days, sent, bounced }: Counts): string {
  const when = days === 2 ? 'today and yesterday' : `in the last ${days} days`;
  const limit = `Its mode, ${config.mode}, allows ${bounceLimitPercent[config.mode]} %.`;
  return `${email} sent ${counted(sent, 'email', 'emails')} ${when}, and ${bounced} of them bounced (${percent(bounced, sent)} %). ${limit}`;
}

/** A guard counts emails only from the day after a change of mode or a resume, and in recovery none from before it. */
function breachCaveat({ email, config, changedToday }: Mailbox): string | null {
  const instead =
    'Use `simulator emergency`, or a mailbox in balanced, slow or aggressive mode that was not changed today.';
  if (changedToday) {
    const why = `The mode of ${email} was changed, or its warm-up resumed, today`;
    return `${why}: Warmwarden counts only emails from tomorrow on, and does nothing about this breach. ${instead}`;
  }
  if (config.mode !== 'recovery') return null;
  const why = `${email} is in recovery mode already: Warmwarden does not count the emails from before it was`;
  return `${why}, and is likely to do nothing about this breach. ${instead}`;
}

function named(fleet: Fleet, name: string): Mailbox | undefined {
  return fleet.find(name) ?? fleet.withId(name);
}

function ofDomain(fleet: Fleet, domain: string): readonly Mailbox[] {
  return fleet.mailboxes().filter((mailbox) => mailbox.domain.toLowerCase() === domain.toLowerCase());
}

function unknown(fleet: Fleet, name: string): string {
  const names = fleet.mailboxes().map(({ email }) => email);
  const more = names.length > namesShown ? `, and ${names.length - namesShown} more` : '';
  return `The simulated fleet has no ${name}. It has ${names.slice(0, namesShown).join(', ')}${more}.`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
