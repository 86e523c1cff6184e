// A recipe service on loopback that plays what the document leaves open: other names, other words, late rows, lost answers.
import type { ServerResponse } from 'node:http';
import { type ReceivedRequest, startScripted } from '../api/scripted-server.ts';

/** What is sent back; a text body goes out as HTML. `lost` cuts the connection once the request was taken. */
export type Played =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | 'lost';

type Play = (request: ReceivedRequest) => Played | Promise<Played>;

const first = (played: Played): Play => {
  return () => played;
};

/** Well-behaved until a test replaces a part. */
export class RecipeHost implements AsyncDisposable {
  readonly key = 'rk_live_never_to_be_seen_0123456789';
  readonly taken: ReceivedRequest[];
  list: Play = first({
    status: 200,
    body: { recipes: [{ id: 'at-risk', title: 'At risk', description: 'Near it.' }] },
  });
  trigger: Play = first({ status: 202, body: { id: 'run-1', status: 'queued' } });
  run: Play = first({ status: 200, body: { id: 'run-1', status: 'succeeded', rows: [{ email: 'a@b.example' }] } });
  /** As most services: there is no such route. */
  cancel: Play = first({ status: 404, body: { error: 'no such path' } });
  readonly #server: Awaited<ReturnType<typeof startScripted>>;

  private constructor(server: Awaited<ReturnType<typeof startScripted>>) {
    this.#server = server;
    this.taken = server.received;
    server.script = (response, _, taken) => void this.#serve(response, taken);
  }

  /** Listens on a free port of loopback. */
  static async start(): Promise<RecipeHost> {
    return new RecipeHost(await startScripted());
  }

  /** As the document says, it ends with /v1. */
  get baseUrl(): string {
    return `${this.#server.url}/v1`;
  }

  /** The requests of one kind, oldest first. */
  of(method: 'GET' | 'POST', path: RegExp): readonly ReceivedRequest[] {
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
    return this.#server[Symbol.asyncDispose]();
  }

  async #serve(response: ServerResponse, taken: ReceivedRequest): Promise<void> {
    const played = await this.#play(taken);
    if (played === 'lost') return void response.destroy();
    const { status, body = '', headers = {} } = played;
    const html = typeof body === 'string';
    response.writeHead(status, { 'content-type': html ? 'text/html' : 'application/json', ...headers });
    response.end(html ? body : JSON.stringify(body));
  }

  #play(taken: ReceivedRequest): Played | Promise<Played> {
    if (taken.headers.authorization !== `Bearer ${this.key}`) return { status: 401, body: { error: 'no such key' } };
    if (taken.method === 'GET' && /^\/v1\/recipes(\?|$)/.test(taken.path)) return this.list(taken);
    if (taken.method === 'POST' && /^\/v1\/recipes\/[^/]+\/runs$/.test(taken.path)) return this.trigger(taken);
    if (taken.method === 'GET' && /^\/v1\/runs\/[^/]+$/.test(taken.path)) return this.run(taken);
    if (taken.method === 'POST' && /^\/v1\/runs\/[^/]+\/cancel$/.test(taken.path)) return this.cancel(taken);
    return { status: 404, body: { error: 'no such path' } };
  }
}
