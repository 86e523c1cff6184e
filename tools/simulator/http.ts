// The simulator's HTTP side: key, plan, rate limit, permission, then the route; every failure as {error}.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { World } from '../../src/world/world.ts';
import { type Administered, administer } from './admin.ts';
import { deliver, type Parcel } from './delivery.ts';
import type { Behaviour } from './fault.ts';
import { edit } from './faults.ts';
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

export interface HttpOptions extends Administered {
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
  readonly headers: Record<string, string | string[]>;
  /** Why the body of a POST can't be read. */
  unreadable?: unknown;
  body?: JsonObject;
}

/** A server that does not listen yet. */
export function createHttpServer(options: HttpOptions): Server {
  return createServer((request, response) => void serve(options, request, response));
}

async function serve(options: HttpOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const exchange: Exchange = { request, method: request.method ?? 'GET', headers: {} };
  const at = options.world.clock.now();
  const path = request.url ?? '/';
  if (path.startsWith('/admin/')) {
    const answer = await withRefusals(options, exchange, async () =>
      administer(options, request.method ?? '', path, await readBody(request)),
    );
    return deliver(response, parcelOf(exchange, answer), null);
  }
  const { answer, fault } = await withFaults(options, exchange);
  const { method, body } = exchange;
  options.onRequest({ at, method, path, status: answer.status, ...(body && { body: withoutPasswords(body) }) });
  deliver(response, parcelOf(exchange, answer), fault);
}

/** The answer, changed by the fault that the request meets; `fault` is what is left to do when it leaves. */
async function withFaults(
  options: HttpOptions,
  exchange: Exchange,
): Promise<{ answer: Answer; fault: Behaviour | null }> {
  const { method, request } = exchange;
  const { path, query } = target(request.url ?? '/');
  if (method === 'POST') await takeBody(exchange);
  const mailboxId = query.get('mailbox_id') ?? textOf(exchange.body?.['mailbox_id']);
  const fault = options.faults.meet({ method, path, mailboxId }, options.world.clock.now());
  const plain = () => withRefusals(options, exchange, () => answerTo(options, exchange));
  const done = { status: 200, body: { success: true, message: 'done' } };
  switch (fault?.do) {
    case 'answer':
      if (fault.applied) await plain();
      Object.assign(exchange.headers, fault.headers);
      return { answer: { status: fault.status, body: fault.body }, fault };
    case 'pretend':
      return { answer: done, fault };
    case 'late':
      void options.world.clock.sleep(fault.ms).then(plain);
      return { answer: done, fault };
    case 'cut':
      return { answer: fault.applied ? await plain() : { status: 0, body: {} }, fault };
    case 'edit': {
      const { status, body } = await plain();
      return { answer: { status, body: status === 200 ? edit(body as object, fault.edit) : body }, fault };
    }
    case 'freeze':
      return { answer: await options.faults.frozen(request.url ?? '/', plain), fault };
    default:
      return { answer: await plain(), fault };
  }
}

/** The body of a POST; what is wrong with it is said when its turn comes, after the key. */
async function takeBody(exchange: Exchange): Promise<void> {
  try {
    exchange.body = readJsonObject(await readBody(exchange.request));
  } catch (error) {
    exchange.unreadable = error;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

async function withRefusals(options: HttpOptions, exchange: Exchange, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) {
      Object.assign(exchange.headers, error.headers);
      return { status: error.status, body: { error: error.message } };
    }
    options.world.log.error({ err: error }, 'the simulator failed to answer');
    return { status: 500, body: { error: 'internal server error' } };
  }
}

/** A text that a fault says instead of JSON is a page, unless its headers say otherwise. */
function parcelOf({ headers }: Exchange, { status, body }: Answer): Parcel {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json; charset=utf-8';
  return { status, headers: { 'content-type': type, ...headers }, text };
}

async function answerTo(options: HttpOptions, exchange: Exchange): Promise<Answer> {
  const { request, method } = exchange;
  const { path, query } = target(request.url ?? '/');
  if (path === '/v1/health') {
    if (method !== 'GET' && method !== 'HEAD') throw wrongMethod(['GET']);
    return health(options.world.clock.now());
  }
  const caller = admit(options.callers, exchange);
  const route = options.router(path);
  if (!route) throw new Refusal(404, 'there is nothing at this path');
  const asked = method === 'HEAD' ? 'GET' : method;
  const handler = asked === 'GET' || asked === 'POST' ? route.methods[asked] : undefined;
  if (!handler) throw wrongMethod(Object.keys(route.methods));
  if (exchange.unreadable) throw exchange.unreadable;
  const answer = handler({ caller, query, id: route.id, body: exchange.body ?? {} });
  Object.assign(exchange.headers, answer.headers);
  return answer;
}

/** HEAD is GET without a body: the server leaves it out by itself. */
function wrongMethod(methods: readonly string[]): Refusal {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new Refusal(405, 'this path does not support the method', { allow });
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
