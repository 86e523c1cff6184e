// The stream of live pages: GET /events sends "changed", and the browser then fetches its view again.
import type { Hono } from 'hono';
import { stream } from 'hono/streaming';
import type { AlertMatch } from '../core/alert.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import { systemClock } from '../world/world.ts';
import { limitsOf } from './access/limits.ts';
import { noQuery, refuse } from './refusals.ts';

export interface LiveLimits {
  readonly readers: number;
  /** Streams of one token with limits, so that others keep theirs. */
  readonly limitedReaders: number;
  readonly tickMs: number;
  /** Longest pause between two events: a view also changes with time, and with data that only the store has. */
  readonly beatMs: number;
  /** Longest life of a stream. The browser reconnects, and is authorised again. */
  readonly lifeMs: number;
}

export const usualLimits: LiveLimits = {
  readers: 200,
  limitedReaders: 20,
  tickMs: secondMs,
  beatMs: 15 * secondMs,
  lifeMs: 10 * minuteMs,
};

const retrySeconds = 30;

export interface LiveParts {
  readonly fleet: Pick<Fleet, 'revision'>;
  readonly limits: LiveLimits;
  readonly closing: AbortSignal;
}

export function addEvents(app: Hono, { fleet, limits, closing }: LiveParts): void {
  // The stream runs in real time, even if the daemon's clock is simulated.
  const clock = systemClock();
  const readers = new Set<{ readonly part: AlertMatch | null }>();
  app.get('/events', noQuery, (c) => {
    const reader = { part: limitsOf(c) };
    const ofPart = [...readers].filter(({ part }) => part !== null && part === reader.part);
    if (readers.size >= limits.readers || ofPart.length >= limits.limitedReaders) {
      c.header('Retry-After', String(retrySeconds));
      return refuse(c, 'too_many_readers', 'Too many pages are being updated live. Reload the page to see changes.');
    }
    c.header('Content-Type', 'text/event-stream; charset=utf-8');
    // Proxies must not buffer or compress the events.
    c.header('Cache-Control', 'no-store, no-transform');
    c.header('X-Accel-Buffering', 'no');
    if (c.req.method === 'HEAD') return c.body(null);
    readers.add(reader);
    return stream(c, async (events) => {
      const over = new AbortController();
      events.onAbort(() => over.abort());
      const signal = AbortSignal.any([closing, over.signal]);
      try {
        await events.write(': live\n\n');
        const begunAt = clock.monotonic();
        // A visitor with limits does not learn when something else changes.
        const revision = () => (reader.part ? 0 : fleet.revision);
        let [seen, sentAt] = [revision(), begunAt];
        while (!signal.aborted && clock.monotonic() - begunAt < limits.lifeMs) {
          await clock.sleep(limits.tickMs, signal);
          if (revision() === seen && clock.monotonic() - sentAt < limits.beatMs) continue;
          [seen, sentAt] = [revision(), clock.monotonic()];
          await events.write('data: changed\n\n');
        }
      } finally {
        readers.delete(reader);
      }
    });
  });
}
