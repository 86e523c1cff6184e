// GET and HEAD /metrics.
import type { Hono } from 'hono';
import { type Clock, systemClock } from '../world/world.ts';
import type { Metrics } from './metrics.ts';

export interface ScrapeLimits {
  /** An unread response would hold memory and turns of the event loop. */
  readonly answers: number;
  /** Deadline from the moment at which a response can be read. It is cut then, even if its reader still reads. */
  readonly readWithinMs: number;
  readonly clock: Clock;
}

const usualLimits: ScrapeLimits = { answers: 8, readWithinMs: 60_000, clock: systemClock() };

const retrySeconds = 10;

interface Closing {
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Fields that the server adds to a request. */
interface Connection {
  readonly incoming: { readonly socket: Closing & { destroy(): unknown } };
  readonly outgoing: Closing;
}

/** `isReady`: current result of /readyz. The response sets its own encoding, so no middleware compresses it again. */
export function addMetrics(app: Hono, metrics: Metrics, isReady: () => boolean, limits = usualLimits): void {
  let underWay = 0;
  app.get('/metrics', async (c) => {
    const [accept, acceptEncoding] = [c.req.header('accept'), c.req.header('accept-encoding')];
    const answer = () => metrics.expose({ accept, acceptEncoding, ready: isReady() });
    if (c.req.method === 'HEAD') return c.body(null, 200, (await answer()).headers);
    if (underWay >= limits.answers) {
      return c.text('Too many scrapes are being answered already. Try again in a moment.\n', 503, {
        'Retry-After': String(retrySeconds),
      });
    }
    underWay += 1;
    const cutUnread = whenRead(c.env as Connection, () => {
      underWay -= 1;
    });
    const { headers, body } = await answer();
    // The first response of a large fleet takes long on a busy machine, which is not the reader's fault.
    cutUnread(limits);
    return c.body(body(), 200, headers);
  });
}

/** Calls `over` once, after the response was sent, its reader left, or it was cut by the returned function. */
function whenRead({ incoming, outgoing }: Connection, over: () => void): (limits: ScrapeLimits) => void {
  const { socket } = incoming;
  const reading = new AbortController();
  const { signal } = reading;
  const end = () => {
    if (signal.aborted) return;
    // A connection carries many responses.
    socket.off('close', end);
    reading.abort('over');
    over();
  };
  outgoing.once('close', end);
  // A response queued behind another one on its connection gets no event when the connection ends.
  socket.once('close', end);
  return ({ readWithinMs, clock }) =>
    void clock.sleep(readWithinMs, signal).then(() => {
      if (!signal.aborted) socket.destroy();
    });
}
