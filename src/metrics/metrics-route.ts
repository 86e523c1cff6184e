// GET and HEAD /metrics.
import type { Hono } from 'hono';
import type { Metrics } from './metrics.ts';

/** `isReady`: what /readyz answers now. The answer brings its own encoding, so that no middleware compresses it again. */
export function addMetrics(app: Hono, metrics: Metrics, isReady: () => boolean): void {
  app.get('/metrics', async (c) => {
    const [accept, acceptEncoding] = [c.req.header('accept'), c.req.header('accept-encoding')];
    const { headers, body } = await metrics.expose({ accept, acceptEncoding, ready: isReady() });
    return c.req.method === 'HEAD' ? c.body(null, 200, headers) : c.body(body(), 200, headers);
  });
}
