// The recipe catalogue: the definitions shipped with Warmwarden and those in the user's folder.
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrokenRecipe } from '../core/recipe.ts';
import { bothDaysDoubt } from '../world/schedule.ts';
import { failureOf, readSmallFile } from '../world/schema/small-file.ts';
import { nextTurn } from '../world/world.ts';
import { type Definition, readDefinition } from './definition.ts';

/** The folder stands in the sources also when the program runs from dist. */
const builtInFolder = fileURLToPath(new URL('../../src/recipes/built-in/', import.meta.url));
const maxFiles = 500;
const maxFileBytes = 64 * 1024;

export interface Catalogue {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly broken: readonly BrokenRecipe[];
}

type ReadRecipe = ReturnType<typeof readDefinition>;

/** A SELECT takes milliseconds to check, so a file is checked once for each text. */
const checked = new Map<string, { readonly text: string; readonly read: ReadRecipe }>();

/** A recipe in the user's folder replaces a built-in one of the same id; a broken file hides no other. */
export async function readCatalogue(folder: string): Promise<Catalogue> {
  const definitions = new Map<string, Definition>();
  const broken: BrokenRecipe[] = [];
  const paths = await yamlFiles(folder, broken);
  const files = [
    ...(await yamlFiles(builtInFolder, broken)).map((path) => ({ path, builtIn: true })),
    ...paths.slice(0, maxFiles).map((path) => ({ path, builtIn: false })),
  ];
  const taken = new Map<string, string>();
  for (const { path, builtIn } of files) {
    const read = await readRecipe(path, builtIn);
    if ('problems' in read) {
      broken.push({ file: path, problems: read.problems });
      continue;
    }
    const { id } = read.definition.recipe;
    const other = taken.get(id);
    if (other !== undefined) {
      broken.push({ file: path, problems: [`${path}: the id ${id} is taken by ${basename(other)}`] });
      continue;
    }
    definitions.set(id, read.definition);
    if (!builtIn) taken.set(id, path);
  }
  if (paths.length > maxFiles) {
    const problem = `${folder}: holds ${paths.length} recipes, but only ${maxFiles} are read`;
    broken.push({ file: folder, problems: [problem] });
  }
  return { definitions, broken };
}

async function readRecipe(path: string, builtIn: boolean): Promise<ReadRecipe> {
  const found = readSmallFile(path, maxFileBytes);
  if ('failure' in found) return { problems: [`${path}: can't be read: ${found.failure}`] };
  const known = checked.get(path);
  if (known?.text === found.text) return known.read;
  await nextTurn();
  const read = readDefinition(found.text, { file: path, builtIn });
  checked.set(path, { text: found.text, read });
  return read;
}

/** Adds a folder that can't be read to `broken`. A folder that does not exist is empty. */
async function yamlFiles(folder: string, broken: BrokenRecipe[]): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    const problems = [`${folder}: can't be read: ${failureOf(error)}`];
    if (error.code !== 'ENOENT') broken.push({ file: folder, problems });
    return [];
  });
  return names
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Sentences on schedules of the user's recipes that run on fewer days than it seems. */
export function scheduleDoubts({ definitions }: Catalogue): readonly string[] {
  return [...definitions.values()].flatMap(({ recipe: { id, schedule, builtIn } }) => {
    const doubt = schedule && !builtIn ? bothDaysDoubt(schedule.cron) : null;
    return doubt ? [`The schedule of the recipe ${id} ${doubt}.`] : [];
  });
}
