// The first reading of mailboxes, in the order of their arrival: warm-up and statistics, by which the guard judges, of
// all of them first; then what else was never read.
import type { Route } from '../../core/answers.ts';
import type { SweepPart } from '../../core/mailbox.ts';
import { minuteMs } from '../../core/time.ts';
import { type MailboxRoute, mailboxRoutes } from './poll.ts';

/** What the guard judges by, in the order in which it is asked for. */
export const judgedRoutes = ['warmup', 'stats'] as const satisfies readonly MailboxRoute[];

export interface SweepPoll {
  readonly route: MailboxRoute;
  readonly slot: number;
}

/** The part of a sweep that reads it. */
export function partOf(route: MailboxRoute): SweepPart {
  return (judgedRoutes as readonly MailboxRoute[]).includes(route) ? 'judging' : 'details';
}

const routesOf: Readonly<Record<SweepPart, readonly MailboxRoute[]>> = {
  judging: judgedRoutes,
  details: mailboxRoutes.filter((route) => partOf(route) === 'details'),
};

function fromTheBeginning(): Record<MailboxRoute, number> {
  return { warmup: 0, stats: 0, mailbox: 0, dns: 0, blacklist: 0 };
}

/** Mailboxes are slots, as everywhere in the queue. Every call costs O(1), spread over the calls. */
export class Sweep {
  /** By slot: what of it is still to be read, in that order. */
  readonly #unread = new Map<number, readonly MailboxRoute[]>();
  /** Slots in the order of their arrival; who left or was read already stays until it comes up. */
  #line: number[] = [];
  /** How far each kind has come in the line. */
  readonly #heads = fromTheBeginning();
  /** Slots whose statistics are wanted sooner. */
  readonly #hastened = new Set<number>();
  #since: number | null = null;
  #polls = 0;

  /** How many polls are left. */
  get polls(): number {
    return this.#polls;
  }

  /** When the first of those who are in it joined; null while nothing is left to be read. */
  get since(): number | null {
    return this.#since;
  }

  join(slot: number, routes: readonly MailboxRoute[], now: number): void {
    if (routes.length === 0) return;
    this.#unread.set(slot, routes);
    this.#polls += routes.length;
    this.#line.push(slot);
    this.#since ??= now;
  }

  leave(slot: number): void {
    this.#polls -= this.#unread.get(slot)?.length ?? 0;
    this.#unread.delete(slot);
    this.#endWhenRead();
  }

  /** The mailbox is to be judged next. False when that kind is none to judge by, or was read already. */
  hasten(slot: number, route: MailboxRoute): boolean {
    if (partOf(route) !== 'judging' || !this.#unread.get(slot)?.includes(route)) return false;
    this.#hastened.add(slot);
    return true;
  }

  /**
   * What is to be read next of a part, of the kinds that may be asked for; null when nothing of them is left. It stays so until
   * it is taken.
   */
  next(part: SweepPart, mayAsk: (route: MailboxRoute) => boolean = () => true): SweepPoll | null {
    const routes = routesOf[part].filter(mayAsk);
    for (const slot of part === 'judging' ? this.#hastened : []) {
      const route = routes.find((one) => this.#isUnread(slot, one));
      if (route) return { route, slot };
      if (!routesOf[part].some((one) => this.#isUnread(slot, one))) this.#hastened.delete(slot);
    }
    const [route] = routes.toSorted((one, other) => this.#headOf(one) - this.#headOf(other));
    const slot = route && this.#line[this.#heads[route]];
    return slot === undefined ? null : { route: route as MailboxRoute, slot };
  }

  /** It is being read, whether or not it was next. */
  taken({ route, slot }: SweepPoll): void {
    const unread = this.#unread.get(slot);
    if (!unread?.includes(route)) return;
    const left = unread.filter((one) => one !== route);
    if (left.length > 0) this.#unread.set(slot, left);
    else this.#unread.delete(slot);
    this.#polls -= 1;
    this.#endWhenRead();
  }

  #isUnread(slot: number, route: MailboxRoute): boolean {
    return this.#unread.get(slot)?.includes(route) === true;
  }

  /** The place in the line of the first whose kind is unread; the line's end without one. */
  #headOf(route: MailboxRoute): number {
    const line = this.#line;
    while (this.#heads[route] < line.length && !this.#isUnread(line[this.#heads[route]] ?? 0, route))
      this.#heads[route] += 1;
    return this.#heads[route];
  }

  #endWhenRead(): void {
    if (this.#polls > 0) return;
    this.#line = [];
    this.#hastened.clear();
    Object.assign(this.#heads, fromTheBeginning());
    this.#since = null;
  }
}

// What a cadence asks of a budget, and by how much it must be stretched to fit. Pure.

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

interface DemandInput {
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
