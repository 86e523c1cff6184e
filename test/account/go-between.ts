// A proxy in front of the simulator that meddles: swallows, breaks or delays what it is told to, and notes everything.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import type { Clock } from '../../src/world/world.ts';
import { startServer } from '../support/loopback.ts';

export interface PassedRequest {
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string;
}

/**
 * pass: as it is. swallow: a success that changes nothing. applied-cut: it is done, but the answer is lost. An object is
 * the answer; nothing is asked, or with `applied` it is done besides.
 */
export type Meddling =
  | 'pass'
  | 'swallow'
  | 'applied-cut'
  | 'cut'
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Record<string, string>;
      readonly applied?: true;
    };

export interface GoBetween extends AsyncDisposable {
  readonly url: string;
  readonly requests: PassedRequest[];
  /** May be replaced at any time; sees each request before it is passed on. */
  meddle: (request: PassedRequest) => Meddling | Promise<Meddling>;
}

const passedOn = ['authorization', 'content-type'];

export async function startGoBetween(target: string, clock: Clock): Promise<GoBetween> {
  const server = await startServer((incoming, response) => void serve(incoming, response));
  const between: GoBetween = { ...server, requests: [], meddle: () => 'pass' };

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(incoming);
    const { method = 'GET', url: path = '/' } = incoming;
    const passed = { at: clock.now(), method, path, body };
    between.requests.push(passed);
    const meddling = await between.meddle(passed);
    if (meddling === 'cut') return void response.destroy();
    if (meddling === 'swallow') return say(response, 200, { success: true, message: 'done' });
    const instead = typeof meddling === 'object' ? meddling : null;
    if (instead && !instead.applied) return say(response, instead.status, instead.body, instead.headers);
    const answer = await request(target + path, {
      method: method as 'GET' | 'POST',
      headers: Object.fromEntries(
        passedOn.flatMap((name) => [incoming.headers[name] ?? []].flat().map((value) => [name, value])),
      ),
      body: passed.body === '' ? null : passed.body,
    });
    const said = await answer.body.text();
    if (instead) return say(response, instead.status, instead.body, instead.headers);
    if (meddling === 'applied-cut') return void response.destroy();
    const headers = Object.entries(answer.headers).filter(([name]) => /^(content-type|retry-after|x-rate)/.test(name));
    response.writeHead(answer.statusCode, Object.fromEntries(headers)).end(said);
  }

  return between;
}

function say(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
