// Runs of recipes that were carried out although they were refused, or waited although they were cancelled.
import { describe, expect, test } from 'vitest';
import { MemoryRuns } from '../support/memory-runs.ts';
import { endedRun, recipeRunner, startedRun } from '../support/recipe-runner.ts';
import { stillWorld } from '../web/running-server.ts';

/** A ledger whose writes can fail, or wait once a run is running. */
class TroubledRuns extends MemoryRuns {
  failing = false;
  /** While it is pending, no run gets further than its start. */
  gate: Promise<void> = Promise.resolve();

  override async write(...[run, chunks]: Parameters<MemoryRuns['write']>): ReturnType<MemoryRuns['write']> {
    if (this.failing) throw new Error('database or disk is full');
    if (run.status === 'running') await this.gate;
    return super.write(run, chunks);
  }
}

describe('a run that could not be recorded', () => {
  test('is refused, and is not carried out when the next one is', async () => {
    const runs = new TroubledRuns();
    const runner = recipeRunner(stillWorld(), { runs });
    runs.failing = true;
    await expect(startedRun(runner)).rejects.toThrow('disk is full');
    runs.failing = false;
    const next = await startedRun(runner);
    await endedRun(runner, next.id);
    await runner.close();
    expect((await runs.newest('at-risk', 10)).map(({ id }) => id)).toEqual([next.id]);
  });
});

describe('a run that waits for its turn', () => {
  async function twoRunAndOneWaits() {
    const runs = new TroubledRuns();
    const { promise, resolve: open } = Promise.withResolvers<void>();
    runs.gate = promise;
    const runner = recipeRunner(stillWorld(), { runs });
    const running = [await startedRun(runner), await startedRun(runner)];
    return { runner, runs, running, waiting: await startedRun(runner), open };
  }

  test('ends at once when it is cancelled, and never begins', async () => {
    const { runner, runs, running, waiting, open } = await twoRunAndOneWaits();
    expect(await runner.cancel(waiting.id)).toMatchObject({ status: 'cancelled', startedAt: null });
    expect(await runs.read(waiting.id)).toMatchObject({ status: 'cancelled', startedAt: null });
    open();
    for (const { id } of running) await endedRun(runner, id);
    expect(await runner.run(waiting.id)).toMatchObject({ status: 'cancelled', startedAt: null });
    await runner.close();
  });
});
