// What a cadence asks of a budget, and by how much it must be stretched to fit. Pure.
import type { Route } from '../model/answers.ts';
import { minuteMs } from '../model/time.ts';
import { type MailboxRoute, mailboxRoutes } from './poll.ts';

const slowRoutes = ['mailbox', 'dns', 'blacklist'] as const;

/** Health and the mailbox list each take at most one request in this many. */
const accountShare = 10;
/** Where the cadence does not fit, the kinds that the guard does not decide on take at most this share of the rest. */
const slowShare = 0.1;

/**
 * Where statistics are read by risk, no mailbox waits longer than this many rounds of all of them: more room for the
 * risky ones would be at the cost of the calm ones, less would be round robin. Where the cadence fits, it is the cap, too.
 */
export const patienceFactor = 1.25;

/** Where the cadence fits, a kind that is due catches up at this many times its usual rate; statistics take the rest. */
const catchUp = 2;

export interface DemandInput {
  readonly mailboxes: number;
  /** Requests a minute that we may make. */
  readonly allowedPerMinute: number;
  /** Of them, what may be spent beyond what the cadence needs. */
  readonly sparePerMinute: number;
  /** How far apart the runs of each kind are, milliseconds. */
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** Whether spare requests read statistics early, by risk. */
  readonly early: boolean;
}

const inputKeys = [
  'mailboxes',
  'allowedPerMinute',
  'sparePerMinute',
  'cadenceMs',
  'early',
] as const satisfies readonly (keyof DemandInput)[];

export interface Demand {
  /** Requests a minute that the cadence asks for. */
  readonly asksPerMinute: number;
  /** Most requests a minute of ordinary polls. Actions, urgent polls and mailboxes that were never judged may take more. */
  readonly pacePerMinute: number;
  /** Part of pacePerMinute that health and the list leave to the mailboxes. */
  readonly roomPerMinute: number;
  /** Requests a minute for mailboxes that were never judged: all that the budget allows, less health and the list. */
  readonly sweepPerMinute: number;
  /** Requests a minute for connections, DNS and blacklists that were never read, beside what the cadence made due. */
  readonly detailsPerMinute: number;
  readonly fits: boolean;
  /** The cadence would fit, too, if the list took its full share. */
  readonly fitsWithList: boolean;
  /** How far apart two polls of health or the list are at least, milliseconds. */
  readonly accountSpacingMs: number;
  /** How many times as far apart the polls of a mailbox must be, by kind: 1 when the cadence fits. */
  readonly stretch: Readonly<Record<MailboxRoute, number>>;
  /** While all kinds have something to ask: how far apart the polls of a mailbox would be, by kind, milliseconds. */
  readonly turnMs: Readonly<Record<MailboxRoute, number>>;
  /** No mailbox's statistics get older, milliseconds: from then on it goes before every other. */
  readonly statsCapMs: number;
}

/** A run makes all mailboxes due at once: to catch up they get at least this share of the budget beyond what the cadence needs. */
const leastSpareShare = 0.1;

/** Sums up a cadence. Health and the list keep theirs, within their share; the rest is stretched alike, as far as it may be. */
export function demandOf({ mailboxes, allowedPerMinute, sparePerMinute, cadenceMs, early }: DemandInput): Demand {
  const accountSpacingMs = (accountShare * minuteMs) / allowedPerMinute;
  const perMinute = (everyMs: number) => minuteMs / everyMs;
  const ofAccount = [cadenceMs.health, cadenceMs.mailboxes];
  const account = ofAccount.reduce((sum, every) => sum + perMinute(Math.max(every, accountSpacingMs)), 0);
  const of = (route: MailboxRoute) => mailboxes * perMinute(cadenceMs[route]);
  const slow = slowRoutes.reduce((sum, route) => sum + of(route), 0);
  const all = of('stats') + of('warmup') + slow;
  const asksPerMinute = ofAccount.reduce((sum, every) => sum + perMinute(every), 0) + all;
  const spare = Math.max(sparePerMinute, leastSpareShare * allowedPerMinute);
  const pacePerMinute = Math.min(allowedPerMinute, asksPerMinute + spare);
  const room = pacePerMinute - account;
  const fits = all <= room;
  const ofSlow = fits ? 1 : Math.max(all / room, slow / (slowShare * room));
  const ofGuard = fits ? 1 : Math.max(1, (all - slow) / (room - slow / ofSlow));
  const stretch = { stats: ofGuard, warmup: ofGuard, mailbox: ofSlow, dns: ofSlow, blacklist: ofSlow };
  const others = of('warmup') / ofGuard + slow / ofSlow;
  const roundMs = (mailboxes * minuteMs) / (room - others);
  const patientMs = early ? patienceFactor * roundMs : cadenceMs.stats * ofGuard;
  const turns = mailboxRoutes.map((route) => [route, (cadenceMs[route] * stretch[route]) / (fits ? catchUp : 1)]);
  const turnMs = { ...(Object.fromEntries(turns) as Record<MailboxRoute, number>) };
  if (fits) turnMs.stats = (mailboxes * minuteMs) / Math.max(room - catchUp * others, room / catchUp);
  return {
    asksPerMinute,
    pacePerMinute,
    roomPerMinute: room,
    sweepPerMinute: allowedPerMinute - account,
    detailsPerMinute: Math.max(room / 2, room - all),
    fits,
    fitsWithList: all <= pacePerMinute - (2 / accountShare) * allowedPerMinute,
    accountSpacingMs,
    stretch,
    turnMs,
    statsCapMs: fits ? Math.min(patientMs, cadenceMs.stats) : patientMs,
  };
}

/** demandOf, with its last answer remembered: nearly every question repeats the one before. */
export function rememberedDemand(): typeof demandOf {
  let last: { readonly input: DemandInput; readonly demand: Demand } | null = null;
  return (input) => {
    const before = last;
    const isSame = before !== null && inputKeys.every((key) => before.input[key] === input[key]);
    if (isSame) return before.demand;
    last = { input, demand: demandOf(input) };
    return last.demand;
  };
}
