// Which words of a recipe are no longer answered by the views.
import { expect, test } from 'vitest';
import { readDefinition } from '../../src/recipes/definition.ts';
import { oldWordsIn } from '../../src/recipes/old-words.ts';

function definitionOf(select: string, builtIn = false) {
  const text = `id: mine\ntitle: Mine\ndescription: Mine.\nselect: |\n  ${select}\n`;
  const read = readDefinition(text, { file: 'mine.yaml', builtIn });
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.definition;
}

test('a recipe that compares with a state of an earlier version is named, with the word to write now', () => {
  const select = "SELECT email FROM mailboxes WHERE state = 'blind' OR state IN ('watching', 'ok')";
  expect(oldWordsIn([definitionOf(select)])).toEqual([
    "The recipe mine compares with 'blind': this state is called 'not_judged' now.",
    "The recipe mine compares with 'watching': this state is called 'ok' now.",
  ]);
});

test('nothing is said of words of today, of comments and of what ships', () => {
  const today = "SELECT email FROM mailboxes WHERE state = 'not_judged' -- not 'blind' any more";
  expect(oldWordsIn([definitionOf(today), definitionOf("SELECT 'blind' AS word", true)])).toEqual([]);
});
