// Conditions for the way back from recovery to the mode before. docs/guard.md, "After a change".
import { isWarmupMode, type Policy } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate } from '../time.ts';
import type { Claim, RestoreProgress } from '../verdict.ts';
import { type Days, isCounted, isInvalid, pool } from './rows.ts';
import { daysInclusive, representativeVolume } from './window.ts';

/** The day of the newest bounce; null without any. */
function lastBounce({ days }: Days): IsoDate | null {
  return days.findLast((day) => isCounted(day) && day.bounced > 0)?.date ?? null;
}

/**
 * Clean days and emails since the later of the switch and the last bounce. null when the recovery is not ours, when the
 * mode before is not known, or when a day since then can't be read: what is unknown is not clean.
 */
export function restoreProgress(
  days: Days,
  policy: Policy,
  given: { readonly claim: Claim | null; readonly evidenceFrom: IsoDate | null; readonly now: EpochMs },
): RestoreProgress | null {
  const { claim, evidenceFrom, now } = given;
  const to = days.anchor;
  if (!policy.restore.enabled || claim?.kind !== 'recovery' || to === null || evidenceFrom === null) return null;
  const mode = claim.previousMode;
  if (!isWarmupMode(mode) || mode === 'recovery') return null;
  const bounce = lastBounce(days);
  const from = bounce !== null && bounce >= evidenceFrom ? addDays(bounce, 1) : evidenceFrom;
  for (let date = from; date <= to; date = addDays(date, 1)) if (isInvalid(days, date)) return null;
  // The newest day is not over: it brings emails, but no clean day yet.
  const sinceSwitch = Math.floor((now - claim.since) / dayMs);
  return {
    mode,
    cleanDays: Math.max(0, Math.min(daysInclusive(from, to) - 1, sinceSwitch)),
    neededDays: policy.restore.days,
    cleanMails: pool(days, { from, to }, null).sent,
    neededMails: Math.ceil(representativeVolume(policy.limitsPpm[mode]) * policy.restore.cleanVolume),
  };
}

export function isRestoreDue(progress: RestoreProgress | null): progress is RestoreProgress {
  return progress !== null && progress.cleanDays >= progress.neededDays && progress.cleanMails >= progress.neededMails;
}
