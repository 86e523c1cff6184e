// A recipe service on loopback that plays what the document leaves open: other names, other words, late rows, lost answers.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { close, listen, urlOf } from './loopback.ts';

/** What is sent back; a text body goes out as HTML. `lost` cuts the connection once the request was taken. */
export type Played =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | 'lost';

export interface TakenRequest {
  readonly method: string;
  /** Path and query, as they came. */
  readonly path: string;
  readonly authorization: string | null;
  readonly body: string;
}

type Play = (request: TakenRequest) => Played | Promise<Played>;

const first = (played: Played): Play => {
  return () => played;
};

/** Well-behaved until a test replaces a part. */
export class RecipeHost implements AsyncDisposable {
  readonly key = 'rk_live_never_to_be_seen_0123456789';
  readonly taken: TakenRequest[] = [];
  list: Play = first({
    status: 200,
    body: { recipes: [{ id: 'at-risk', title: 'At risk', description: 'Near it.' }] },
  });
  trigger: Play = first({ status: 202, body: { id: 'run-1', status: 'queued' } });
  run: Play = first({ status: 200, body: { id: 'run-1', status: 'succeeded', rows: [{ email: 'a@b.example' }] } });
  /** As most services: there is no such route. */
  cancel: Play = first({ status: 404, body: { error: 'no such path' } });
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  /** Listens on a free port of loopback. */
  static async start(): Promise<RecipeHost> {
    const host = new RecipeHost();
    await listen(host.#server);
    return host;
  }

  /** As the document says, it ends with /v1. */
  get baseUrl(): string {
    return `${urlOf(this.#server)}/v1`;
  }

  /** The requests of one kind, oldest first. */
  of(method: 'GET' | 'POST', path: RegExp): readonly TakenRequest[] {
    return this.taken.filter((request) => request.method === method && path.test(request.path));
  }

  /** Answers in turn; the last one is repeated. */
  static inTurn(...plays: readonly Played[]): Play {
    let next = 0;
    return () => {
      const played = plays[Math.min(next, plays.length - 1)];
      next += 1;
      return played ?? { status: 500 };
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return close(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const taken: TakenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization ?? null,
      body: await text(request),
    };
    this.taken.push(taken);
    const played = await this.#play(taken);
    if (played === 'lost') {
      request.socket.destroy();
      return;
    }
    const { status, body = '', headers = {} } = played;
    const html = typeof body === 'string';
    response.writeHead(status, { 'content-type': html ? 'text/html' : 'application/json', ...headers });
    response.end(html ? body : JSON.stringify(body));
  }

  #play(taken: TakenRequest): Played | Promise<Played> {
    if (taken.authorization !== `Bearer ${this.key}`) return { status: 401, body: { error: 'no such key' } };
    if (taken.method === 'GET' && /^\/v1\/recipes(\?|$)/.test(taken.path)) return this.list(taken);
    if (taken.method === 'POST' && /^\/v1\/recipes\/[^/]+\/runs$/.test(taken.path)) return this.trigger(taken);
    if (taken.method === 'GET' && /^\/v1\/runs\/[^/]+$/.test(taken.path)) return this.run(taken);
    if (taken.method === 'POST' && /^\/v1\/runs\/[^/]+\/cancel$/.test(taken.path)) return this.cancel(taken);
    return { status: 404, body: { error: 'no such path' } };
  }
}
