// How the tests run: `quick` in a minute, for `npm test`; `days`, whole daemons that live through hours and days of a moved clock, tests
// that start every command or wait in real time, for `npm run days`; `long`, the `days` tests that `.ci/run` leaves to `npm run proofs`.
// Waits are for events: a time-out ends a test that hangs, and no busy machine may meet it.
import { defineConfig } from 'vitest/config';

const days = [
  ...['account', 'act', 'habits', 'regression', 'scenario'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/bench/guard.test.ts',
  ...['command-line', 'connect', 'every-command'].map((name) => `test/cli/${name}.test.ts`),
  'test/grafana/rules.test.ts',
  'test/mcp/elsewhere.test.ts',
  'test/metrics/scrape.test.ts',
  'test/operations/holds.test.ts',
  ...['by-the-clock', 'incidents', 'mute-times', 'notifier', 'store-watch', 'who-hears'].map(
    (name) => `test/outbox/${name}.test.ts`,
  ),
  'test/poll/forecast.test.ts',
  'test/record/account-rules.test.ts',
  'test/record/returning.test.ts',
  'test/recipes/select.test.ts',
  'test/store/plans.test.ts',
];

/** The longest of `days` whose promises shorter tests prove in part. */
const long = [
  'test/bench/guard.test.ts',
  ...['counts', 'identity', 'rare-polls', 'schedule', 'single-fields'].map((name) => `test/habits/${name}.test.ts`),
  'test/poll/forecast.test.ts',
  'test/recipes/select.test.ts',
  'test/scenario/faults.test.ts',
];

const project = (name: string, include: readonly string[], exclude: readonly string[]) => ({
  extends: true as const,
  test: { name, include: [...include], exclude: [...exclude] },
});

export default defineConfig({
  test: {
    projects: [project('quick', ['test/**/*.test.ts'], days), project('days', days, long), project('long', long, [])],
    // Times for people are in the zone of the system.
    env: { TZ: 'UTC' },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    maxWorkers: 4,
    // Test files share a process: what they leave behind (exit code, listeners, variables) they must clear away.
    isolate: false,
    // Node loads the sources, as it does for a user: Vite would rewrite each import into calls of getters.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/seed.ts',
  },
});
