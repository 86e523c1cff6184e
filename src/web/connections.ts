// How many connections the server keeps. The last ones are for probes: who watches the daemon reaches it also while others
// hold all the rest.
import type { Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';

/** What connections may take of the machine, so that the guard keeps files and memory for its own requests. */
export interface ConnectionLimits {
  /** A further one is closed, unless it asks for what a probe asks for. */
  readonly connections: number;
  /** A client that reads nothing of an answer for this long is disconnected. */
  readonly stallMs: number;
}

/** Live pages may use 200. By default, a process may open 1,024 files. */
export const usualConnections: ConnectionLimits = { connections: 500, stallMs: 60_000 };
/** So many further ones may be open until they have asked. */
const forProbes = 20;
const probed = ['/healthz', '/readyz', '/metrics'];

export interface Connections {
  /** Whether a request may be answered; where not, its connection is closed. */
  readonly mayAsk: (socket: Socket, path: () => string) => boolean;
  /** Closes all, also those that have not asked for anything. */
  readonly cut: () => void;
}

/** Limits the connections of a server that does not listen yet. */
export function limitConnections(server: Server | TlsServer, { connections, stallMs }: ConnectionLimits): Connections {
  const open = new Set<Socket>();
  /** By the other end: with TLS, a request has another socket than its connection. */
  const further = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    const name = nameOf(socket);
    socket.once('close', () => {
      open.delete(socket);
      further.delete(name);
    });
    if (open.size <= connections) return;
    further.set(name, socket);
    // Whoever has opened one and asks for nothing makes room: a probe asks at once.
    const [oldest] = further.values();
    if (further.size > forProbes) oldest?.destroy();
  });
  server.timeout = stallMs;
  server.on('request', (_request, response: ServerResponse) => {
    // A request that is not answered yet may take longer, as commands do.
    response.on('timeout', () => {
      if ((response.socket?.writableLength ?? 0) > 0) response.socket?.destroy();
    });
    // A further connection is not kept for a second request.
    if (response.socket && further.has(nameOf(response.socket))) response.shouldKeepAlive = false;
  });
  return {
    mayAsk: (socket, path) => {
      if (!further.has(nameOf(socket)) || probed.includes(path())) return true;
      socket.destroy();
      return false;
    },
    cut: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
