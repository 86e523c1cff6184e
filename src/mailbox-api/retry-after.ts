// Retry-After in every form that servers send it. RFC 9110 section 10.2.3; FAULTS.md H11.

const shortestMs = 1_000;
const longestMs = 15 * 60_000;

/**
 * Milliseconds to wait, between 1 s and 15 min; null when the header says nothing usable.
 * Seconds may be fractional (rounded up); a date is measured against the answer's own Date header, else against `now`.
 */
export function readRetryAfter(
  header: string | readonly string[] | undefined,
  dateHeader: string | undefined,
  now: number,
): number | null {
  const values = (typeof header === 'string' ? [header] : (header ?? [])).map((value) =>
    readOne(value, dateHeader, now),
  );
  const waits = values.filter((value) => value !== null);
  if (waits.length === 0) return null;
  return Math.min(Math.max(Math.max(...waits), shortestMs), longestMs);
}

function readOne(value: string, dateHeader: string | undefined, now: number): number | null {
  const text = value.trim();
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text)) * 1_000;
  // Date.parse takes many things for a date; an HTTP date begins with a weekday.
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return null;
  const served = dateHeader === undefined ? Number.NaN : Date.parse(dateHeader);
  return at - (Number.isNaN(served) ? now : served);
}
