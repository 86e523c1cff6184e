// A server on loopback that answers as the test says, and a client that asks it.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { ApiClient, type ClientOptions } from '../../src/api/client.ts';
import type { RequestCount } from '../../src/core/mailbox.ts';
import { noTally } from '../../src/core/records.ts';
import type { Clock } from '../../src/world/world.ts';
import { type MovedClock, movedClock } from '../../tools/simulator/moved-clock.ts';
import { ending } from '../support/ending.ts';
import { startServer } from '../support/loopback.ts';
import { expectNoSleepers } from '../support/sleepers.ts';

export const key = 'sk_live_never_to_be_seen_0123456789';
export const start = Date.UTC(2026, 2, 10, 8, 30);

export type Script = (response: ServerResponse, request: IncomingMessage, received: ReceivedRequest) => void;

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers with this status, body and headers; an object body as JSON. */
export function answer(status: number, body: unknown, headers: Record<string, string | string[]> = {}): Script {
  const json = typeof body !== 'string';
  return (response) => {
    response.writeHead(status, { 'content-type': json ? 'application/json' : 'text/html', ...headers });
    response.end(json ? JSON.stringify(body) : body);
  };
}

/** `script` may be replaced at any time; `received` holds what was asked. */
export async function startScripted(script: Script = answer(200, {})) {
  const received: ReceivedRequest[] = [];
  const scripted = { script };
  const server = await startServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const asked = { method, path: url, headers, body: await text(request) };
    received.push(asked);
    scripted.script(response, request, asked);
  });
  return Object.assign(scripted, { ...server, received });
}

/** A client of `url` on a moved clock, with the requests that it counted and the warnings that it said. */
export function clientOf<On extends Clock = MovedClock>(
  url: string,
  options: Partial<ClientOptions> = {},
  clock: On = movedClock(start) as Clock as On,
) {
  const counted: RequestCount[] = [];
  const tally = { ...noTally, request: (count: RequestCount) => void counted.push(count) };
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
  const world = { clock, random: () => 0.5, log };
  const usual = { account: 'acme', baseUrl: url, apiKey: key, requestsPerMinute: 100, headroomPpm: 100_000 };
  const api = new ApiClient({ ...usual, ...options }, world, tally);
  const end = async () => {
    await api.close();
    expectNoSleepers(clock);
  };
  return { api, clock, counted, said, [Symbol.asyncDispose]: end };
}

/** One of each kind, about a mailbox. */
export const questions = {
  health: (api: ApiClient) => api.health(),
  mailboxes: (api: ApiClient) => api.mailboxes(),
  mailbox: (api: ApiClient, id: string) => api.mailbox(id),
  warmup: (api: ApiClient, id: string) => api.warmup(id),
  stats: (api: ApiClient, id: string) => api.stats(id, 7),
  dns: (api: ApiClient, id: string) => api.dns(id),
  blacklist: (api: ApiClient, id: string) => api.blacklist(id),
};
export type Question = keyof typeof questions;

/** A client of a server that answers so. */
export async function askScripted(script?: Script, options: Partial<ClientOptions> = {}) {
  const server = await startScripted(script);
  const client = clientOf(server.url, options);
  return { ...client, server, ...ending(client, server) };
}
