// budget_too_small: what it says, and when it knows nothing.
import { expect, test } from 'vitest';
import { budgetTooSmall } from '../../../src/alerts/rules/account-rules.ts';
import type { Forecast } from '../../../src/core/mailbox.ts';
import { hourMs, minuteMs } from '../../../src/core/time.ts';
import { forecast, account as sampleAccount } from '../../web/example-fleet.ts';

const account = (of: Forecast | null) => sampleAccount('acme', { listed: of !== null, forecast: of });

const read = {
  stats: 18 * minuteMs,
  warmup: 37 * minuteMs,
  mailbox: 7 * hourMs,
  dns: 7 * hourMs,
  blacklist: 7 * hourMs,
};
const small = forecast({
  ...{ mailboxes: 1_000, asksPerMinute: 110.3, fits: false, firstSweepMs: 0, calmestMs: 18 * minuteMs },
  oldestMs: { ...forecast().oldestMs, ...read },
  mend: { requestsPerMinute: 123, statsMs: 20 * minuteMs, warmupMs: hourMs },
});

test('it ends when the cadence fits, and before the first list it is unknown', () => {
  expect(budgetTooSmall(account({ ...small, fits: true, mend: null }), undefined, 0).active).toBe(false);
  expect(budgetTooSmall(account(null), undefined, 0).active).toBe('unknown');
});

test('it is a warning while mailboxes wait for the end of a first sweep of over an hour, and no longer', () => {
  const long = { ...small, firstSweepMs: 3 * hourMs };
  const sweep = { account: 'acme', since: 0, mailboxes: 1_000, doneAt: null };
  const after = (read: number, now: number, of = long) => budgetTooSmall(account(of), { ...sweep, read }, now);
  expect(after(0, 0)).toMatchObject({ active: true, severity: 'warning' });
  // Almost at its end it is the same sweep; a few newcomers of a later start are soon read.
  expect(after(999, 3 * hourMs).severity).toBe('warning');
  expect(after(990, 0).severity).toBe('info');
  expect(after(1_000, 3 * hourMs).severity).toBe('info');
  expect(after(0, 0, { ...long, firstSweepMs: hourMs }).severity).toBe('info');
});

test('below half of what the cadence needs of a kind it is a warning, also where the cadence fits', () => {
  const of = (perMinute: number) => {
    const narrow = { routes: ['dns', 'blacklist'] as const, perMinute, needsPerMinute: 5.6 };
    return budgetTooSmall(account({ ...small, fits: true, mend: null, narrow }), undefined, 0);
  };
  expect([of(3).active, of(2)]).toMatchObject([false, { active: true, severity: 'warning' }]);
});
