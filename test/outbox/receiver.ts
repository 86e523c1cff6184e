// A real HTTP receiver on loopback that answers as a test tells it to, and keeps what it got.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startServer } from '../support/loopback.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  /** How the next requests are answered. */
  answer: (response: ServerResponse, received: Received) => void;
}

export async function startReceiver(now = () => 0, path = '/hook/T0P-SECRET'): Promise<Receiver> {
  const server = await startServer(async (request, response) => {
    const body = await text(request);
    const got = { path: request.url ?? '', headers: request.headers, body, at: now() };
    receiver.received.push(got);
    receiver.answer(response, got);
  });
  const receiver: Receiver = {
    ...server,
    url: `${server.url}${path}`,
    received: [],
    answer: (response) => response.end('ok'),
  };
  return receiver;
}

export function status(code: number, headers: Record<string, string | string[]> = {}, body = '') {
  return (response: ServerResponse) => response.writeHead(code, headers).end(body);
}
