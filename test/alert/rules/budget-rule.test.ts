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
  const { active, forMs, severity, facts } = budgetTooSmall(account(small), undefined, 0);
  expect([active, forMs, severity]).toEqual([true, 30 * minuteMs, 'info']);
  expect(facts.sentences[0]).toBe(
    '1,000 mailboxes at 90 requests a minute: the cadence needs 110 a minute; stats will be up to 18 min old.',
  );
  expect(facts.sentences.at(-1)).toContain('plan enterprise');
  expect(facts.numbers).toMatchObject({ mailboxes: 1_000, asked_per_minute: 111, stats_oldest_seconds: 1_080 });
});

test('it ends when the cadence fits, and before the first list it is unknown', () => {
  expect(budgetTooSmall(account({ ...small, fits: true, mend: null }), undefined, 0).active).toBe(false);
  expect(budgetTooSmall(account(null), undefined, 0).active).toBe('unknown');
});

test('it is a warning while mailboxes wait for the end of a first sweep of over an hour, and no longer', () => {
  const long = { ...small, firstSweepMs: 3 * hourMs };
  const sweep = { account: 'acme', since: 0, mailboxes: 1_000, doneAt: null, keptFrom: 0 };
  const after = (part: 'judging' | 'details', read: number, now: number, forecast = long) =>
    budgetTooSmall(account(forecast), { ...sweep, part, read }, now);
  expect(after('judging', 0, 0)).toMatchObject({ active: true, severity: 'warning' });
  expect(after('judging', 0, 0).facts).toMatchObject({
    title: 'acme: mailboxes are not guarded yet, because the first sweep takes over an hour',
    sentences: expect.arrayContaining([expect.stringContaining('is not guarded')]),
  });
  // Almost at its end it is the same sweep; a few newcomers of a later start are soon read.
  expect(after('judging', 999, 3 * hourMs).severity).toBe('warning');
  expect(after('judging', 990, 0).severity).toBe('info');
  expect(after('details', 0, 3 * hourMs).severity).toBe('info');
  expect(after('judging', 0, 0, { ...long, firstSweepMs: hourMs }).severity).toBe('info');
});
