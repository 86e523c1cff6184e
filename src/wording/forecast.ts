// How old the data will get and what would mend it, in sentences.
import type { Forecast } from '../model/forecast.ts';
import { counted, numberText, spanText } from './phrases.ts';

/** The plans of the mailbox API by their limits (api/mailbox-api.md section 8). */
const plans = [
  ['pro', 100],
  ['enterprise', 500],
] as const;

/** Where no mailbox is read, nothing gets old. */
const nothingGuarded =
  'No mailbox of this account is guarded: its mailbox list is empty, or mailboxes.include and mailboxes.exclude select none';

/** The sum in one sentence, without a full stop. */
export function sumText({ mailboxes, allowedPerMinute, asksPerMinute, ...forecast }: Forecast): string {
  if (mailboxes === 0) return nothingGuarded;
  const { oldestMs, calmestMs } = forecast;
  // Rounding must not hide that it is too much.
  const asked = Math.max(Math.round(asksPerMinute), forecast.fits ? 0 : allowedPerMinute + 1);
  const sum = `${counted(mailboxes, 'mailbox', 'mailboxes')} at ${counted(allowedPerMinute, 'request')} a minute: the cadence needs ${numberText(asked)} a minute`;
  const calm = calmestMs > oldestMs.stats ? `, or up to ${spanText(calmestMs)} for the mailboxes at least risk` : '';
  return `${sum}; stats will be up to ${spanText(oldestMs.stats)} old${calm}`;
}

/** What would mend a cadence that does not fit; empty when it fits. */
export function mendText({ mend, isHeldBack }: Forecast): string {
  if (mend === null) return '';
  if (isHeldBack)
    return 'Most of the time the API says that no request is left, although Warmwarden stays within its rate limit. Find out what else uses the key, or correct plan or requests_per_minute.';
  const plan = plans.find(([, limit]) => limit >= mend.requestsPerMinute);
  const byPlan = plan
    ? `A key with ${counted(mend.requestsPerMinute, 'request')} a minute would be enough (plan ${plan[0]}: ${plan[1]})`
    : `It would take ${counted(mend.requestsPerMinute, 'request')} a minute, more than any plan gives one key: spread the mailboxes over several accounts`;
  return `${byPlan}. Or choose a cadence with stats every ${spanText(mend.statsMs)} and warm-up every ${spanText(mend.warmupMs)}.`;
}
