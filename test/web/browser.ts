// A browser as far as forms go: keeps its cookies, says where its forms stand, follows no redirect.
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { buffer } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends a request over HTTP or HTTPS, whose headers may be anything; not decompressed. */
export function sent(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
  body = '',
): Promise<Answer> {
  const send = url.startsWith('https:') ? requestTls : request;
  return new Promise((resolve, reject) => {
    const asked = send(url, { method, headers, rejectUnauthorized: false, agent: false }, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      buffer(answer).then((body) => resolve({ status, headers, body }), reject);
    });
    asked.on('error', reject).end(body);
  });
}

export interface Shown {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #base: string;
  readonly #extra: Readonly<Record<string, string>>;

  /** `extra`: headers that go along with every request, as from a proxy. */
  constructor(base: string, extra: Readonly<Record<string, string>> = {}) {
    this.#base = base;
    this.#extra = extra;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
    return this.#ask('GET', path, { 'sec-fetch-site': 'none', ...headers }, '');
  }

  /** Sends a form of a page of its own site, unless the headers say otherwise. */
  post(
    path: string,
    fields: Readonly<Record<string, string>> | URLSearchParams,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    return this.#ask('POST', path, { ...form, ...headers }, new URLSearchParams(fields).toString());
  }

  async #ask(method: string, path: string, headers: Readonly<Record<string, string>>, form: string): Promise<Shown> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const all = { accept: 'text/html', ...this.#extra, ...headers, ...(cookie === '' ? {} : { cookie }) };
    const { body, ...answer } = await sent(this.#base + path, all, method, form);
    this.#keep([answer.headers['set-cookie'] ?? []].flat());
    return { ...answer, text: body.toString() };
  }

  #keep(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
