// Doubts about a recipe: a word that the views answer with no more, and a schedule that runs on fewer days than it seems to.
import { bothDaysDoubt } from '../world/schedule.ts';
import type { Definition } from './definition.ts';

/** Earlier words of the column `state`, with the words of today. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['watching', 'ok'],
  ['blind', 'not_judged'],
  ['paused_by_us', 'paused_by_guard'],
]);

/** A sentence for each thing in a recipe of the user's that is allowed and probably not meant. */
export function doubtsIn(definitions: Iterable<Definition>): readonly string[] {
  return [...definitions].flatMap((definition) =>
    definition.recipe.builtIn ? [] : [...oldWordsIn(definition), ...unusualDaysIn(definition)],
  );
}

function oldWordsIn({ recipe, select }: Definition): readonly string[] {
  return textsOf(select).flatMap((word) => {
    const now = renamed.get(word);
    return now ? [`The recipe ${recipe.id} compares with '${word}': this state is called '${now}' now.`] : [];
  });
}

function unusualDaysIn({ recipe }: Definition): readonly string[] {
  const doubt = recipe.schedule && bothDaysDoubt(recipe.schedule.cron);
  return doubt ? [`The schedule of the recipe ${recipe.id} ${doubt}.`] : [];
}

/** The texts of a SELECT, each once; quotes in comments and quoted names are none. */
function textsOf(select: string): readonly string[] {
  const tokens = select.matchAll(/'((?:[^']|'')*)'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g);
  return [...new Set([...tokens].flatMap(([, text]) => (text === undefined ? [] : [text])))];
}
