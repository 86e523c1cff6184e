// What the server answers when it does not do what was asked: one shape for programs, a page for people.
import type { Context, MiddlewareHandler } from 'hono';
import { noticePage } from '../page/notice-page.ts';
import { readQuery } from './query.ts';

/** The word in `error`, its status, and the heading of its page. docs/http-api.md lists them. */
export const refusals = {
  bad_request: { status: 400, title: 'Bad request' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  not_allowed: { status: 403, title: 'Forbidden' },
  cross_site: { status: 403, title: 'Sent by another site' },
  stale_form: { status: 403, title: 'Form no longer valid' },
  unknown_host: { status: 403, title: 'Unknown host name' },
  not_found: { status: 404, title: 'Not found' },
  unknown_mailbox: { status: 404, title: 'No such mailbox' },
  too_large: { status: 413, title: 'Request too large' },
  not_json: { status: 415, title: 'Not JSON' },
  not_a_form: { status: 415, title: 'Not a form' },
  rate_limited: { status: 429, title: 'Too many wrong tokens' },
  failed: { status: 500, title: 'Internal error' },
  starting: { status: 503, title: 'Starting' },
  too_many_readers: { status: 503, title: 'Too many live pages' },
} as const;

export type RefusalWord = keyof typeof refusals;

/** As JSON, with its status. `message`: sentences. */
export function refusalJson<Word extends RefusalWord>(error: Word, message: string) {
  const { status }: { readonly status: (typeof refusals)[Word]['status'] } = refusals[error];
  return { status, body: { error, message } } as const;
}

/** JSON below /api and for programs, a page for people. */
export function refuse(c: Context, error: RefusalWord, message: string) {
  const { status, title } = refusals[error];
  return isForPeople(c) ? c.html(noticePage(title, message), status) : c.json({ error, message }, status);
}

/** Whether a page answers rather than JSON. */
export function isForPeople(c: Context): boolean {
  return !c.req.path.startsWith('/api/') && (c.req.header('accept') ?? '').includes('text/html');
}

export function queryOf(c: Context): URLSearchParams {
  return new URL(c.req.url).searchParams;
}

/** For a route that takes no parameters: `?dry_run=true` behind an operation, say, must not be ignored. */
export const noQuery: MiddlewareHandler = async (c, next) => {
  const query = readQuery({}, queryOf(c));
  return 'wrong' in query ? refuse(c, 'bad_request', query.wrong) : next();
};
