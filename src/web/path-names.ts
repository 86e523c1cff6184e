// Paths with names in them, such as `/mailboxes/:account/:id`.
import type { Hono } from 'hono';

/** What a path has in the place of each `:name`; null: it is another path. */
export function namesIn(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [wanted, found] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== found.length) return null;
  const names: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const piece = decoded(found[index] ?? '');
    if (part.startsWith(':')) names[part.slice(1)] = piece;
    else if (part !== piece) return null;
  }
  return names;
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    return piece;
  }
}

/** The methods that a path takes; empty: nothing has this address. */
export function methodsAt({ routes }: Hono, path: string): readonly string[] {
  const fits = routes.filter((route) => route.method !== 'ALL' && namesIn(route.path, path) !== null);
  const methods = new Set(fits.map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
