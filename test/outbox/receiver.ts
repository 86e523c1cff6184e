// A real HTTP receiver on loopback that answers as a test tells it to, and keeps what it got.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { close, listen, urlOf } from '../support/loopback.ts';

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
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const got = { path: request.url ?? '', headers: request.headers, body, at: now() };
      receiver.received.push(got);
      receiver.answer(response, got);
    });
  });
  await listen(server);
  const receiver: Receiver = {
    url: `${urlOf(server)}${path}`,
    received: [],
    answer: (response) => response.end('ok'),
    [Symbol.asyncDispose]: () => close(server),
  };
  return receiver;
}

export function status(code: number, headers: Record<string, string | string[]> = {}, body = '') {
  return (response: ServerResponse) => response.writeHead(code, headers).end(body);
}
