// The stream of live pages: GET /events says "changed", and the browser then fetches the view that it shows.
import type { Hono } from 'hono';
import { stream } from 'hono/streaming';
import type { Fleet } from '../core/fleet/fleet.ts';
import { secondMs } from '../core/time.ts';
import { systemClock } from '../world/world.ts';
import { noQuery, refuse } from './refusals.ts';

export interface LiveLimits {
  /** Streams that may be open at a time. */
  readonly readers: number;
  /** Pause between two looks for a change. */
  readonly tickMs: number;
  /** Longest pause between two events: time alone changes a view, too, and what only the store knows. */
  readonly beatMs: number;
}

export const usualLimits: LiveLimits = { readers: 200, tickMs: secondMs, beatMs: 15 * secondMs };

/** Seconds after which a refused browser may ask again. */
const retrySeconds = 30;

export interface LiveParts {
  readonly fleet: Pick<Fleet, 'revision'>;
  readonly limits: LiveLimits;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
}

export function addEvents(app: Hono, { fleet, limits, closing }: LiveParts): void {
  // Browsers live in the machine's time, also where the daemon's clock is moved by hand.
  const clock = systemClock();
  let readers = 0;
  app.get('/events', noQuery, (c) => {
    if (readers >= limits.readers) {
      c.header('Retry-After', String(retrySeconds));
      return refuse(c, 'too_many_readers', 'Too many pages are being updated live. Reload the page to see changes.');
    }
    c.header('Content-Type', 'text/event-stream; charset=utf-8');
    // No proxy may hold the events back or pack them.
    c.header('Cache-Control', 'no-store, no-transform');
    c.header('X-Accel-Buffering', 'no');
    if (c.req.method === 'HEAD') return c.body(null);
    readers += 1;
    return stream(c, async (events) => {
      const over = new AbortController();
      events.onAbort(() => over.abort());
      const signal = AbortSignal.any([closing, over.signal]);
      await events.write(': live\n\n');
      let [seen, toldAt] = [fleet.revision, clock.monotonic()];
      while (!signal.aborted) {
        await clock.sleep(limits.tickMs, signal);
        if (fleet.revision === seen && clock.monotonic() - toldAt < limits.beatMs) continue;
        [seen, toldAt] = [fleet.revision, clock.monotonic()];
        await events.write('data: changed\n\n');
      }
      readers -= 1;
    });
  });
}
