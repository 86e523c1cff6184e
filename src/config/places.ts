// Where a configuration keeps its store and its recipes, for commands that run without the daemon's environment: no key is asked for.
import { dirname, resolve } from 'node:path';
import { storePathOf } from './build.ts';
import { checkAgainst } from './findings.ts';
import { placeFindings, readSource } from './load.ts';
import type { Problem } from './problem.ts';
import { configSchema } from './schema.ts';
import { type Environment, substitute } from './substitute.ts';

export type Places =
  | {
      readonly ok: true;
      readonly storePath: string;
      readonly recipesFolder: string;
      /** As far as the file names them in words. */
      readonly accountNames: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const placesSchema = configSchema.pick({ store: true, recipes: true });

/** Reads only what says where things are; the rest of the file is neither substituted nor checked. */
export function loadPlaces(path: string, environment: Environment): Places {
  const source = readSource(path);
  if (!('tree' in source)) return { ok: false, problems: source };
  const folder = dirname(resolve(path));
  const named = Object.entries(source.tree).filter(([key]) => key in placesSchema.shape);
  const substitution = substitute(Object.fromEntries(named), environment, folder);
  const { findings, checked } = checkAgainst(placesSchema, substitution.tree);
  const all = [...substitution.findings, ...findings];
  if (all.length > 0 || checked === null) return { ok: false, problems: placeFindings(all, source, substitution) };
  return {
    ok: true,
    storePath: storePathOf(checked.store, folder),
    recipesFolder: resolve(folder, checked.recipes.directory),
    accountNames: namesIn(source.tree),
  };
}

function namesIn(tree: { readonly accounts?: unknown }): readonly string[] {
  const accounts: readonly unknown[] = Array.isArray(tree.accounts) ? tree.accounts : [];
  return accounts.flatMap((account) => {
    const named = typeof account === 'object' && account !== null && 'name' in account;
    return named && typeof account.name === 'string' ? [account.name] : [];
  });
}
