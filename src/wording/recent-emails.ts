// What the recent emails of a mailbox show besides bounces, in sentences: for the page and `explain`. Never an alert.
import type { Observed, WarmupAnswer } from '../model/answers.ts';
import { type EpochMs, hourMs } from '../model/time.ts';
import { counted, momentText } from './phrases.ts';

/** An email so long over its time, and none sent since, is more than the jitter of a queue. */
const stillForMs = 2 * hourMs;

/** Empty when there is nothing to see, or nothing known. */
export function recentEmailSentences(warmup: Observed<WarmupAnswer> | null, zone: string): readonly string[] {
  const recent = warmup?.answer.recentEmails;
  if (!warmup || !recent) return [];
  const { placed, inSpam, waitingSince, lastSentAt } = recent;
  return [
    inSpam > 0 ? `Of the last ${counted(placed, 'email')} whose folder is known, ${inSpam} landed in spam.` : '',
    standsStill(warmup.at, waitingSince, lastSentAt)
      ? `Its queue does not move: an email was scheduled for ${momentText(waitingSince, zone)}, and none has been sent since.`
      : '',
  ].filter((sentence) => sentence !== '');
}

function standsStill(readAt: EpochMs, since: EpochMs | null, lastSentAt: EpochMs | null): since is EpochMs {
  return since !== null && readAt - since > stillForMs && (lastSentAt === null || lastSentAt < since);
}
