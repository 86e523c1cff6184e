// The slow proofs (test/**/*.slow.ts). `.ci/run` runs those that protect users, in two projects; `npm run proofs` runs all.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Promises of the README under trouble: nothing lost, doubled or betrayed, and what a newcomer, Prometheus and tools see. */
const users = [
  'test/mcp/clients.slow.ts',
  'test/outbox/every-channel.slow.ts',
  'test/scenario/demo.slow.ts',
  'test/scenario/mcp.slow.ts',
  'test/scenario/nth-write.slow.ts',
  'test/scenario/prometheus.slow.ts',
  'test/scenario/secrets.slow.ts',
];
/** The same promises that mostly wait: kills at every step, and the store in PostgreSQL with its standbys. */
const waiting = [
  'test/cli/store-postgres.slow.ts',
  'test/outbox/kill-at-every-step.slow.ts',
  'test/recipes/postgres.slow.ts',
  'test/scenario/postgres.slow.ts',
  'test/store/copy.slow.ts',
  'test/store/pgpool.slow.ts',
  'test/store/postgres.slow.ts',
];
/** They measure times, or live in tenths of a second: nothing else runs beside them. */
const alone = ['test/http/large-answers.slow.ts'];
/** The longest, in this order; all but `nth-write` wait for real time, and leave the processor to the others. */
const first = ['crew-rounds', 'rate-limit', 'scenario/postgres', 'kill-at-every-step', 'nth-write'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = first.findIndex((name) => moduleId.endsWith(`/${name}.slow.ts`));
      return index < 0 ? first.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** A part of the proofs; parts of one order run beside each other. */
const project = (name: string, include: string[], maxWorkers: number, groupOrder: number, exclude: string[] = []) => ({
  test: {
    name,
    include,
    exclude,
    maxWorkers,
    sequence: { groupOrder },
    // Times for people are in the zone of the system.
    env: { TZ: 'UTC' },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
    globalSetup: 'test/support/global-setup.ts',
  },
});

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      project('users', users, 2, 0),
      project('waiting', waiting, 2, 0),
      project('together', ['test/**/*.slow.ts'], 4, 1, [...users, ...waiting, ...alone]),
      project('alone', alone, 1, 2),
    ],
  },
});
