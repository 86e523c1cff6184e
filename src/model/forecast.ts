// How old each kind of data will get with a cadence and a budget, and what would mend it: as values, and in words.
import type { Route } from './answers.ts';
import { hourMs, minuteMs, secondMs } from './time.ts';

export interface Forecast {
  readonly mailboxes: number;
  /** Requests a minute that may be made at present. */
  readonly allowedPerMinute: number;
  /** Requests a minute that the cadence asks for. */
  readonly asksPerMinute: number;
  readonly fits: boolean;
  /** How old each kind of data gets, milliseconds. */
  readonly oldestMs: Readonly<Record<Route, number>>;
  /** How old the statistics of the calmest mailboxes get where the others' are read sooner, milliseconds; as a rule the same. */
  readonly calmestMs: number;
  /** How long a first sweep of all of them takes until each can be judged, milliseconds. */
  readonly firstSweepMs: number;
  /** What would hold the cadence; null when it fits. */
  readonly mend: {
    /** A limit of the key, requests a minute, headroom included. */
    readonly requestsPerMinute: number;
    /** A cadence that this budget holds, milliseconds. */
    readonly statsMs: number;
    readonly warmupMs: number;
  } | null;
}

/** The plans of the mailbox API by their limits (api/mailbox-api.md section 8). */
const plans = [
  ['pro', 100],
  ['enterprise', 500],
] as const;

/** The sum in one sentence, without a full stop. */
export function sumText({ mailboxes, allowedPerMinute, asksPerMinute, ...forecast }: Forecast): string {
  const { oldestMs, calmestMs } = forecast;
  // Rounding must not hide that it is too much.
  const asked = Math.max(Math.round(asksPerMinute), forecast.fits ? 0 : allowedPerMinute + 1);
  const sum = `${counted(mailboxes, 'mailbox', 'mailboxes')} on ${grouped(allowedPerMinute)} a minute: the cadence asks for ${grouped(asked)} a minute`;
  const calm = calmestMs > oldestMs.stats ? `, those of the calmest mailboxes up to ${ageText(calmestMs)}` : '';
  return `${sum}; stats will be up to ${ageText(oldestMs.stats)} old${calm}`;
}

/** What would mend a cadence that does not fit; empty when it fits. */
export function mendText({ mend }: Forecast): string {
  if (mend === null) return '';
  const plan = plans.find(([, limit]) => limit >= mend.requestsPerMinute);
  const byPlan = plan
    ? `A key with ${grouped(mend.requestsPerMinute)} requests a minute would hold it (plan ${plan[0]}: ${plan[1]})`
    : `It would take ${grouped(mend.requestsPerMinute)} requests a minute, more than any plan gives one key: spread the mailboxes over several accounts`;
  return `${byPlan}; or a cadence with stats every ${ageText(mend.statsMs)} and warm-up every ${ageText(mend.warmupMs)}.`;
}

/** An age as people say it: seconds below two minutes, minutes below two hours, then hours. */
export function ageText(ms: number): string {
  if (ms < 2 * minuteMs) return `${Math.round(ms / secondMs)} s`;
  if (ms < 2 * hourMs) return `${Math.round(ms / minuteMs)} min`;
  return `${Math.round(ms / hourMs)} h`;
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

function counted(count: number, one: string, many: string): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
