// What had been decided on a mailbox at a moment, in a sentence: with the exact counts, or with the range that is known of them.

import type { RecordedDecision } from '../model/decision.ts';
import type { EpochMs } from '../model/time.ts';
import { decisionWords } from './decision-words.ts';
import { betweenText, counted, momentText } from './phrases.ts';

export interface DecisionAt {
  /** false: an answer before that moment and one after it led to the same decision, and only their counts are kept. */
  readonly exact: boolean;
  readonly text: string;
}

/** `decision`: the newest that had begun by then; undefined when there is none. */
export function decisionAt(decision: RecordedDecision | undefined, at: EpochMs, zone: string): DecisionAt {
  const when = momentText(at, zone);
  if (!decision) return { exact: true, text: `Warmwarden has no decision on this mailbox from ${when} or earlier.` };
  const { since, until, firstSent, verdict } = decision;
  const what = decisionWords(verdict);
  const bounces = counted(verdict.bounced, 'bounce');
  if (at >= until || at === since) {
    const [judgedAt, sent] = at >= until ? [until, verdict.sent] : [since, firstSent];
    const counts = `${bounces} in ${counted(sent, 'email')}`;
    return {
      exact: true,
      text: `At ${when}, the newest decision was from ${momentText(judgedAt, zone)}: ${what}, with ${counts}.`,
    };
  }
  const sent =
    firstSent === verdict.sent
      ? `${bounces} in ${counted(firstSent, 'email')} at both times`
      : `${bounces} in ${counted(firstSent, 'email')} at first, and in ${counted(verdict.sent, 'email')} at the end`;
  const span = `It was the same from ${betweenText(since, until, zone)}, with ${sent}`;
  return { exact: false, text: `At ${when}, the decision was ${what}. ${span}; the counts in between are not kept.` };
}
