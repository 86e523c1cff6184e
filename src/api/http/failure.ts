// Failures of an HTTP API as values: a closed set of kinds, with a sentence for people.
import { fieldsOf, type JsonFields } from '../../world/schema/json.ts';
import type { Redactor } from './redactor.ts';

/**
 * unavailable: no answer, a 5xx, or a page of an intermediary. refused: the API understood the request and refused it.
 * malformed: an answer that does not match the document. missing: 404, absent or not ours. held_back: withdrawn unsent.
 */
type FailureKind = 'throttled' | 'unavailable' | 'refused' | 'unauthorized' | 'malformed' | 'missing' | 'held_back';

export interface Failure {
  readonly kind: FailureKind;
  /** HTTP status, or null if no answer came. */
  readonly status: number | null;
  /** A sentence that never holds a key. */
  readonly detail: string;
  /** Retry-After of a 429 or 503, or null if there is none. */
  readonly retryAfterMs: number | null;
}

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

export function failed(failure: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure };
}

/** `detail` completes "HTTP 200, but ...". */
export function malformed(status: number, detail: string): { readonly ok: false; readonly failure: Failure } {
  return failed({ kind: 'malformed', status, detail: `HTTP ${status}, but ${detail}`, retryAfterMs: null });
}

/** An answer that is no success. */
interface RawAnswer {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
}

const quotedCharacters = 200;
/** Beginning that is searched: most of the text could be blank. */
const searchedCharacters = 4_096;

/** Returns at most 200 characters of a foreign text on one line, without control characters. */
export function quote(text: string): string {
  const isLong = text.length > searchedCharacters;
  const beginning = text.slice(0, searchedCharacters).toWellFormed();
  const line = beginning.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const characters = [...line];
  if (characters.length <= quotedCharacters) return isLong ? `${line}...` : line;
  return `${characters.slice(0, quotedCharacters).join('')}...`;
}

/** Returns JSON, or a description if the value is nested too deep (Node 24 throws there). */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '(nested too deep)';
  }
}

/** Returns a JSON object, or a JSON list as it is; null for any other text, such as a proxy's page (docs/faults.md H1, H3). */
export function fieldsIn(text: string, parse: (text: string) => unknown = JSON.parse): JsonFields | null {
  try {
    const body = parse(text);
    return typeof body === 'object' && body !== null ? (body as JsonFields) : null;
  } catch {
    return null;
  }
}

/** Returns the `error` of an answer, or null if it is not JSON. */
function errorText({ text }: RawAnswer, redactor: Redactor): string | null {
  const body = fieldsIn(text, (json) => redactor.json(json));
  if (body === null) return null;
  const { error, message } = body;
  if (typeof error !== 'string') return jsonText(error ?? body);
  return typeof message === 'string' ? `${error}: ${message}` : error;
}

/** Returns the `error` of an error answer's JSON, or null unless it is one word. */
export function errorWordOf(text: string): string | null {
  const word = fieldsIn(text)?.['error'];
  return typeof word === 'string' && /^[a-z_]{1,40}$/.test(word) ? word : null;
}

/** Title of an HTML page, whose rest is of no use, or the whole text. */
function titleOf(text: string): string {
  return /<title[^<>]*>([^<]*)<\/title>/i.exec(text.slice(0, searchedCharacters))?.[1] ?? text;
}

/** Classifies by the status alone. The text is for people. */
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
  // A challenge page in front of the API is no answer of the API (docs/faults.md H3).
  if (status === 403 && !json) return 'unavailable';
  if (status >= 400 && status < 500 && status !== 408) return 'refused';
  if (status >= 300 && status < 400) return 'refused';
  return 'unavailable';
}

export const connectDeadlineMs = 5_000;

const privateAuthority =
  'its certificate is signed by an authority that this machine does not know; name that authority in ca_file';

/** Codes of Node.js and undici in words. Their messages can hold addresses but never headers. */
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
  SELF_SIGNED_CERT_IN_CHAIN: privateAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: privateAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: privateAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: privateAuthority,
};

export class ProxyError extends Error {
  constructor(status: number) {
    const wants = status === 407 ? ': it wants a user name and a password, or others' : '';
    super(`the proxy answered ${status}${wants}`);
  }
}

// Signs of a paginated list (docs/faults.md S8). If a list is paginated, absence from it proves nothing.

const nextNames = ['next', 'next_page', 'next_page_url', 'next_cursor', 'cursor'];
const totalNames = ['total', 'total_count', 'count'];
const pageNames = ['page', 'current_page'];
const pagesNames = ['pages', 'total_pages', 'last_page'];
/** Fields in which APIs put these signs, if not beside the list. */
const holders = ['meta', 'pagination', 'paging', 'links'];

/** `held`: number of entries that came, readable or not. */
export function saysMore(body: JsonFields, held: number): boolean {
  return [body, ...holders.map((name) => body[name])].some((one) => {
    const fields = fieldsOf(one);
    return (
      nextNames.some((name) => Boolean(fields[name])) ||
      fields['has_more'] === true ||
      largest(fields, totalNames) > held ||
      // The first page may be 1 or 0.
      largest(fields, pagesNames) > Math.max(1, largest(fields, pageNames))
    );
  });
}

/** Reads also numbers in texts. Returns 0 if there is none. */
function largest(fields: JsonFields, names: readonly string[]): number {
  const numbers = names.map((name) => fields[name]).filter((one) => ['number', 'string'].includes(typeof one));
  return Math.max(0, ...numbers.map(Number).filter(Number.isFinite));
}
