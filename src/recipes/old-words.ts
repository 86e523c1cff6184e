// Words that the views used to answer with: a recipe that compares with one of them finds nothing, and should be corrected.
import type { Definition } from './definition.ts';

/** What the words of the column `state` are called now. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['watching', 'ok'],
  ['blind', 'not_judged'],
  ['paused_by_us', 'paused_by_guard'],
]);

/** One sentence per recipe of the user's and old word that its SELECT compares with. */
export function oldWordsIn(definitions: Iterable<Definition>): readonly string[] {
  return [...definitions].flatMap(({ recipe, select }) =>
    recipe.builtIn
      ? []
      : textsOf(select).flatMap((word) => {
          const now = renamed.get(word);
          return now ? [`The recipe ${recipe.id} compares with '${word}': this state is called '${now}' now.`] : [];
        }),
  );
}

/** The texts of a SELECT, each once; quotes in comments and quoted names are none. */
function textsOf(select: string): readonly string[] {
  const tokens = select.matchAll(/'((?:[^']|'')*)'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g);
  return [...new Set([...tokens].flatMap(([, text]) => (text === undefined ? [] : [text])))];
}
