// The recipe catalogue: the definitions shipped with Warmwarden and those in the user's folder, read again when a file changes.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failureOf, readSmallFile } from '../config/small-file.ts';
import type { BrokenRecipe } from '../model/recipe.ts';
import { type Definition, readDefinition } from './definition.ts';

/** Stands in the sources also when the program runs from dist. */
const builtInFolder = fileURLToPath(new URL('../../src/recipes/built-in/', import.meta.url));
const maxFiles = 500;
const maxFileBytes = 64 * 1024;

export interface CatalogueContents {
  /** By id. */
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly broken: readonly BrokenRecipe[];
}

/** What a file was read as, while its time and size stay. */
interface Seen {
  readonly mark: string;
  readonly read: ReturnType<typeof readDefinition>;
}

export class RecipeCatalogue {
  readonly #folder: () => string;
  readonly #seen = new Map<string, Seen>();
  /** They do not change while the program runs. */
  #builtIn: Promise<CatalogueContents> | null = null;

  /** `folder`: the user's, asked anew each time; it need not be there. */
  constructor(folder: () => string) {
    this.#folder = folder;
  }

  /** Every recipe. A user's takes the place of a built-in one of the same id; a file that is none hides no other. */
  async recipes(): Promise<CatalogueContents> {
    this.#builtIn ??= this.#readBuiltIn();
    const builtIn = await this.#builtIn;
    const definitions = new Map(builtIn.definitions);
    const broken = [...builtIn.broken];
    const folder = this.#folder();
    const files = await yamlFiles(folder);
    const byId = new Map<string, string>();
    for (const path of files.slice(0, maxFiles)) {
      const read = await this.#read(path, false);
      if ('problems' in read) {
        broken.push({ file: path, problems: read.problems });
        continue;
      }
      const { id } = read.definition.recipe;
      const other = byId.get(id);
      if (other !== undefined) broken.push({ file: path, problems: [`${path}: the id ${id} is taken by ${other}`] });
      else definitions.set(id, read.definition);
      byId.set(id, other ?? path);
    }
    if (files.length > maxFiles) {
      broken.push({
        file: folder,
        problems: [`${folder}: holds ${files.length} recipes; ${maxFiles} are read`],
      });
    }
    return { definitions, broken };
  }

  async #readBuiltIn(): Promise<CatalogueContents> {
    const definitions = new Map<string, Definition>();
    const broken: BrokenRecipe[] = [];
    for (const path of await yamlFiles(builtInFolder)) {
      const read = await this.#read(path, true);
      if ('problems' in read) broken.push({ file: path, problems: read.problems });
      else definitions.set(read.definition.recipe.id, read.definition);
    }
    return { definitions, broken };
  }

  async #read(path: string, builtIn: boolean): Promise<Seen['read']> {
    try {
      const { mtimeMs, size } = await stat(path);
      const mark = `${mtimeMs} ${size}`;
      const known = this.#seen.get(path);
      if (known?.mark === mark) return known.read;
      const found = readSmallFile(path, maxFileBytes);
      if ('failure' in found) return { problems: [`${path}: can't be read: ${found.failure}`] };
      const read = readDefinition(found.text, { file: path, builtIn });
      this.#seen.set(path, { mark, read });
      return read;
    } catch (error) {
      return { problems: [`${path}: can't be read: ${failureOf(error)}`] };
    }
  }
}

/** In the order of their names; none when the folder is not there. */
async function yamlFiles(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => /\.ya?ml$/.test(name))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
