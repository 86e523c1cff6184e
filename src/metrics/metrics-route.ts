// GET and HEAD /metrics.
import type { Hono } from 'hono';
import { type Clock, systemClock } from '../world/world.ts';
import type { Metrics } from './metrics.ts';

export interface ScrapeLimits {
  /** So many answers may be on their way; whoever reads none of them would hold memory and turns of the event loop. */
  readonly answers: number;
  /** An answer that is not read to its end by then is cut, however its reader reads. It counts from when there is something to read. */
  readonly readWithinMs: number;
  readonly clock: Clock;
}

const usualLimits: ScrapeLimits = { answers: 8, readWithinMs: 60_000, clock: systemClock() };

const retrySeconds = 10;

/** What ends with `close`. */
interface Closing {
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** What the server puts beside a request. */
interface Connection {
  readonly incoming: { readonly socket: Closing & { destroy(): unknown } };
  readonly outgoing: Closing;
}

/** `isReady`: what /readyz answers now. The answer brings its own encoding, so that no middleware compresses it again. */
export function addMetrics(app: Hono, metrics: Metrics, isReady: () => boolean, limits = usualLimits): void {
  let underWay = 0;
  app.get('/metrics', async (c) => {
    const [accept, acceptEncoding] = [c.req.header('accept'), c.req.header('accept-encoding')];
    const answer = (over: Promise<void>) => metrics.expose({ accept, acceptEncoding, ready: isReady(), over });
    if (c.req.method === 'HEAD') return c.body(null, 200, (await answer(Promise.resolve())).headers);
    if (underWay >= limits.answers) {
      return c.text('Too many scrapes are being answered already. Try again in a moment.\n', 503, {
        'Retry-After': String(retrySeconds),
      });
    }
    underWay += 1;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const cutUnread = whenRead(c.env as Connection, () => {
      underWay -= 1;
      resolve();
    });
    const { headers, body } = await answer(over);
    // The first answer of a large fleet takes long on a busy machine, which is not the fault of its reader.
    cutUnread(limits);
    return c.body(body(), 200, headers);
  });
}

/** Calls `over` once: when the answer was sent, its reader left, or it was cut. The result cuts an answer that is not read in time. */
function whenRead({ incoming, outgoing }: Connection, over: () => void): (limits: ScrapeLimits) => void {
  const { socket } = incoming;
  const reading = new AbortController();
  const { signal } = reading;
  const end = () => {
    if (signal.aborted) return;
    // Many answers go over one connection.
    socket.off('close', end);
    reading.abort('over');
    over();
  };
  outgoing.once('close', end);
  // An answer behind another one on its connection hears nothing of the connection's end.
  socket.once('close', end);
  return ({ readWithinMs, clock }) =>
    void clock.sleep(readWithinMs, signal).then(() => {
      if (!signal.aborted) socket.destroy();
    });
}
