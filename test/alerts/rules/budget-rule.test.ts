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
  expect(after(0, 0).facts).toMatchObject({
    title: 'acme: mailboxes are not guarded yet, because the first sweep takes over an hour',
    sentences: expect.arrayContaining([expect.stringContaining('is not guarded')]),
  });
  // Almost at its end it is the same sweep; a few newcomers of a later start are soon read.
  expect(after(999, 3 * hourMs).severity).toBe('warning');
  expect(after(990, 0).severity).toBe('info');
  expect(after(1_000, 3 * hourMs).severity).toBe('info');
  expect(after(0, 0, { ...long, firstSweepMs: hourMs }).severity).toBe('info');
});

test('below half of the plan it is a warning, whether the cadence fits or not, with the cause first and what to do last', () => {
  const fits = { ...small, fits: true, mend: null };
  const slow = { ...account(fits), requestsPerMinute: 36, limitPerMinute: 40, configuredPerMinute: 100, isSlow: true };
  const { active, severity, facts } = budgetTooSmall(slow, undefined, 0);
  expect([active, severity, facts.title]).toEqual([
    true,
    'warning',
    'acme: the API allows less than half of the planned requests',
  ]);
  expect(facts.sentences[0]).toBe(
    'The API says that it allows 40 requests a minute (X-RateLimit-Limit); the configuration says 100.',
  );
  expect(facts.sentences.at(-1)).toMatch(/^Ask the warm-up service .* plan or requests_per_minute\.$/);
  // Before the first list, too.
  expect(budgetTooSmall({ ...slow, forecast: null }, undefined, 0)).toMatchObject({
    active: true,
    severity: 'warning',
  });
});

test('what several 429s took away is reported by budget_too_small alone', () => {
  const fits = { ...small, fits: true, mend: null };
  const throttled = (times: number) => ({ ...account(fits), isSlow: true, throttledLastHour: times });
  expect([1, 3].map((times) => budgetTooSmall(throttled(times), undefined, 0).active)).toEqual([true, false]);
});

test('a kind that the API allows too few requests for is named; below half of what the cadence needs it is a warning', () => {
  const narrow = (perMinute: number): Forecast => ({
    ...small,
    mend: null,
    narrow: { routes: ['dns', 'blacklist'], perMinute, needsPerMinute: 5.6 },
  });
  const [half, less] = [3, 2].map((perMinute) => budgetTooSmall(account(narrow(perMinute)), undefined, 0));
  expect([half?.severity, less?.severity]).toEqual(['info', 'warning']);
  expect(less?.facts.sentences[0]).toBe(
    'The API allows 2 requests a minute for DNS and blacklists (X-RateLimit-Limit); the cadence needs 6.',
  );
  expect(half?.facts.sentences.at(-1)).toContain('The API allows 3 requests a minute for DNS and blacklists');
});
