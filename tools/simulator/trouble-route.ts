// POST /admin/troubles: one trouble, now, for a mailbox or a domain that is named as people name it.
import { z } from 'zod';
import type { Measurements } from './checks.ts';
import { percent } from './day-row.ts';
import type { Edit, FaultRule } from './fault.ts';
import type { Faults } from './faults.ts';
import type { Fleet } from './fleet.ts';
import type { Mailbox } from './mailbox.ts';
import { bounceLimitPercent, modeRamps, type WarmupMode } from './ramp.ts';
import { Refusal } from './refusal.ts';
import type { Incident } from './scenario.ts';
import {
  type AimedKind,
  aimedKinds,
  breach,
  type Counts,
  emergency,
  type HealthKind,
  healthKinds,
  type TroubleKind,
} from './trouble.ts';
import { targetLimit } from './warmup-config.ts';

/** A trouble as it is asked for. `target` is an address, an id or, where a whole domain is meant, a domain. */
export type TroubleRequest =
  | { readonly kind: AimedKind; readonly target: string }
  | { readonly kind: HealthKind; readonly target?: undefined };

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

const request = z.union([
  z.strictObject({ kind: z.enum(aimedKinds), target: z.string().min(1).max(320) }),
  z.strictObject({ kind: z.enum(healthKinds), target: z.undefined().optional() }),
]);
const loginError = 'IMAP login failed: invalid credentials';
const brokenRecords = ['spf', 'dkim'] as const;
const namesShown = 12;

/** Throws a ZodError. */
export function readTroubleRequest(value: unknown): TroubleRequest {
  return request.parse(value);
}

/** What a trouble happens to. */
export interface Struck {
  readonly fleet: Fleet;
  readonly faults: Faults;
  readonly checks: readonly Measurements[];
}

/** Lets it happen. Throws a Refusal: 404 for a name that the fleet does not have, 409 for what would change nothing. */
export function strike({ fleet, faults, checks }: Struck, { kind, target }: TroubleRequest): Trouble {
  if (target === undefined) return { success: true, kind, mailboxes: [], message: ail(faults, kind), caveat: null };
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

const happen: Readonly<Record<AimedKind, Happen>> = {
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
  pause: (fleet, { email, running }) => {
    if (!running) return `The warm-up of ${email} was paused already.`;
    fleet.pause(email);
    return `The warm-up of ${email} was paused, as a person does it in the warm-up service.`;
  },
  'raise-mode': (fleet, { email, config: { mode } }) => {
    const brisker = gentleToBrisk[gentleToBrisk.indexOf(mode) + 1];
    if (!brisker) return `${email} is in ${mode} mode already. There is none above it.`;
    fleet.setMode(email, brisker);
    return `The mode of ${email} was raised from ${mode} to ${brisker}, as a person does it in the warm-up service.`;
  },
  'raise-limit': (fleet, { email, config }) => {
    const { max } = modeRamps[config.mode];
    const targetDailyLimit = max + aboveMaximum;
    fleet.configure(email, { targetDailyLimit });
    return `The target daily limit of ${email} was set from ${targetLimit(config)} to ${targetDailyLimit} emails, as a person does it in the warm-up service. Its mode, ${config.mode}, allows ${max}.`;
  },
};

const gentleToBrisk: readonly WarmupMode[] = ['recovery', 'slow', 'balanced', 'aggressive'];
/** Emails a day above what the mode allows. */
const aboveMaximum = 20;

/** How the health check is changed. */
const ailments: Readonly<Record<Exclude<HealthKind, 'well'>, Edit>> = {
  unwell: { set: { status: 'degraded' } },
  'clock-off': { shift: { timestamp: 300_000 } },
};

/** What ails the health check already stays; `well` ends it all. Answers what the check says now. */
function ail(faults: Faults, kind: HealthKind): string {
  const before = faults.rules().find(isAilment);
  faults.end(isAilment);
  if (kind === 'well') return 'The health check reports "ok" again, and the right time.';
  const edit = { ...(before && isAilment(before) ? before.fault.edit : {}), ...ailments[kind] };
  faults.add({ route: 'health', fault: { do: 'edit', edit } });
  return kind === 'unwell'
    ? 'The health check reports "degraded". Everything else works.'
    : 'The clock of the API, as its health check tells it, is 5 minutes ahead. Everything else works.';
}

function isAilment(
  rule: FaultRule,
): rule is FaultRule & { readonly fault: { readonly do: 'edit'; readonly edit: Edit } } {
  return rule.route === 'health' && typeof rule.fault === 'object' && rule.fault.do === 'edit';
}

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
  const limit = `Its mode, ${config.mode}, allows ${bounceLimitPercent[config.mode]}%.`;
  return `${email} sent ${counted(sent, 'email', 'emails')} ${when}, and ${bounced} of them bounced (${percent(bounced, sent)}%). ${limit}`;
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
