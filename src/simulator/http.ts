// The simulator's HTTP side: key, plan, rate limit, permission, then the route; every failure as {error}.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { World } from '../world.ts';
import { type JsonObject, readJsonObject } from './inputs.ts';
import { type Caller, callerOf } from './keys.ts';
import { Refusal } from './refusal.ts';
import { type Answer, health, type Router } from './routes.ts';

/** A request that was answered. */
export interface LoggedRequest {
  /** Fleet time of its arrival, epoch milliseconds. */
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  /** The JSON body of a POST, its passwords hidden. */
  readonly body?: JsonObject;
}

export interface HttpOptions {
  readonly world: World;
  readonly callers: readonly Caller[];
  readonly router: Router;
  /** Called once a request, before its answer leaves. */
  readonly onRequest: (request: LoggedRequest) => void;
}

const maxBodyBytes = 64 * 1024;

/** A request on its way through; headers and body gather as it gets on. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly headers: Record<string, string>;
  body?: JsonObject;
}

/** A server that does not listen yet. */
export function createHttpServer(options: HttpOptions): Server {
  return createServer((request, response) => void serve(options, request, response));
}

async function serve(options: HttpOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const exchange: Exchange = { request, method: request.method ?? 'GET', headers: {} };
  const at = options.world.clock.now();
  const answer = await answerTo(options, exchange).catch((error: unknown): Answer => {
    if (error instanceof Refusal) {
      Object.assign(exchange.headers, error.headers);
      return { status: error.status, body: { error: error.message } };
    }
    options.world.log.error({ err: error }, 'the simulator failed to answer');
    return { status: 500, body: { error: 'internal server error' } };
  });
  const { method, body } = exchange;
  options.onRequest({
    at,
    method,
    path: request.url ?? '/',
    status: answer.status,
    ...(body && { body: withoutPasswords(body) }),
  });
  const text = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...exchange.headers,
  });
  response.end(method === 'HEAD' ? undefined : text);
}

async function answerTo(options: HttpOptions, exchange: Exchange): Promise<Answer> {
  const { request, method } = exchange;
  const { path, query } = target(request.url ?? '/');
  if (path === '/v1/health' && method === 'GET') return health(options.world.clock.now());
  const caller = admit(options.callers, exchange);
  const route = options.router(path);
  if (!route) throw new Refusal(404, 'there is nothing at this path');
  const handler = method === 'GET' || method === 'POST' ? route.methods[method] : undefined;
  if (!handler) {
    throw new Refusal(405, 'this path does not know the method', { allow: Object.keys(route.methods).join(', ') });
  }
  if (method === 'POST') exchange.body = readJsonObject(await readBody(request));
  return handler({ caller, query, id: route.id, body: exchange.body ?? {} });
}

/** Throws a Refusal (401, 403, 429). Every request of a known key counts, also one that is refused for its plan. */
function admit(callers: readonly Caller[], { request, method, headers }: Exchange): Caller {
  const caller = callerOf(callers, request.headers.authorization);
  if (!caller) throw new Refusal(401, 'the API key is missing or invalid', { 'www-authenticate': 'Bearer' });
  const admission = caller.limiter.knock();
  headers['x-ratelimit-limit'] = String(admission.limit);
  headers['x-ratelimit-remaining'] = String(admission.remaining);
  if (!admission.admitted) {
    const retryAfter = String(admission.retryAfterSeconds);
    throw new Refusal(429, `too many requests: try again in ${retryAfter} s`, { 'retry-after': retryAfter });
  }
  if (caller.plan === 'free') throw new Refusal(403, 'API access needs the Pro or Enterprise plan');
  const permission = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  if (!caller.permissions.has(permission)) throw new Refusal(403, `the API key lacks the ${permission} permission`);
  return caller;
}

function target(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      // The rest is still read, and forgotten: a connection cut in the middle would hide the answer.
      if (bytes <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    throw new Refusal(400, 'the request body ended early');
  }
  if (bytes > maxBodyBytes) throw new Refusal(400, `the request body must not exceed ${maxBodyBytes} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

function withoutPasswords(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [field, field.endsWith('_pass') ? '[hidden]' : value]),
  );
}
