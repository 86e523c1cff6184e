// A real HTTP receiver on loopback that answers as a test tells it to, and keeps what it got.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    received: [],
    answer: (response) => response.end('ok'),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

export function status(code: number, headers: Record<string, string | string[]> = {}, body = '') {
  return (response: ServerResponse) => response.writeHead(code, headers).end(body);
}
