// What had been decided at a moment, in a sentence.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { decisionAt } from '../../src/core/wording/states.ts';
import { now, verdictOf } from '../store/records.ts';

const decision = {
  ...{ since: now, until: now + hourMs, count: 12 },
  ...{ firstSent: 120, firstDays: [], days: [] },
  verdict: verdictOf({ sent: 160, bounced: 1 }),
};

test.each([
  ['before any', undefined, 0, true, 'Warmwarden has no decision on this mailbox from 10 March 08:30 UTC or earlier.'],
  [
    ...(['at its beginning', decision, 0, true] as const),
    'At 10 March 08:30 UTC, the newest decision was from 10 March 08:30 UTC: no action (ok), with 1 bounce in 120 emails.',
  ],
  [
    ...(['within it', decision, 20 * minuteMs, false] as const),
    'At 10 March 08:50 UTC, the decision was no action (ok). It was the same from 10 March 08:30 UTC to 09:30 UTC, with 1 bounce in 120 emails at first, and in 160 emails at the end; the counts in between are not kept.',
  ],
  [
    ...(['at its end', decision, hourMs, true] as const),
    'At 10 March 09:30 UTC, the newest decision was from 10 March 09:30 UTC: no action (ok), with 1 bounce in 160 emails.',
  ],
  [
    ...(['after it', decision, 3 * hourMs, true] as const),
    'At 10 March 11:30 UTC, the newest decision was from 10 March 09:30 UTC: no action (ok), with 1 bounce in 160 emails.',
  ],
])('%s', (_when, known, after, exact, text) => {
  expect(decisionAt(known, now + after, 'UTC')).toEqual({ exact, text });
});

test('over midnight both ends have their date; equal counts are said once', () => {
  const long = { ...decision, until: now + 20 * hourMs, firstSent: 160 };
  expect(decisionAt(long, now + hourMs, 'UTC').text).toBe(
    'At 10 March 09:30 UTC, the decision was no action (ok). It was the same from 10 March 08:30 UTC to 11 March 04:30 UTC, with 1 bounce in 160 emails at both times; the counts in between are not kept.',
  );
});
