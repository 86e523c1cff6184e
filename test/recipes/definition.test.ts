// A recipe's file with a mistake: the place, what was found and what is wanted; every mistake at once.
import { describe, expect, test } from 'vitest';
import { readCatalogue, scheduleDoubts } from '../../src/recipes/catalogue.ts';
import { readDefinition } from '../../src/recipes/definition.ts';

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
      'with a default of another type',
      `parameters: {x: {type: integer, description: d, default: many}}\nselect: SELECT :x AS x\n`,
      '4:58 parameters.x.default: must be a whole number',
    ],
    [
      'with an operation that is none',
      `${ask}do: {operation: delete, reason: r}\n`,
      '5:17 do.operation: "delete" must be pause, resume, mode, limit, refresh or silence',
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

test('the fifteen built-in recipes are whole', async () => {
  const { definitions, broken } = await readCatalogue('/nowhere');
  expect(broken).toEqual([]);
  expect(definitions.size).toBe(15);
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
