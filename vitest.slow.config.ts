// The slow proofs (the demo as a newcomer sees it, 120 virtual days), which .ci/run runs after npm test.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.slow.ts'],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
