// The slow proofs (test/**/*.slow.ts), which .ci/run runs after npm test.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.slow.ts'],
    // Times for people are in the zone of the system.
    env: { TZ: 'UTC' },
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    maxWorkers: 1,
  },
});
