// Places of a configuration's store and recipes, for commands that run without the daemon's environment: no API key is
// required.
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { pathOf, type Retention, type StorePlace } from '../core/store-failure.ts';
import type { Problem } from '../world/schema/problem.ts';
import { timeZone } from '../world/schema/scalars.ts';
import { keyed, section } from '../world/schema/section.ts';
import { placeOf, recipes, retention, storeSchema } from './kept-schema.ts';
import { checkPart, type Environment, readSource, substitute } from './source.ts';

export type Places =
  | {
      readonly ok: true;
      readonly store: StorePlace;
      readonly recipesFolder: string;
      /** Names of accounts that are written as plain words in the file. */
      readonly accountNames: readonly string[];
      /** Zone in alerts.time_zone; UTC if it is missing or invalid. */
      readonly timeZone: string;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const placesSchema = section({ store: keyed(storeSchema, {}, ''), recipes: keyed(recipes, {}, '') });
const retentionSchema = section({ retention: keyed(retention, {}, '') });

/** Retention of history, or the problems of its section. */
export function loadRetention(
  path: string,
  environment: Environment,
): { readonly retention: Retention } | { readonly problems: readonly Problem[] } {
  const part = loadPart(path, environment, retentionSchema, ['retention']);
  return 'problems' in part ? part : part.checked;
}

/** Reads only the sections with places; the rest of the file is neither substituted nor checked. */
export function loadPlaces(path: string, environment: Environment): Places {
  const part = loadPart(path, environment, placesSchema, ['store', 'recipes']);
  if ('problems' in part) return { ok: false, problems: part.problems };
  const { checked, tree, folder } = part;
  return {
    ok: true,
    store: placeOf(checked.store, folder),
    recipesFolder: resolve(folder, checked.recipes.directory),
    accountNames: namesIn(tree),
    timeZone: zoneIn(tree, environment),
  };
}

/** Path of the store if the configuration does not name one. */
export function usualStore(path: string): string {
  return pathOf(placeOf(storeSchema.parse({}), dirname(resolve(path))));
}

/** Reads only these keys of the file. */
function loadPart<Schema extends z.ZodType>(
  path: string,
  environment: Environment,
  schema: Schema,
  keys: readonly string[],
) {
  const source = readSource(path);
  if (!('tree' in source)) return { problems: source };
  const folder = dirname(resolve(path));
  const written = Object.fromEntries(Object.entries(source.tree).filter(([key]) => keys.includes(key)));
  const part = checkPart({ source: { ...source, findings: [] }, written, schema, environment, folder });
  return 'problems' in part ? part : { checked: part.checked, tree: source.tree, folder };
}

function zoneIn({ alerts }: { readonly alerts?: unknown }, environment: Environment): string {
  const written: { readonly time_zone?: unknown } = typeof alerts === 'object' ? { ...alerts } : {};
  return timeZone().safeParse(substitute(written.time_zone, environment, '').tree).data ?? 'UTC';
}

function namesIn(tree: { readonly accounts?: unknown }): readonly string[] {
  const accounts: readonly unknown[] = Array.isArray(tree.accounts) ? tree.accounts : [];
  return accounts.flatMap((account) => {
    const named = typeof account === 'object' && account !== null && 'name' in account;
    return named && typeof account.name === 'string' ? [account.name] : [];
  });
}
