// budget_too_small: what it says, and when it knows nothing.
import { expect, test } from 'vitest';
import { budgetTooSmall } from '../../../src/alert/rules/budget-rule.ts';
import type { Forecast } from '../../../src/model/forecast.ts';
import type { AccountState } from '../../../src/model/mailbox.ts';
import { hourMs, minuteMs } from '../../../src/model/time.ts';

const account = (forecast: Forecast | null): AccountState => ({
  name: 'acme',
  requestsPerMinute: 90,
  limitPerMinute: 100,
  lastSuccessAt: 0,
  failingSince: null,
  lastFailure: null,
  keyRejected: false,
  rejections: 0,
  keyWrites: null,
  throttledLastHour: 0,
  watchedSince: 0,
  listed: forecast !== null,
  unlisted: [],
  health: 'ok',
  apiHealth: { status: 'ok', clockAheadMs: 0 },
  queueLength: 0,
  oldestDueAt: null,
  forecast,
});

const small: Forecast = {
  mailboxes: 1_000,
  allowedPerMinute: 90,
  isHeldBack: false,
  asksPerMinute: 110.3,
  fits: false,
  oldestMs: {
    health: minuteMs,
    mailboxes: minuteMs,
    stats: 18 * minuteMs,
    warmup: 37 * minuteMs,
    mailbox: 7 * hourMs,
    dns: 7 * hourMs,
    blacklist: 7 * hourMs,
  },
  firstSweepMs: 0,
  calmestMs: 18 * minuteMs,
  mend: { requestsPerMinute: 123, statsMs: 20 * minuteMs, warmupMs: hourMs },
};

test('a cadence that does not fit is told after half an hour, with the sum and what would mend it', () => {
  const { active, forMs, severity, facts } = budgetTooSmall(account(small));
  expect([active, forMs, severity]).toEqual([true, 30 * minuteMs, 'info']);
  expect(facts.sentences[0]).toBe(
    '1,000 mailboxes at 90 requests a minute: the cadence needs 110 a minute; stats will be up to 18 min old.',
  );
  expect(facts.sentences.at(-1)).toContain('plan enterprise');
  expect(facts.numbers).toMatchObject({ mailboxes: 1_000, asked_per_minute: 111, stats_oldest_seconds: 1_080 });
});

test('it ends when the cadence fits, and before the first list it is unknown', () => {
  expect(budgetTooSmall(account({ ...small, fits: true, mend: null })).active).toBe(false);
  expect(budgetTooSmall(account(null)).active).toBe('unknown');
});
