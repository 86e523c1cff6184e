// Retry-After in every form that servers send it (RFC 9110 section 10.2.3; docs/faults.md H11).
import { type EpochMs, secondMs } from '../../core/time.ts';
import { fieldsIn } from './failure.ts';

/** Header names in lower case, as undici gives them. */
type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const shortestMs = secondMs;

/**
 * Wait from 1 s to `longestMs` by the headers, else by a JSON body; the longest of several, or null if none is readable.
 * A date counts from the response's own Date, so that a wrong clock on either side does no harm.
 */
export function readRetryAfter(headers: ResponseHeaders, body: string, now: EpochMs, longestMs: number): number | null {
  const pieces = listOf(headers['retry-after']).flatMap(piecesOf);
  const inHeaders = pieces.flatMap((text) => waitMs(text.trim(), headers, now) ?? []);
  const waits = inHeaders.length > 0 ? inHeaders : waitsIn(body);
  return waits.length === 0 ? null : Math.min(longestMs, Math.max(shortestMs, ...waits));
}

/** Fields that services use for the same wait in a body, with their unit in milliseconds. */
const bodyFields: Readonly<Record<string, number>> = {
  retry_after: secondMs,
  retryAfter: secondMs,
  retry_after_seconds: secondMs,
  retry_after_ms: 1,
};

/** Waits at the top of a JSON body, and inside its `error` or (Telegram) its `parameters`. */
function waitsIn(body: string): readonly number[] {
  const fields = fieldsIn(body);
  const holders = [fields, fields?.['error'], fields?.['parameters']].filter(
    (one) => typeof one === 'object' && one !== null,
  );
  return (holders as Readonly<Record<string, unknown>>[]).flatMap((holder) =>
    Object.entries(bodyFields).flatMap(([field, unitMs]) => {
      const said = holder[field];
      const value = typeof said === 'string' || typeof said === 'number' ? String(said).trim() : '';
      return plainNumber.test(value) ? [Math.ceil(Number(value) * unitMs)] : [];
    }),
  );
}

const plainNumber = /^[+-]?\d+(\.\d+)?$/;

/** Splits headers that a gateway joined. A date has a comma of its own. */
function piecesOf(text: string): readonly string[] {
  const pieces = text.split(',');
  return pieces.every((piece) => plainNumber.test(piece.trim())) ? pieces : [text];
}

function waitMs(text: string, headers: ResponseHeaders, now: EpochMs): number | null {
  if (plainNumber.test(text)) return Math.ceil(Number(text) * secondMs);
  // An HTTP date begins with a weekday; Date.parse takes much else for a date.
  const until = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(until)) return null;
  const answered = Date.parse(listOf(headers['date'])[0] ?? '');
  return until - (Number.isNaN(answered) ? now : answered);
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
