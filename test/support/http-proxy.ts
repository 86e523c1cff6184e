// An HTTP proxy on loopback: CONNECT for https, absolute addresses for plain http. Every name leads to this machine, so that names
// which nobody can look up are reached through it alone.
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { close, listen, portOf } from './loopback.ts';

export class HttpProxy implements AsyncDisposable {
  /** `CONNECT mailboxes.test:443`, `GET http://hook.test/`, in order. */
  readonly asked: string[] = [];
  /** `user:password` that it wants; null: it asks for none. */
  wants: string | null = null;
  readonly #server = createServer((asked, answer) => {
    this.asked.push(`${asked.method} ${asked.url}`);
    if (!this.#admits(asked.headers['proxy-authorization'])) return void answer.writeHead(407).end();
    const { port, pathname, search, host } = new URL(asked.url ?? '', 'http://not-absolute.test');
    const { 'proxy-authorization': _, ...headers } = asked.headers;
    const there = request(
      { port, path: `${pathname}${search}`, method: asked.method, headers: { ...headers, host } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    there.on('error', () => answer.writeHead(502).end());
    asked.pipe(there);
  });

  static async start(): Promise<HttpProxy> {
    const proxy = new HttpProxy();
    proxy.#server.on('connect', ({ url = '', headers }, socket) => {
      proxy.asked.push(`CONNECT ${url}`);
      socket.on('error', () => {});
      if (!proxy.#admits(headers['proxy-authorization'])) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
        return;
      }
      const there = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        socket.pipe(there).pipe(socket);
      });
      there.on('error', () => socket.destroy());
      socket.on('close', () => there.destroy());
    });
    await listen(proxy.#server);
    return proxy;
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** The hosts that were asked for, each once, in the order of the alphabet. */
  hosts(): readonly string[] {
    return [...new Set(this.asked.map((line) => /([a-z.]+):\d+/.exec(line)?.[1] ?? line))].sort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return close(this.#server);
  }

  #admits(authorization: string | undefined): boolean {
    return this.wants === null || authorization === `Basic ${Buffer.from(this.wants).toString('base64')}`;
  }
}
