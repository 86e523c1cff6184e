// Calendar days and durations as plain values. A day is an opaque label 'YYYY-MM-DD' (docs/faults.md T10).

/** A calendar date, `YYYY-MM-DD`. Compares correctly as a string. */
export type IsoDate = string;

/** Milliseconds since the Unix epoch. */
export type EpochMs = number;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * Milliseconds since a moment of the wall clock. A moment ahead of now means that the clock was set back: the result is
 * Infinity, so that no wait lasts until the clock catches up, and the moment does not count as recent.
 */
export function elapsedMs(since: EpochMs, now: EpochMs): number {
  return since > now ? Number.POSITIVE_INFINITY : now - since;
}

/** Each verdict asks for the same few dates dozens of times: so many are remembered. */
const datesKept = 1_000;
/** Dates by days since the epoch, and the reverse. */
const dates = new Map<number, IsoDate>();
const days = new Map<IsoDate, number>();

/** The UTC calendar date of a moment of the years 1000 to 9999. */
export function utcDate(at: EpochMs): IsoDate {
  return dateOf(Math.floor(at / dayMs));
}

/** The date so many days after the epoch. */
function dateOf(day: number): IsoDate {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const at = new Date(day * dayMs);
  const date = `${at.getUTCFullYear()}-${twoDigits(at.getUTCMonth() + 1)}-${twoDigits(at.getUTCDate())}`;
  if (dates.size >= datesKept) {
    dates.clear();
    days.clear();
  }
  dates.set(day, date);
  days.set(date, day);
  return date;
}

function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : `${count}`;
}

/** Days since the epoch. A day that its month does not have is one of the next. */
export function dayOf(date: IsoDate): number {
  const known = days.get(date);
  if (known !== undefined) return known;
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10))) / dayMs;
}

/** True for a real calendar date of the form YYYY-MM-DD from 1970 on. */
export function isIsoDate(text: string): boolean {
  if (text.length !== 10 || text < '1970-01-01') return false;
  if (days.has(text)) return true;
  return /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text) && dateOf(dayOf(text)) === text;
}

/** The date that a text is, or null. One string for all who read it: every mailbox has the same thirty. */
export function isoDateOf(text: string): IsoDate | null {
  return isIsoDate(text) ? dateOf(dayOf(text)) : null;
}

/** The date so many days later (earlier when negative). */
export function addDays(date: IsoDate, later: number): IsoDate {
  return dateOf(dayOf(date) + later);
}

/** True for a Saturday or a Sunday. */
export function isWeekend(date: IsoDate): boolean {
  // The epoch began on a Thursday.
  const fromSunday = (dayOf(date) + 4) % 7;
  return fromSunday === 0 || fromSunday === 6;
}

// Retry-After in every form that servers send it. RFC 9110 section 10.2.3; docs/faults.md H11.

/** Header names in lower case, as undici gives them. */
type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const shortestMs = secondMs;

/**
 * Wait that the server asks for, 1 s to `longestMs`, rounded up to whole milliseconds; the longest of several. Returns
 * null without the header or a readable value. A date counts from the response's own Date, so that a wrong clock on
 * either side does no harm.
 */
export function readRetryAfter(headers: ResponseHeaders, now: EpochMs, longestMs: number): number | null {
  const waits = listOf(headers['retry-after'])
    .flatMap(piecesOf)
    .map((text) => waitMs(text.trim(), headers, now));
  const readable = waits.filter((wait) => wait !== null);
  if (readable.length === 0) return null;
  return Math.min(longestMs, Math.max(shortestMs, ...readable));
}

/** Fields that services use for the same wait in a body, with their unit in milliseconds. */
const bodyFields: Readonly<Record<string, number>> = {
  retry_after: secondMs,
  retryAfter: secondMs,
  retry_after_seconds: secondMs,
  retry_after_ms: 1,
};

/** The same wait when it stands only in a JSON body, at the top or inside `error`; null when it does not. */
export function retryAfterInBody(text: string, longestMs: number): number | null {
  const waits = objectsOf(text).flatMap((fields) =>
    Object.entries(bodyFields).map(([field, unitMs]) => {
      const said = fields[field];
      const value = typeof said === 'string' || typeof said === 'number' ? String(said).trim() : '';
      return plainNumber.test(value) ? Math.ceil(Number(value) * unitMs) : null;
    }),
  );
  const readable = waits.filter((wait) => wait !== null);
  return readable.length === 0 ? null : Math.min(longestMs, Math.max(shortestMs, ...readable));
}

/** The body and its `error`, as far as they are objects. */
function objectsOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    const body: unknown = JSON.parse(text);
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
    return [body, error].filter((value) => typeof value === 'object' && value !== null) as Record<string, unknown>[];
  } catch {
    return [];
  }
}

const plainNumber = /^[+-]?\d+(\.\d+)?$/;

/** Several headers that a gateway joined. A date has a comma of its own. */
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
