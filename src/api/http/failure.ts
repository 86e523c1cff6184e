// Failures of an HTTP API as values: a closed set of kinds, and a sentence for people.
import type { Redactor } from './redactor.ts';

/**
 * throttled: 429. unavailable: no answer, a 5xx, or a page of somebody in between. refused: the API understood and said no.
 * unauthorized: the key is missing or wrong. malformed: an answer that is not what the document describes.
 * missing: 404, absent or not ours. held_back: it was no longer to be sent when it could have been, and never left.
 */
type FailureKind = 'throttled' | 'unavailable' | 'refused' | 'unauthorized' | 'malformed' | 'missing' | 'held_back';

export interface Failure {
  readonly kind: FailureKind;
  /** The HTTP status; null when no answer came. */
  readonly status: number | null;
  /** What happened, in a sentence; never holds a key. */
  readonly detail: string;
  /** With 429 and 503: how long the API wants to be left alone; null when it did not say. */
  readonly retryAfterMs: number | null;
}

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

export function failed(failure: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure };
}

/** An answer that is not what its document describes. `detail` completes "HTTP 200, but ...". */
export function malformed(status: number, detail: string): { readonly ok: false; readonly failure: Failure } {
  return failed({ kind: 'malformed', status, detail: `HTTP ${status}, but ${detail}`, retryAfterMs: null });
}

/** What the answer's head and text tell when it is no success. */
interface RawAnswer {
  readonly status: number;
  readonly text: string;
  /** Where a redirect leads; null without one. */
  readonly location: string | null;
}

const quotedCharacters = 200;
/** More of a text is not looked at: most of it could be blank. */
const searchedCharacters = 4_096;

/** At most 200 characters of a foreign text on one line, without control characters. */
export function quote(text: string): string {
  const isLong = text.length > searchedCharacters;
  const beginning = text.slice(0, searchedCharacters).toWellFormed();
  const line = beginning.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const characters = [...line];
  if (characters.length <= quotedCharacters) return isLong ? `${line}...` : line;
  return `${characters.slice(0, quotedCharacters).join('')}...`;
}

/** A foreign value as JSON; one that is nested too deep for that is described as such (Node 24 throws there). */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '(nested too deep)';
  }
}

/** The `error` of an error answer; null when it is not JSON, as with a proxy's page (docs/faults.md H1, H3). */
function errorText(answer: RawAnswer, redactor: Redactor): string | null {
  try {
    const body = redactor.json(answer.text);
    if (typeof body !== 'object' || body === null) return null;
    const error = 'error' in body ? body.error : null;
    if (typeof error !== 'string') return jsonText(error ?? body);
    return 'message' in body && typeof body.message === 'string' ? `${error}: ${body.message}` : error;
  } catch {
    return null;
  }
}

/** The `error` of an error answer's JSON, when it is a word and not a sentence; else null. */
export function errorWordOf(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    const word = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
    return typeof word === 'string' && /^[a-z_]{1,40}$/.test(word) ? word : null;
  } catch {
    return null;
  }
}

/** Of an HTML page its title: the rest helps nobody. */
function titleOf(text: string): string {
  return /<title[^<>]*>([^<]*)<\/title>/i.exec(text.slice(0, searchedCharacters))?.[1] ?? text;
}

/** Classifies an answer whose status is not 2xx. Only the status decides; the text is for people, without secrets. */
export function classify(answer: RawAnswer, retryAfterMs: number | null, redactor: Redactor): Failure {
  const { status } = answer;
  const error = errorText(answer, redactor);
  const said = quote(error ?? titleOf(redactor.text(answer.text)));
  const target = redactor.text(answer.location ?? 'nowhere');
  const redirect = status >= 300 && status < 400 ? ` to ${quote(target)}` : '';
  const detail = said === '' ? `HTTP ${status}${redirect} without a text` : `HTTP ${status}${redirect}: ${said}`;
  const kind = kindOf(status, error !== null);
  return { kind, status, detail, retryAfterMs: status === 429 || status === 503 ? retryAfterMs : null };
}

function kindOf(status: number, json: boolean): FailureKind {
  if (status === 429) return 'throttled';
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'missing';
  // A challenge page in front of the API is no word of the API (docs/faults.md H3).
  if (status === 403 && !json) return 'unavailable';
  if (status >= 400 && status < 500 && status !== 408) return 'refused';
  if (status >= 300 && status < 400) return 'refused';
  return 'unavailable';
}

// Causes of a failed connection or request in words: codes of Node.js and undici, and answers of a proxy.

export const connectDeadlineMs = 5_000;

/** Node's and undici's codes in words. Their messages can hold addresses but never headers. */
export const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  ENOENT: 'the socket does not exist',
  EAI_AGAIN: 'the host name could not be looked up',
  EMFILE: 'Warmwarden has as many open files as its limit allows; raise it (LimitNOFILE= in systemd, or ulimit -n)',
  ENFILE: 'this machine has as many open files as it allows',
  EADDRNOTAVAIL: 'this machine has no free port for the connection',
  ENETUNREACH: 'this machine has no route to the address',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${connectDeadlineMs / 1_000} s`,
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  SELF_SIGNED_CERT_IN_CHAIN: privateAuthority(),
  DEPTH_ZERO_SELF_SIGNED_CERT: privateAuthority(),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: privateAuthority(),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: privateAuthority(),
};

function privateAuthority(): string {
  return 'its certificate is signed by an authority that this machine does not know; name that authority in ca_file';
}

/** A proxy that did not pass a request on. */
export class ProxyError extends Error {
  constructor(status: number) {
    const wants = status === 407 ? ': it wants a user name and a password, or others' : '';
    super(`the proxy answered ${status}${wants}`);
  }
}

// Whether a list in an answer says that it goes on elsewhere (docs/faults.md S8): nobody may be taken for gone then.

const nextNames = ['next', 'next_page', 'next_page_url', 'next_cursor', 'cursor'];
const totalNames = ['total', 'total_count', 'count'];
const pageNames = ['page', 'current_page'];
const pagesNames = ['pages', 'total_pages', 'last_page'];
/** Where APIs put these signs, if not beside the list. */
const holders = ['meta', 'pagination', 'paging', 'links'];

type Fields = Readonly<Record<string, unknown>>;

/** `held`: the entries that have come, readable or not. */
export function saysMore(body: Fields, held: number): boolean {
  return [body, ...holders.map((name) => body[name])].some((one) => {
    if (typeof one !== 'object' || one === null) return false;
    const fields = one as Fields;
    return (
      nextNames.some((name) => Boolean(fields[name])) ||
      fields['has_more'] === true ||
      largest(fields, totalNames) > held ||
      // The first page is 1, or 0.
      largest(fields, pagesNames) > Math.max(1, largest(fields, pageNames))
    );
  });
}

/** The largest number, also as a text, under one of the names; without any, 0. */
function largest(fields: Fields, names: readonly string[]): number {
  const numbers = names.map((name) => fields[name]).filter((one) => ['number', 'string'].includes(typeof one));
  return Math.max(0, ...numbers.map(Number).filter(Number.isFinite));
}
