// Who asks for recipes: the keys of the configuration, as Bearer tokens only.
import { createAuthenticate } from '../access/auth.ts';
import type { Plan } from './recipe-refusals.ts';
import type { Caller, RecipeRouteParts } from './recipe-routes.ts';

export interface RecipeKey {
  readonly name: string;
  readonly sha256: string;
  readonly plan: Plan;
  readonly role: Caller['role'];
}

/** `keys` is asked each time: a reload may bring others. A page's token, sent as Basic, opens nothing here. */
export function callersOf(keys: () => readonly RecipeKey[]): RecipeRouteParts['callerOf'] {
  let known = { keys: keys(), authenticate: createAuthenticate(keys()) };
  return (authorization) => {
    const now = keys();
    if (known.keys !== now) known = { keys: now, authenticate: createAuthenticate(now) };
    if (!/^bearer\s/i.test(authorization ?? '')) return null;
    return known.authenticate(authorization);
  };
}
