// A recipe's file with a mistake: the place, what was found and what is wanted. An applied run changes what its dry run named, and
// nothing that came to the rows since.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { Operate } from '../../src/core/operator-command.ts';
import type { RunRequest } from '../../src/core/recipe.ts';
import { readCatalogue, scheduleDoubts } from '../../src/recipes/catalogue.ts';
import { readDefinition } from '../../src/recipes/definition.ts';
import { arrivedMailbox } from '../store/records.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { endedRun, recipeRunner, startedRun } from '../support/recipe-runner.ts';
import { stillWorld } from '../web/running-server.ts';

const file = 'r.yaml';
const head = 'id: r\ntitle: R\ndescription: For a test.\n';
const ask = 'select: SELECT account, mailbox_id FROM mailboxes\n';
const problemsOf = (text: string) => {
  const read = readDefinition(text, { file, builtIn: false });
  return 'problems' in read ? read.problems : [];
};

describe('a recipe is refused', () => {
  test.each([
    ['without a select', '', '1:1 select: is missing'],
    ['with an unknown key', `${ask}querry: x\n`, '5:1 querry: unknown key'],
    [
      'with an id that is no id',
      `id: My Recipe\ntitle: R\ndescription: D.\n${ask}`,
      '1:5 id: must be lowercase letters',
    ],
    [
      'with a column that is not there',
      `select: SELECT emial FROM mailboxes\n`,
      '4:9 select: SQLite says: no such column: emial',
    ],
    ['with a table that no view shows', `select: SELECT * FROM meta\n`, '4:9 select: SQLite says: no such table: meta'],
    ['with two statements', `select: SELECT 1; SELECT 2\n`, '4:9 select: must be one SELECT, not several'],
    ['with something else than a SELECT', `select: DELETE FROM mailboxes\n`, '4:9 select: must be one SELECT'],
    ['with EXPLAIN', `select: EXPLAIN SELECT 1\n`, '4:9 select: must be one SELECT'],
    ['with two columns of one name', `select: SELECT 1 AS a, 2 AS a\n`, '4:9 select: two columns are called a'],
    [
      'with a parameter that nobody declared',
      `select: SELECT :x AS x\n`,
      '4:9 select: :x is not a parameter of the recipe',
    ],
    ['with a question mark for a parameter', `select: SELECT ? AS x\n`, '4:9 select: write parameters as :name, not ?'],
    [
      'with a parameter that is never used',
      `parameters: {x: {type: string, description: d}}\n${ask}`,
      '5:9 select: the parameter x is never used',
    ],
    [
      'with a smallest number over the largest',
      `parameters: {x: {type: integer, description: d, minimum: 5, maximum: 3}}\nselect: SELECT :x AS x\n`,
      '4:58 parameters.x.minimum: is 5, and maximum is 3: no number fits both',
    ],
    [
      'with a default of another type',
      `parameters: {x: {type: integer, description: d, default: many}}\nselect: SELECT :x AS x\n`,
      '4:58 parameters.x.default: must be a whole number',
    ],
    [
      'with an operation that is none',
      `${ask}do: {operation: delete, reason: r}\n`,
      '5:17 do.operation: "delete" must be pause, resume, mode, limit, set, refresh or silence',
    ],
    ['with the operation mode and no mode', `${ask}do: {operation: mode, reason: r}\n`, '5:5 do.mode: is missing'],
    ['with the operation limit and no limit', `${ask}do: {operation: limit, reason: r}\n`, '5:5 do.limit: is missing'],
    [
      'with a limit for another operation',
      `${ask}do: {operation: pause, limit: 12, reason: r}\n`,
      '5:24 do.limit: unknown key',
    ],
    ['with a limit of nothing', `${ask}do: {operation: limit, limit: 0, reason: r}\n`, '5:31 do.limit: must be'],
    [
      'with an operation and no mailbox',
      `select: SELECT 1 AS account\ndo: {operation: pause, reason: r}\n`,
      '4:9 select: do: needs the columns account and mailbox_id; mailbox_id is missing',
    ],
    [
      'that resumes by the clock',
      `${ask}do: {operation: resume, reason: r}\nschedule: {cron: "0 8 * * *"}\n`,
      '6:1 schedule: only a person may run a recipe that resumes',
    ],
    [
      'with a time zone that is none',
      `${ask}schedule: {cron: "0 8 * * *", time_zone: Mars/Base}\n`,
      '5:42 schedule.time_zone: "Mars/Base" is not',
    ],
    ['with a schedule and no cron', `${ask}schedule: {apply: false}\n`, '5:11 schedule.cron: is missing'],
    ['with a cron that is no text', `${ask}schedule: {cron: 5}\n`, '5:18 schedule.cron: must be'],
  ])('%s', (_what, text, problem) => {
    const said = problemsOf(text.startsWith('id:') ? text : head + text);
    expect(said.map((one) => one.slice(0, problem.length + file.length + 1))).toEqual([`${file}:${problem}`]);
  });

  test('with every mistake at once', () => {
    expect(problemsOf('id: A\ntitle: ""\ndescription: d\nselect: SELECT 1\nwhat: 1\n')).toHaveLength(3);
  });
});

test('a SELECT may hold what looks like a parameter or a second statement inside texts and comments', () => {
  expect(problemsOf(`${head}select: |\n  SELECT ':x; ?' AS a -- :y ;\n  /* :z */ ;\n`)).toEqual([]);
});

test('a schedule with a day of the month and a day of the week is doubted', async () => {
  const doubtsAbout = (cron: string) => {
    const read = readDefinition(`${head}${ask}schedule: {cron: "${cron}"}\n`, { file, builtIn: false });
    if ('problems' in read) throw new Error(read.problems.join('\n'));
    return scheduleDoubts({ definitions: new Map([['r', read.definition]]), broken: [] });
  };
  const said = 'has a day of the month and a day of the week: it runs only on days that are both';
  for (const cron of ['0 8 1 * 1', '0 0 8 1-7 * mon'])
    expect(doubtsAbout(cron)).toEqual([`The schedule of the recipe r ${said}.`]);
  for (const cron of ['0 8 * * 1', '0 8 1 * *', '0 8 ? * 1', '0 8 */2 * 1', '@weekly'])
    expect(doubtsAbout(cron)).toEqual([]);
});

const folder = folderOfFile();

test('a folder of recipes that can not be read is told as a broken file is, and one that does not exist is empty', async () => {
  const taken = join(folder, 'taken');
  writeFileSync(taken, '');
  const { definitions, broken } = await readCatalogue(taken);
  const problem = `${taken}: can't be read: a part of its path is not a folder`;
  expect([definitions.size > 0, broken]).toEqual([true, [{ file: taken, problems: [problem] }]]);
  expect((await readCatalogue(join(folder, 'nowhere'))).broken).toEqual([]);
});

const recipe = (id: string, select: string) =>
  writeFileSync(
    join(folder, `${id}.yaml`),
    `id: ${id}\ntitle: t\ndescription: d\nparameters: {x: {type: string, description: d}}\n` +
      `select: SELECT 'acme' AS account, column1 AS mailbox_id, :x AS x FROM (${select})\ndo: {operation: pause, reason: r}\n`,
  );
const fourth = "VALUES ('m1'), ('m2'), ('m3'), ('m4')";

test('a parameter of type integer is whole in SQLite, one of type number is not', async () => {
  const place = join(folder, 'typed.db');
  new DatabaseSync(place).exec('CREATE TABLE meta (key)');
  writeFileSync(
    join(folder, 'typed.yaml'),
    'id: typed\ntitle: t\ndescription: d\nparameters: {n: {type: integer, description: d}, x: {type: number, description: d}}\n' +
      "select: SELECT 7 / :n AS whole, 7 / :x AS part, 'top ' || :n AS text, typeof(now_ms()) AS now\n",
  );
  const runner = recipeRunner(stillWorld(), { folder, place });
  const run = await endedRun(runner, (await startedRun(runner, { recipe: 'typed', parameters: { n: 3, x: 3 } })).id);
  const page = await runner.rows(run.id, { offset: 0, limit: 10 });
  expect('rows' in page && page.rows).toEqual([{ whole: 2, part: 7 / 3, text: 'top 3', now: 'integer' }]);
  await runner.close();
});

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
