// The HTTP server of the active process and of a standby: listens, responds, and closes within a bounded time.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { systemClock } from '../world/world.ts';
import { type LiveLimits, usualLimits } from './live.ts';
import { pathBehind } from './rim.ts';
import type { RouteParts } from './route-parts.ts';
import { createRoutes } from './routes.ts';

export interface ServerPlace {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly pathPrefix: string;
}

export interface ServerOptions extends RouteParts, ServerPlace {
  readonly liveLimits?: LiveLimits;
  readonly connectionLimits?: ConnectionLimits;
}

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Answers a request that did not come over the address, as that of the socket. */
  readonly answer: (request: Request, env: object) => Response | Promise<Response>;
  /** Uses another certificate for new connections. Has no effect on a server without TLS. */
  renew(tls: TlsFiles | null): void;
  /** Accepts no new connections, waits briefly for unfinished responses, then closes their connections. */
  close(): Promise<void>;
}

/** Time for unfinished responses after the server starts to close, in milliseconds. */
const closeGraceMs = 1_000;
/** Timeouts of an incomplete request: slow clients must not accumulate. */
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
/** Idle timeout of a connection: longer than the 60 s of load balancers, which must not ask on a closing connection. */
const keepAliveMs = 75_000;
/** Interval at which Node.js checks these timeouts; its default is 30 s. */
const lookForSlowEveryMs = 5_000;
const tlsOptions = { minVersion: 'TLSv1.2', handshakeTimeout: headersTimeoutMs } as const;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, port, tls, fleet, world, pathPrefix } = options;
  const closing = new AbortController();
  const live = { fleet, limits: options.liveLimits ?? usualLimits, closing: closing.signal };
  const routes = createRoutes(options, live);
  const server = serverFor(async (request, env) => {
    const path = () => pathBehind(pathPrefix, new URL(request.url).pathname);
    return connections.mayAsk(env.incoming.socket, path)
      ? routes.fetch(request, env)
      : new Response(null, { status: 503 });
  }, tls);
  const connections = limitConnections(server, options.connectionLimits ?? usualConnections);
  await listen(server, host, port);
  server.on('error', (error) => world.log.error({ err: error }, 'the HTTP server reports an error'));
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `${tls ? 'https' : 'http'}://${inUrl(host)}:${bound}`,
    port: bound,
    answer: routes.fetch,
    renew: (renewed) => {
      if (renewed && 'setSecureContext' in server) server.setSecureContext({ ...renewed, ...tlsOptions });
    },
    close: () => close(server, closing, connections),
  };
}

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

function serverFor(fetch: Fetch, tls: TlsFiles | null): Server | TlsServer {
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: lookForSlowEveryMs,
  };
  // A probe in HTTP/1.0 sends no host name.
  const app = { fetch, overrideGlobalObjects: false, hostname: 'localhost' };
  if (tls === null) return createAdaptorServer({ ...app, createServer, serverOptions: limits }) as Server;
  const serverOptions = { ...limits, ...tlsOptions, ...tls };
  return createAdaptorServer({ ...app, createServer: createTlsServer, serverOptions }) as TlsServer;
}

/** Rejects with one sentence if nothing can listen on the address now. */
export async function mustBeFree({ host, port }: Pick<ServerOptions, 'host' | 'port'>): Promise<void> {
  const probe = createServer();
  await listen(probe, host, port);
  await new Promise((resolve) => probe.close(resolve));
}

function listen(server: Server | TlsServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) =>
      reject(new Error(sentenceFor(error, host, port), { cause: error }));
    server.once('error', failed);
    server.listen({ host, port }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

function sentenceFor(error: NodeJS.ErrnoException, host: string, port: number): string {
  const address = `${inUrl(host)}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${address} is in use by another process. Stop that process or set another server.listen`;
    case 'EACCES':
      return `${address} needs more rights than this user has. Set server.listen to a port from 1024 on`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${address} is not an address of this machine. Set another server.listen`;
    default:
      return `${address} can't be listened on: ${error.message}`;
  }
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

async function close(server: Server | TlsServer, closing: AbortController, connections: Connections): Promise<void> {
  closing.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // The wait is in real time, even if the daemon's clock is simulated.
  const waiting = new AbortController();
  await Promise.race([closed, systemClock().sleep(closeGraceMs, waiting.signal)]);
  waiting.abort();
  connections.cut();
  await closed;
}

/** Limits that leave files and memory of the machine for the guard's own requests. */
export interface ConnectionLimits {
  readonly connections: number;
  /** A client that reads nothing of a response for this long is disconnected. */
  readonly stallMs: number;
}

/** Default limits. Live pages may use 200 connections; by default, a process may open 1,024 files. */
const usualConnections: ConnectionLimits = { connections: 500, stallMs: 60_000 };
/** Further connections, for probes: an unanswered probe would restart a daemon that guards. */
const forProbes = 20;
const probed = ['/healthz', '/readyz', '/metrics'];

interface Connections {
  readonly mayAsk: (socket: Socket, path: () => string) => boolean;
  readonly cut: () => void;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function limitConnections(server: Server | TlsServer, { connections, stallMs }: ConnectionLimits): Connections {
  const open = new Set<Socket>();
  /** Peers of the connections that were accepted beyond the limit. A TLS socket has the peer of the one below it. */
  const beyond = new Set<string>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    const peer = peerOf(socket);
    if (open.size > connections) beyond.add(peer);
    socket.once('close', () => {
      open.delete(socket);
      beyond.delete(peer);
    });
    // The oldest connection beyond the limit gives way: a probe sends its request at once.
    if (open.size > connections + forProbes) [...open][connections]?.destroy();
  });
  server.timeout = stallMs;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // A request without a response yet may take longer, for example a command.
    response.on('timeout', () => {
      if ((response.socket?.writableLength ?? 0) > 0) response.socket?.destroy();
    });
    if (beyond.has(peerOf(request.socket))) response.shouldKeepAlive = false;
  });
  return {
    mayAsk: (socket, path) => !beyond.has(peerOf(socket)) || probed.includes(path()),
    cut: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

// HTTP responses of a standby: it is running, and another process is active.

/** `active`: name of the active process. `failure`: reason why this process could not become active, or null. */
export interface StandbyState {
  readonly active: string;
  readonly failure: string | null;
}

/** Starts the server of a standby. Rejects with one clear sentence if the address can't be used. */
export async function startStandbyServer(
  { host, port, tls, pathPrefix }: ServerPlace,
  state: () => StandbyState,
): Promise<Pick<RunningServer, 'answer' | 'close'>> {
  const answer = (request: Request) => answerTo(pathBehind(pathPrefix, new URL(request.url).pathname), state());
  const server = serverFor(answer, tls);
  const connections = limitConnections(server, usualConnections);
  await listen(server, host, port);
  return { answer, close: () => close(server, new AbortController(), connections) };
}

const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };

function answerTo(path: string, state: StandbyState): Response {
  if (path === '/healthz') return new Response('ok\n', { headers: plain });
  if (path === '/readyz')
    return state.failure === null
      ? new Response(`standby: ${state.active} is active\n`, { headers: plain })
      : new Response(`not ready: this standby can't reach the store: ${state.failure}\n`, {
          status: 503,
          headers: plain,
        });
  if (path === '/metrics') return new Response(metrics, { headers: plain });
  const said = `This process stands by: ${state.active} is active.`;
  const advice = 'Nothing was done: run the command where that process runs, or with --url and a token.';
  const message = path.startsWith('/api/operations/') ? `${said} ${advice}` : said;
  if (/^\/(api|v1)\//.test(path)) return Response.json({ message }, { status: 503 });
  return new Response(`${message}\n`, { status: 503, headers: plain });
}

const metrics =
  '# HELP warmwarden_active Whether this process guards; 0: it stands by.\n# TYPE warmwarden_active gauge\nwarmwarden_active 0\n';
