// How the tests run. Waits are for events: a time-out ends a test that hangs, and no busy machine may meet it.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
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
  },
});
