// sending_over_limit: more emails on a day than the daily limit or the mode allows, and never from what is not known.
import { describe, expect, test } from 'vitest';
import { sendingOverLimit } from '../../../src/alerts/rules/mailbox-rules.ts';
import type { StatsRow } from '../../../src/core/answers.ts';
import type { GuardMemory } from '../../../src/core/guard/memory.ts';
import type { RecentLimits } from '../../../src/core/policy.ts';
import { dayMs, hourMs } from '../../../src/core/time.ts';
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
const active = (given: Case) => condition(given).active;

describe('fires', () => {
  test('on more emails than the daily limit, with the counts and what to run', () => {
    const { active: fires, severity, facts } = condition();
    expect([fires, severity, facts.title]).toEqual([
      true,
      'warning',
      'bob@acme.example: sends more emails than allowed',
    ]);
    expect(facts.sentences).toEqual([
      'It sent 31 emails on 20 March. That is more than its daily limit of 30.',
      'Warmwarden changed nothing because of this.',
      'Find out what sends from the mailbox. Or lower the daily limit: `warmwarden limit acme/bob@acme.example 40`. To stop the warm-up, pause it: `warmwarden pause acme/bob@acme.example`.',
    ]);
    expect(facts.numbers).toMatchObject({ date: today, sent: 31, daily_limit: 30, mode_max_per_day: 40 });
  });

  test('on more than the maximum of the mode, whatever the daily limit says or does not say', () => {
    const raised = watched.map((one) => ({ ...one, daily: 60 }));
    expect(condition({ rows: [row(today, 41)], limits: raised }).facts.sentences[0]).toBe(
      'It sent 41 emails on 20 March. That is more than the maximum of its mode, which is 40 a day.',
    );
    const silent = watched.map((one) => ({ ...one, daily: null }));
    expect(active({ rows: [row(today, 41)], limits: silent })).toBe(true);
    expect(active({ rows: [row(today, 40)], limits: silent })).toBe(false);
  });

  test('on what yesterday sent, and on a day of the API that is ahead of UTC', () => {
    expect(active({ rows: [row(yesterday, 31), row(today, 0)] })).toBe(true);
    expect(active({ rows: [row(tomorrow, 31)] })).toBe(true);
  });
});

describe('ends, or does not begin', () => {
  test('when neither yesterday nor today is over; a day without a row sent nothing', () => {
    expect(active({ rows: [row(before, 99), row(yesterday, 30), row(today, 30)] })).toBe(false);
    expect(active({ rows: [] })).toBe(false);
  });
});

describe('says nothing', () => {
  test.each<readonly [string, Case]>([
    ['on statistics that were not read today', { readAt: start - 11 * hourMs }],
    ['on statistics that could not be read', { rows: null }],
    ['on a count that could not be read', { rows: [row(today, null)] }],
    ['on a count that is none', { rows: [row(today, -1)] }],
    ['on half an email', { rows: [row(today, 31.5)] }],
    ['where the day before was not watched', { limits: watched.slice(-1) }],
    ['where nobody looked today', { limits: watched.slice(0, -1), rows: [row(yesterday, 31)] }],
    ['where an earlier version remembered nothing', { limits: [] }],
    ['where both limits are unknown', { limits: watched.map(({ day }) => ({ day, daily: null, mode: null })) }],
  ])('%s', (_, given) => {
    expect(active(given)).toBe('unknown');
  });

  test('about a mailbox that was never judged', () => {
    expect(sendingOverLimit(sampleMailbox(), sampleContext({ now: start + dayMs })).active).toBe('unknown');
  });
});
