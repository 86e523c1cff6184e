// What a cadence asks of a budget, and by how much it must be stretched to fit. Pure.
import type { Route } from '../model/answers.ts';
import { minuteMs } from '../model/time.ts';
import type { MailboxRoute } from './poll.ts';

const slowRoutes = ['mailbox', 'dns', 'blacklist'] as const;

/** Health and the mailbox list each take at most one request in this many. */
const accountShare = 10;
/** Where the cadence does not fit, the kinds that the guard does not decide on take at most this share of the rest. */
const slowShare = 0.1;

/**
 * With requests spent by risk, the calmest mailboxes wait this many times as long as the average one when the cadence
 * does not fit: without this room there would be nothing to spend.
 */
const patienceFactor = 1.6;

export interface DemandInput {
  readonly mailboxes: number;
  /** Requests a minute that we may make. */
  readonly allowedPerMinute: number;
  /** How far apart the runs of each kind are, milliseconds. */
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** Whether spare requests read statistics early, by risk. */
  readonly early: boolean;
}

export interface Demand {
  /** Requests a minute that the cadence asks for. */
  readonly asksPerMinute: number;
  /** How many times as far apart the polls of a mailbox must be, by kind: 1 when the cadence fits. */
  readonly stretch: Readonly<Record<MailboxRoute, number>>;
  readonly fits: boolean;
  /** How far apart two polls of health or the list are at least, milliseconds. */
  readonly accountSpacingMs: number;
  /** No mailbox's statistics get older, milliseconds: from then on it goes before every other. */
  readonly statsCapMs: number;
}

/** Sums up a cadence. Health and the list keep theirs, within their share; the rest is stretched alike, as far as it may be. */
export function demandOf({ mailboxes, allowedPerMinute, cadenceMs, early }: DemandInput): Demand {
  const accountSpacingMs = (accountShare * minuteMs) / allowedPerMinute;
  const perMinute = (everyMs: number) => minuteMs / everyMs;
  const ofAccount = [cadenceMs.health, cadenceMs.mailboxes];
  const account = ofAccount.reduce((sum, every) => sum + perMinute(Math.max(every, accountSpacingMs)), 0);
  const guard = mailboxes * (perMinute(cadenceMs.stats) + perMinute(cadenceMs.warmup));
  const slow = mailboxes * slowRoutes.reduce((sum, route) => sum + perMinute(cadenceMs[route]), 0);
  const asksPerMinute = ofAccount.reduce((sum, every) => sum + perMinute(every), 0) + guard + slow;
  const room = allowedPerMinute - account;
  const fits = guard + slow <= room;
  const ofSlow = fits ? 1 : Math.max((guard + slow) / room, slow / (slowShare * room));
  const ofGuard = fits ? 1 : Math.max(1, guard / (room - slow / ofSlow));
  const stretch = { stats: ofGuard, warmup: ofGuard, mailbox: ofSlow, dns: ofSlow, blacklist: ofSlow };
  const patience = !fits && early ? patienceFactor : 1;
  return { asksPerMinute, stretch, fits, accountSpacingMs, statsCapMs: cadenceMs.stats * ofGuard * patience };
}
