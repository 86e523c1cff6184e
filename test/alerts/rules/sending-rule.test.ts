// sending_over_limit: more emails on a day than the daily limit or the mode allows, and never from what is not known.
import { expect, test } from 'vitest';
import { sendingOverLimit } from '../../../src/alerts/rules/mailbox-rules.ts';
import type { StatsRow } from '../../../src/core/answers.ts';
import type { GuardMemory } from '../../../src/core/guard/memory.ts';
import type { RecentLimits } from '../../../src/core/policy.ts';
import { hourMs } from '../../../src/core/time.ts';
import { sampleContext, sampleMailbox, start } from '../samples.ts';

const [before, yesterday, today, tomorrow] = ['2026-03-18', '2026-03-19', '2026-03-20', '2026-03-21'] as const;
const row = (date: string, sent: number | null) => ({ date, sent, bounced: 0 }) as StatsRow;
const watched: RecentLimits = [before, yesterday, today].map((day) => ({ day, daily: 30, mode: 40 }));

interface Case {
  readonly rows?: readonly StatsRow[] | null;
  readonly limits?: RecentLimits | undefined;
  readonly readAt?: number;
}

function condition({ rows = [row(today, 31)], limits = watched, readAt = start }: Case = {}) {
  const warmup = { at: start, answer: { mode: 'balanced' } } as never;
  const memory = { limits } as GuardMemory;
  const mailbox = sampleMailbox({ warmup, memory, stats: { at: readAt, answer: { rows } } });
  return sendingOverLimit(mailbox, sampleContext({ now: start }));
}

test('fires on more emails than the daily limit, with the counts and what to run', () => {
  const { active: fires, severity, facts } = condition();
  expect([fires, severity]).toEqual([true, 'warning']);
  expect(facts.title).toBe('bob@acme.example: sends more emails than allowed');
  expect(facts.sentences[0]).toBe('It sent 31 emails on 20 March. That is more than its daily limit of 30.');
  expect(facts.sentences.join(' ')).toMatch(/`warmwarden limit \S+ 40`.*`warmwarden pause \S+`/);
  expect(facts.numbers).toMatchObject({ date: today, sent: 31, daily_limit: 30, mode_max_per_day: 40 });
});

const raised = watched.map((one) => ({ ...one, daily: 60 }));
const silent = watched.map((one) => ({ ...one, daily: null }));

test.each<readonly [string, Case, boolean | 'unknown']>([
  ['more than the maximum of the mode, whatever the daily limit', { rows: [row(today, 41)], limits: raised }, true],
  ['more than the maximum of the mode, without a daily limit', { rows: [row(today, 41)], limits: silent }, true],
  ['the maximum of the mode', { rows: [row(today, 40)], limits: silent }, false],
  ['too many yesterday', { rows: [row(yesterday, 31), row(today, 0)] }, true],
  ['too many on a day of the API that is ahead of UTC', { rows: [row(tomorrow, 31)] }, true],
  ['too many the day before yesterday', { rows: [row(before, 99), row(yesterday, 30), row(today, 30)] }, false],
  ['no rows', { rows: [] }, false],
  ['statistics that were not read today', { readAt: start - 11 * hourMs }, 'unknown'],
  ['statistics that could not be read', { rows: null }, 'unknown'],
  ['a count that could not be read', { rows: [row(today, null)] }, 'unknown'],
  ['a count that is none', { rows: [row(today, -1)] }, 'unknown'],
  ['half an email', { rows: [row(today, 31.5)] }, 'unknown'],
  ['a day before that was not watched', { limits: watched.slice(-1) }, 'unknown'],
  ['a day on which nobody looked', { limits: watched.slice(0, -1), rows: [row(yesterday, 31)] }, 'unknown'],
  ['no limits', { limits: [] }, 'unknown'],
  ['unknown limits', { limits: watched.map(({ day }) => ({ day, daily: null, mode: null })) }, 'unknown'],
])('%s', (_, given, expected) => {
  expect(condition(given).active).toBe(expected);
});
