// The recipe catalogue: the definitions shipped with Warmwarden and those in the user's folder, read again when a file changes.

import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fleet } from '../core/fleet/fleet.ts';
import { type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { defaultPolicy, type Ppm } from '../core/policy.ts';
import type { BrokenRecipe } from '../core/recipe.ts';
import type { EpochMs } from '../core/time.ts';
import { failureOf, readSmallFile } from '../schema/small-file.ts';
import { ownTurn } from '../world/event-loop.ts';
import { type Definition, readDefinition } from './definition.ts';
import type { Facts } from './sandbox.ts';

/** Stands in the sources also when the program runs from dist. */
const builtInFolder = fileURLToPath(new URL('../../src/recipes/built-in/', import.meta.url));
const maxFiles = 500;
const maxFileBytes = 64 * 1024;

interface CatalogueContents {
  /** By id. */
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly broken: readonly BrokenRecipe[];
}

/** What a file was read as, while its time and size stay. */
interface Seen {
  readonly mark: string;
  readonly read: ReturnType<typeof readDefinition>;
}

/** Read once: they do not change while the program runs. */
let builtInRecipes: Promise<CatalogueContents> | null = null;

export class RecipeCatalogue {
  readonly #folder: () => string;
  readonly #seen = new Map<string, Seen>();

  /** `folder`: the user's, asked each time; it need not be there. */
  constructor(folder: () => string) {
    this.#folder = folder;
  }

  /** Every recipe. A user's takes the place of a built-in one of the same id; a file that is none hides no other. */
  async recipes(): Promise<CatalogueContents> {
    builtInRecipes ??= readBuiltIn();
    const builtIn = await builtInRecipes;
    const definitions = new Map(builtIn.definitions);
    const broken = [...builtIn.broken];
    const folder = this.#folder();
    const files = await yamlFiles(folder);
    const byId = new Map<string, string>();
    for (const path of files.slice(0, maxFiles)) {
      const read = await this.#read(path);
      if ('problems' in read) {
        broken.push({ file: path, problems: read.problems });
        continue;
      }
      const { id } = read.definition.recipe;
      const other = byId.get(id);
      if (other !== undefined)
        broken.push({ file: path, problems: [`${path}: the id ${id} is taken by ${basename(other)}`] });
      else definitions.set(id, read.definition);
      byId.set(id, other ?? path);
    }
    if (files.length > maxFiles) {
      broken.push({
        file: folder,
        problems: [`${folder}: holds ${files.length} recipes, but only ${maxFiles} are read`],
      });
    }
    return { definitions, broken };
  }

  async #read(path: string): Promise<Seen['read']> {
    try {
      const { mtimeMs, size } = await stat(path);
      const mark = `${mtimeMs} ${size}`;
      const known = this.#seen.get(path);
      if (known?.mark === mark) return known.read;
      const found = readRecipe(path, false);
      if (found.whole) this.#seen.set(path, { mark, read: found.read });
      return found.read;
    } catch (error) {
      return unreadable(path, failureOf(error));
    }
  }
}

async function readBuiltIn(): Promise<CatalogueContents> {
  const definitions = new Map<string, Definition>();
  const broken: BrokenRecipe[] = [];
  for (const path of await yamlFiles(builtInFolder)) {
    // Each is compiled and checked, the first ones by code that was never run before.
    await ownTurn('patient');
    const { read } = readRecipe(path, true);
    if ('problems' in read) broken.push({ file: path, problems: read.problems });
    else definitions.set(read.definition.recipe.id, read.definition);
  }
  return { definitions, broken };
}

/** What the file was read as; `whole`: its text was there, so the same file is read as the same again. */
function readRecipe(path: string, builtIn: boolean): { readonly read: Seen['read']; readonly whole: boolean } {
  const found = readSmallFile(path, maxFileBytes);
  if ('failure' in found) return { read: unreadable(path, found.failure), whole: false };
  return { read: readDefinition(found.text, { file: path, builtIn }), whole: true };
}

function unreadable(path: string, failure: string): { readonly problems: readonly string[] } {
  return { problems: [`${path}: can't be read: ${failure}`] };
}

/** In the order of their names; none when the folder is not there, which is the usual case and no error to catch each minute. */
async function yamlFiles(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
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

// What the views know of the running program: the accounts as they are, and the policies' near limits.

/** The facts of a daemon at a moment. */
export function factsOf(fleet: Fleet, nearLimitPpmOf: (mailbox: MailboxState) => Ppm, now: EpochMs): Facts {
  const usual = defaultPolicy.nearLimitPpm;
  const others: Record<string, Ppm> = {};
  for (const mailbox of fleet.mailboxes()) {
    const ppm = nearLimitPpmOf(mailbox);
    if (ppm !== usual) others[mailboxKey(mailbox.account, mailbox.id)] = ppm;
  }
  return { now, accounts: [...fleet.accounts()], nearLimitPpm: { usual, others } };
}
