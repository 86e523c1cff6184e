// A server of a test on a free port of loopback.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as AnyServer } from 'node:net';

export const portOf = (server: AnyServer) => (server.address() as AddressInfo).port;
export const urlOf = (server: AnyServer) => `http://127.0.0.1:${portOf(server)}`;

export async function listen(server: AnyServer): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

/** A server that answers as the listener does, until it is disposed. */
export async function startServer(listener?: RequestListener) {
  const server = createServer(listener);
  await listen(server);
  return { url: urlOf(server), port: portOf(server), [Symbol.asyncDispose]: () => close(server) };
}

/** With every connection that is still open. */
export async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
