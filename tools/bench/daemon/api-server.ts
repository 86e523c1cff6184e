// A child of the benchmarks of the whole daemon: the API over a fleet that goes on sending. It counts what each asker reads.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Route } from '../../../src/core/answers.ts';
import type { Answered, ApiOrder } from './api.ts';
import { Bodies, type FleetShape } from './bodies.ts';

const shape = JSON.parse(process.argv[2] ?? '{}') as FleetShape;
const limits = { 'x-ratelimit-limit': '1000000', 'x-ratelimit-remaining': '999999' };

interface Asker {
  readonly bodies: Bodies;
  readonly polls: Partial<Record<Route, number>>;
}

/** By the first part of the path: /daemon/v1/stats, /exporter/v1/stats. */
const askers = new Map<string, Asker>();

function askerOf(name: string): Asker {
  const known = askers.get(name);
  if (known) return known;
  const asker = { bodies: new Bodies(shape), polls: {} };
  askers.set(name, asker);
  return asker;
}

function answer(url: string, key: string, response: ServerResponse): void {
  const [path = '', query = ''] = url.split('?', 2);
  const [, name = '', , what = '', id] = path.split('/');
  const asker = askerOf(name);
  const route = id === undefined ? (what as Route) : 'mailbox';
  const body = bodyOf(asker.bodies, route, id ?? query.slice('mailbox_id='.length).split('&', 1)[0] ?? '', key, query);
  if (body === null) {
    response.writeHead(404, limits).end('{"error":"not found"}');
    return;
  }
  asker.polls[route] = (asker.polls[route] ?? 0) + 1;
  // Every body is ASCII, so its letters are its bytes.
  const headers = { 'content-type': 'application/json', 'content-length': body.length, ...limits };
  response.writeHead(200, headers).end(body, 'latin1');
}

function bodyOf(bodies: Bodies, route: Route, id: string, key: string, query: string): string | null {
  if (route === 'health') return bodies.health();
  // The key ends with the number of its account.
  if (route === 'mailboxes') return bodies.list(Number(key.split('_').at(-1)));
  return bodies.ofMailbox(route, id, query.includes('refresh=true'));
}

const server = createServer((request, response) => {
  if (request.method === 'GET') answer(request.url ?? '', request.headers.authorization ?? '', response);
  else request.resume().on('end', () => response.writeHead(200, limits).end('{"success":true,"message":"done"}'));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', 4_096, () => process.send?.((server.address() as AddressInfo).port));

process.on('message', (order: ApiOrder) => {
  const asker = askerOf(order.asker);
  if (order.incident) asker.bodies.happens(order.incident);
  const notified: Answered = { polls: asker.polls, unread: asker.bodies.unread };
  process.send?.(notified);
});
process.on('disconnect', () => process.exit(0));
