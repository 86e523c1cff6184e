// The rows of a circuit breaker: what one more judgement writes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { Store } from '../../src/store/store.ts';
import { afterJudging, moveOf } from './breaker-contract.ts';
import { now } from './records.ts';

function newPlace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-breakers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'warmwarden.db');
}

test('what one more judgement writes does not grow with how many are held', async () => {
  let characters = 0;
  const store = await Store.open(newPlace(), now, ({ query }) => {
    characters += query.sql.length + query.parameters.join().length;
  });
  onTestFinished(() => store.close());
  let state = closedBreaker;
  const written = async (ids: readonly string[]) => {
    const { record, after } = moveOf(state, (before) => ids.reduce((one, id) => afterJudging(one, id), before));
    characters = 0;
    await store.recordBreaker(record);
    state = after;
    return characters;
  };
  const ids = Array.from({ length: 1_000 }, (_, index) => `m${index}`);
  await written(ids.slice(0, 10));
  const few = await written(['m5']);
  await written(ids.slice(10));
  expect(await written(['m500'])).toBeLessThan(few + 100);
});
