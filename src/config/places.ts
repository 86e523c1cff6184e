// Where a configuration keeps its store, for commands that run without the daemon's environment: no key is asked for.
import { dirname, resolve } from 'node:path';
import { storePathOf } from './build.ts';
import { checkAgainst } from './findings.ts';
import { placeFindings, readSource } from './load.ts';
import type { Problem } from './problem.ts';
import { configSchema } from './schema.ts';
import { type Environment, substitute } from './substitute.ts';

export type Places =
  | { readonly ok: true; readonly storePath: string }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const placesSchema = configSchema.pick({ store: true });

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
  return { ok: true, storePath: storePathOf(checked.store, folder) };
}
