// What is probably not meant in a recipe: a word that the views answer with no more, two kinds of days in a schedule.
import { expect, test } from 'vitest';
import { readDefinition } from '../../src/recipes/definition.ts';
import { doubtsIn } from '../../src/recipes/doubts.ts';

function definitionOf(select: string, builtIn = false, more = '') {
  const text = `id: mine\ntitle: Mine\ndescription: Mine.\nselect: |\n  ${select}\n${more}`;
  const read = readDefinition(text, { file: 'mine.yaml', builtIn });
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.definition;
}

test('a recipe that compares with a state of an earlier version is named, with the word to write now', () => {
  const select = "SELECT email FROM mailboxes WHERE state = 'blind' OR state IN ('watching', 'ok')";
  expect(doubtsIn([definitionOf(select)])).toEqual([
    "The recipe mine compares with 'blind': this state is called 'not_judged' now.",
    "The recipe mine compares with 'watching': this state is called 'ok' now.",
  ]);
});

test('nothing is said of words of today, of comments and of what ships', () => {
  const today = "SELECT email FROM mailboxes WHERE state = 'not_judged' -- not 'blind' any more";
  expect(doubtsIn([definitionOf(today), definitionOf("SELECT 'blind' AS word", true)])).toEqual([]);
});

test('a schedule with a day of the month and a day of the week is named', () => {
  const doubtsAbout = (cron: string) =>
    doubtsIn([definitionOf('SELECT 1 AS one', false, `schedule: {cron: "${cron}"}\n`)]);
  const said = 'has a day of the month and a day of the week: it runs only on days that are both';
  expect(doubtsAbout('0 8 1 * 1')).toEqual([`The schedule of the recipe mine ${said}.`]);
  expect(doubtsAbout('0 0 8 1-7 * mon')).toEqual([`The schedule of the recipe mine ${said}.`]);
  for (const cron of ['0 8 * * 1', '0 8 1 * *', '0 8 ? * 1', '0 8 */2 * 1', '@weekly'])
    expect(doubtsAbout(cron)).toEqual([]);
});
