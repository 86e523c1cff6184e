// What a person lets go wrong at once, whatever day and hour it is: how much of it takes a guard to act.
import type { DayRow } from './day-row.ts';
import type { Mailbox } from './mailbox.ts';
import { bounceLimitPercent } from './ramp.ts';

/** About a mailbox or a domain. The last three are what people do in the service's own pages. */
export const aimedKinds = [
  'breach',
  'emergency',
  'dns-failure',
  'disconnect',
  'repair',
  'pause',
  'raise-mode',
  'raise-limit',
] as const;
export type AimedKind = (typeof aimedKinds)[number];

/** About what the API says of itself; `well` ends the others. */
export const healthKinds = ['unwell', 'clock-off', 'well'] as const;
export type HealthKind = (typeof healthKinds)[number];

export type TroubleKind = AimedKind | HealthKind;

/** The counts of the days that a trouble is about, after it. */
export interface Counts {
  readonly days: number;
  readonly sent: number;
  readonly bounced: number;
}

/** A week: over fewer days no guard judges a rate. */
const breachDays = 7;
/** So far over the limit, that the emails still to come today don't dilute it. */
const breachFactor = 1.5;
const leastBreachBounces = 2;

const emergencyDays = 2;
const emergencyShare = 0.3;
const leastEmergencyBounces = 3;
const leastMailsToday = 4;

/** Returns emails of the last week, evenly over its days: over the mode's limit, and calm enough to be no emergency. */
export function breach(mailbox: Mailbox): Counts {
  sendUpTo(mailbox, breachDays, leastBreachBounces);
  const { sent, bounced } = countsOf(mailbox, breachDays);
  const limit = bounceLimitPercent[mailbox.config.mode] / 100;
  const wanted = Math.max(leastBreachBounces, Math.ceil(breachFactor * limit * sent));
  returnEvenly(mailbox, breachDays, wanted - bounced);
  return countsOf(mailbox, breachDays);
}

/** Returns a third of what was sent today and yesterday, the newest emails first. A day without emails gets some. */
export function emergency(mailbox: Mailbox): Counts {
  sendUpTo(mailbox, 1, leastMailsToday);
  const { sent, bounced } = countsOf(mailbox, emergencyDays);
  let left = Math.max(leastEmergencyBounces, Math.ceil(emergencyShare * sent)) - bounced;
  for (const { day, delivered } of lastDays(mailbox, emergencyDays).toReversed()) {
    const share = Math.max(0, Math.min(left, delivered));
    mailbox.returnMails(day, share);
    left -= share;
  }
  return countsOf(mailbox, emergencyDays);
}

function lastDays({ rows }: Mailbox, days: number): readonly Readonly<DayRow>[] {
  return rows.slice(-days);
}

function countsOf(mailbox: Mailbox, days: number): Counts {
  const rows = lastDays(mailbox, days);
  const total = (count: 'sent' | 'bounced') => rows.reduce((sum, row) => sum + row[count], 0);
  return { days, sent: total('sent'), bounced: total('bounced') };
}

function sendUpTo(mailbox: Mailbox, days: number, emails: number): void {
  const missing = emails - countsOf(mailbox, days).sent;
  if (missing > 0) mailbox.sendNow(missing);
}

/** `bounces` of the delivered emails of these days come back; every day gives its share. */
function returnEvenly(mailbox: Mailbox, days: number, bounces: number): void {
  const rows = lastDays(mailbox, days);
  const delivered = rows.reduce((sum, row) => sum + row.delivered, 0);
  let left = Math.min(bounces, delivered);
  let emails = delivered;
  for (const row of rows) {
    const share = emails === 0 ? 0 : Math.round((left * row.delivered) / emails);
    emails -= row.delivered;
    if (share <= 0) continue;
    mailbox.returnMails(row.day, share);
    left -= share;
  }
}
