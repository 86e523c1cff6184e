// An applied run changes what its dry run named, and nothing that came to the rows since.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { Operate } from '../../src/core/operator-command.ts';
import type { RunRequest } from '../../src/core/recipe.ts';
import { arrivedMailbox } from '../store/records.ts';
import { endedRun, recipeRunner, startedRun } from '../support/recipe-runner.ts';
import { stillWorld } from '../web/running-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'warmwarden-approval-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const recipe = (id: string, select: string) =>
  writeFileSync(
    join(folder, `${id}.yaml`),
    `id: ${id}\ntitle: t\ndescription: d\nparameters: {x: {type: string, description: d}}\n` +
      `select: SELECT 'acme' AS account, column1 AS mailbox_id, :x AS x FROM (${select})\ndo: {operation: pause, reason: r}\n`,
  );
const fourth = "VALUES ('m1'), ('m2'), ('m3'), ('m4')";

test('an applied run changes the mailboxes that its dry run planned to change, and no others', async () => {
  const place = join(folder, 'empty.db');
  new DatabaseSync(place).exec('CREATE TABLE meta (key)');
  recipe('own', "VALUES ('m1'), ('m2'), ('m3')");
  recipe('other', fourth);
  const changed: string[] = [];
  const operate: Operate = async (_name, body) => {
    const { mailbox, dry_run: isDry } = body as { readonly mailbox: string; readonly dry_run: boolean };
    if (mailbox === 'acme/m2' && isDry) return { result: 'failed', messages: ['Not now.'] };
    if (!isDry) changed.push(mailbox);
    return { result: isDry ? 'planned' : 'done', messages: ['Paused.'] };
  };
  const mailbox = (_account: string, id: string) => arrivedMailbox(id, { account: 'acme' });
  const commandAccess = () => ({ operate, mailbox });
  const runner = recipeRunner(stillWorld(), { folder, place, commandAccess });
  const parameters = { x: 'a' };
  const asked = { recipe: 'own', parameters, role: 'operator' } as const;
  const planned = await endedRun(runner, (await startedRun(runner, asked)).id);
  expect(planned).toMatchObject({ status: 'succeeded', rowCount: 3 });

  const notThePlan: readonly Partial<RunRequest>[] = [{ recipe: 'other' }, { parameters: { x: 'b' } }];
  for (const change of notThePlan) {
    await expect(startedRun(runner, { ...asked, apply: true, plan: planned.id, ...change })).rejects.toThrow(
      'is not a finished dry run of',
    );
  }

  recipe('own', fourth);
  const applied = await endedRun(runner, (await startedRun(runner, { ...asked, apply: true, plan: planned.id })).id);
  const page = await runner.rows(applied.id, { offset: 0, limit: 10 });
  expect('rows' in page && page.rows.map(({ outcome }) => outcome)).toEqual(['done', 'skipped', 'done', 'skipped']);
  expect(changed).toEqual(['acme/m1', 'acme/m3']);
  await expect(startedRun(runner, { ...asked, apply: true, plan: applied.id })).rejects.toThrow('is not a finished');
  await runner.close();
});
