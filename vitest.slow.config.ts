// The slow proofs (test/**/*.slow.ts), which .ci/run runs after npm test.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They measure times, or live in tenths of a second: nothing else runs beside them. */
const alone = [
  'test/http/large-answers.slow.ts',
  'test/http/many-large-answers.slow.ts',
  'test/recipes/ten-thousand.slow.ts',
  'test/scenario/prometheus.slow.ts',
];
/** The longest, in this order; all but `year` and `nth-write` wait for real time, and leave the processor to the others. */
const first = ['stopped-process', 'replica-rounds', 'year', 'rate-limit', 'nth-write'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = first.findIndex((name) => moduleId.endsWith(`/${name}.slow.ts`));
      return index < 0 ? first.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

const proofs = {
  // Times for people are in the zone of the system.
  env: { TZ: 'UTC' },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 240_000 } },
  globalSetup: 'test/support/global-setup.ts',
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...proofs,
          name: 'together',
          include: ['test/**/*.slow.ts'],
          exclude: alone,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...proofs, name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
