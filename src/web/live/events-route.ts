// GET /events?at=ADDRESS: the stream of a live page, as server-sent events.
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { type Parameter, readQuery, upTo } from '../query.ts';
import { queryOf, refuse } from '../refusals.ts';
import type { LiveStream, Sink } from './live-stream.ts';

/** A browser that does not reconnect by itself waits so long. */
const retryMs = 3_000;
const retrySeconds = 30;

/** Of the stream: it never stops us, `LiveLimits.waitingBytes` does. */
const unread = 1024 * 1024;

const maxAddressLength = 2_000;
const at: Parameter<string> & { readonly required: true } = {
  wanted: 'the path of a page of this server',
  schema: { type: 'string', pattern: '^/(?!/)', maxLength: maxAddressLength },
  required: true,
  read: (found) => (/^\/(?!\/)/.test(found) && found.length <= maxAddressLength ? found : null),
};
const eventsParameters = { at, since: upTo(100) };

/** A browser comes back with the header Last-Event-ID, the page's own script with `since`. */
export function addEvents(app: Hono, live: LiveStream): void {
  app.get('/events', (c) => {
    const query = readQuery(eventsParameters, queryOf(c));
    if ('wrong' in query) return refuse(c, 'bad_request', query.wrong);
    if (live.isFull) {
      c.header('Retry-After', String(retrySeconds));
      return refuse(c, 'too_many_readers', 'Too many pages are being updated live. Reload the page to see changes.');
    }
    const since = c.req.header('last-event-id') ?? query.read.since ?? null;
    c.header('Content-Type', 'text/event-stream; charset=utf-8');
    // Nobody on the way may hold it back or pack it.
    c.header('Cache-Control', 'no-store, no-transform');
    c.header('X-Accel-Buffering', 'no');
    return c.body(streamOf(c, (sink) => live.open(query.read.at, since, sink)));
  });
}

function streamOf(c: Context, open: (sink: Sink) => Promise<() => void>): ReadableStream<Uint8Array> {
  const { outgoing }: HttpBindings = c.env;
  let leave: (() => void) | null = null;
  let isOver = false;
  const end = () => {
    isOver = true;
    leave?.();
  };
  const start = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    controller.enqueue(new TextEncoder().encode(`retry: ${retryMs}\n\n`));
    leave = await open({
      // What the connection has not asked for yet, and what it could not pass on.
      waiting: () => unread - (controller.desiredSize ?? 0) + outgoing.writableLength,
      send: (bytes) => controller.enqueue(bytes),
      cut: () => {
        isOver = true;
        outgoing.destroy();
      },
      mayOperate: c.get('asker')?.role === 'operator',
      mayStay: c.get('mayStay'),
    });
    if (isOver) leave();
  };
  outgoing.once('close', end);
  const size = (bytes: Uint8Array) => bytes.byteLength;
  // Not awaited: what is sent meanwhile goes out at once.
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>) => void start(controller);
  return new ReadableStream({ start: begin, cancel: end }, { highWaterMark: unread, size });
}
