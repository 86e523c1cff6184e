// Responses to refused requests: JSON of one shape for programs, a page for people.

import type { Context, MiddlewareHandler } from 'hono';
import type { RecipeRefusal } from '../core/recipe.ts';
import { noticePage } from './page/layout.ts';
import { readQuery } from './query.ts';

/** Words of `error`, each with its status, the heading of its page, and its meaning for the documents. */
export const refusals = {
  bad_request: {
    status: 400,
    title: 'Bad request',
    meaning: 'A parameter of the query is wrong, or the body cannot be read.',
  },
  bad_parameters: { status: 400, title: 'Wrong parameter', meaning: 'A parameter of the recipe is wrong.' },
  unauthorized: { status: 401, title: 'Unauthorized', meaning: 'The token or the recipe key is missing or wrong.' },
  not_allowed: { status: 403, title: 'Forbidden', meaning: 'The role of the token or of the key may not do this.' },
  cross_site: { status: 403, title: 'Sent by another site', meaning: 'A page of another site sent the form.' },
  stale_form: {
    status: 403,
    title: 'Form no longer valid',
    meaning: 'The form was not made for this browser, or the browser signed in or out since.',
  },
  unknown_host: {
    status: 403,
    title: 'Unknown host name',
    meaning:
      'Without tokens: the `Host` header is neither `localhost`, nor an IP address, nor a name in `server.listen`, `server.public_url` or `server.allowed_hosts`.',
  },
  not_found: { status: 404, title: 'Not found', meaning: 'There is nothing at this address.' },
  unknown_mailbox: {
    status: 404,
    title: 'No such mailbox',
    meaning: 'No guarded mailbox has this id or name, or the name fits several.',
  },
  unknown_recipe: { status: 404, title: 'No such recipe', meaning: 'The recipe does not exist.' },
  unknown_run: { status: 404, title: 'No such run', meaning: 'The run does not exist.' },
  wrong_method: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The address takes other methods; `Allow` lists them.',
  },
  too_large: { status: 413, title: 'Request too large', meaning: 'The body is larger than 64 KiB.' },
  not_json: { status: 415, title: 'Not JSON', meaning: 'The content-type of an operation is not `application/json`.' },
  not_a_form: {
    status: 415,
    title: 'Not a form',
    meaning: 'The content-type of a form is not `application/x-www-form-urlencoded`.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'Too many wrong tokens or keys came from this address, or the key has used up the minute of its plan.',
  },
  share_used: { status: 429, title: 'Too many runs', meaning: '25 runs of this recipe key are waiting.' },
  failed: { status: 500, title: 'Internal error', meaning: 'Warmwarden could not answer; the log says why.' },
  busy: { status: 503, title: 'Busy', meaning: '100 runs are waiting.' },
  starting: { status: 503, title: 'Starting', meaning: 'The daemon is starting; try again in a moment.' },
  too_many_readers: {
    status: 503,
    title: 'Too many live pages',
    meaning: '200 pages are being updated live already, or 20 of one limited token.',
  },
} as const satisfies Readonly<Record<string, { status: number; title: string; meaning: string }>> &
  Readonly<Record<RecipeRefusal['refused'], object>>;

export type RefusalWord = keyof typeof refusals;

export const operatorsOnly = 'Only a token with the role operator may do this.';
export const starting = 'The daemon is starting. Try again in a moment.';

/** Refusals that end by themselves after a short wait. Others name a wait of their own. */
const waitsHelp: readonly RefusalWord[] = ['busy', 'share_used', 'starting'];
const waitSeconds = '5';

/** Sets Retry-After if a short wait helps. */
export function refuse(c: Context, error: RefusalWord, message: string) {
  const { status, title } = refusals[error];
  if (waitsHelp.includes(error)) c.header('Retry-After', waitSeconds);
  return wantsPage(c) ? c.html(noticePage(title, message), status) : c.json({ error, message }, status);
}

export function wantsPage(c: Context): boolean {
  return !/^\/(api|v1)\//.test(c.req.path) && (c.req.header('accept') ?? '').includes('text/html');
}

export function refuseRecipe(c: Context, { refused, said }: RecipeRefusal) {
  return refuse(c, refused, said.join(' '));
}

export function queryOf(c: Context): URLSearchParams {
  return new URL(c.req.url).searchParams;
}

/** Refuses every query parameter: an ignored `?dry_run=true` of an operation would be dangerous. */
export const noQuery: MiddlewareHandler = async (c, next) => {
  const query = readQuery({}, queryOf(c));
  return 'wrong' in query ? refuse(c, 'bad_request', query.wrong) : next();
};

const maxBodyBytes = 64 * 1024;

interface RefusedBody {
  readonly refused: ReturnType<typeof refuse>;
}

/** Reads the body, or refuses one that is too large. Hono's own limit fails on a chunked body. */
export async function bodyOf(c: Context): Promise<{ readonly text: string } | RefusedBody> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes)
      return { refused: refuse(c, 'too_large', `The request is larger than ${maxBodyBytes / 1_024} KiB.`) };
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode() };
}

/** Reads the body as JSON, whatever its Content-Type says. `empty` stands for an empty body. */
export async function jsonBodyOf(c: Context, empty = ''): Promise<{ readonly json: unknown } | RefusedBody> {
  const body = await bodyOf(c);
  if ('refused' in body) return body;
  try {
    return { json: JSON.parse(body.text.trim() || empty) };
  } catch {
    return { refused: refuse(c, 'bad_request', 'The body is not JSON. Send a JSON object.') };
  }
}
