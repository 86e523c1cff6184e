// An applied run changes what its dry run named, and nothing that came to the rows since.
import { expect, test } from 'vitest';
import type { MailboxState } from '../../src/core/mailbox.ts';
import type { Run } from '../../src/core/recipe.ts';
import { approvedBy, isPlanOf } from '../../src/recipes/approval.ts';
import { performStep } from '../../src/recipes/step.ts';
import { arrivedMailbox, now } from '../store/records.ts';
import { MemoryRuns } from '../support/memory-runs.ts';

const planned: Run = {
  ...{ id: 'r1', recipe: 'pause-domain', status: 'succeeded', parameters: { domain: 'a.example' }, apply: false },
  ...{ by: 'ann', createdAt: now, startedAt: now, endedAt: now, truncated: false, error: null },
  columns: ['account', 'mailbox_id', 'outcome'],
  rowCount: 3,
};

const row = (id: string) => ({ account: 'acme', mailbox_id: id });

test('what a dry run would change is agreed to, across its chunks; what it would skip is not', async () => {
  const runs = new MemoryRuns();
  const chunk = (firstRow: number, ...cells: readonly string[]) => ({
    firstRow,
    count: 1,
    rows: JSON.stringify([['acme', ...cells]]),
  });
  await runs.write(planned, [chunk(0, 'm1', 'planned'), chunk(1, 'm2', 'skipped'), chunk(2, 'm3', 'planned')]);
  const approved = await approvedBy(planned, runs);
  const done: string[] = [];
  const pause = async ({ mailbox }: { readonly mailbox: string }) => {
    done.push(mailbox);
    return { result: 'done' as const, messages: ['Paused.'] };
  };
  const mailbox = (_account: string, id: string): MailboxState => arrivedMailbox(id, { account: 'acme' });
  const step = { operation: 'pause', reason: 'r', mode: null, limit: null, forMs: null } as const;
  const context = { apply: true, by: 'ann', recipe: 'pause-domain', approved, command: 'warmwarden' };
  const outcomes = [];
  for (const id of ['m1', 'm2', 'm3', 'm4']) {
    const { outcome } = await performStep(step, row(id), { commands: { pause } as never, mailbox }, context);
    outcomes.push(outcome);
  }
  expect(outcomes).toEqual(['done', 'skipped', 'done', 'skipped']);
  expect(done).toEqual(['acme/m1', 'acme/m3']);
});

test.each([
  ['itself', {}, true],
  ['of another recipe', { recipe: 'resume-ours' }, false],
  ['of other parameters', { parameters: { domain: 'b.example' } }, false],
  ['that was applied', { apply: true }, false],
  ['that failed', { status: 'failed' }, false],
] as const)('a run %s: it is the plan %#', (_what, change, is) => {
  expect(isPlanOf({ ...planned, ...change }, 'pause-domain', { domain: 'a.example' })).toBe(is);
});
