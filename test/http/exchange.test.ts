// One request and its answer: cancelled, many at once, and at the path that is asked for.
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { exchange, HttpAgent } from '../../src/api/http/exchange.ts';
import { Redactor } from '../../src/api/http/redactor.ts';
import { startServer } from '../support/loopback.ts';

const redactor = new Redactor(null, []);
const get = { method: 'GET', path: '/v1/health', headers: {}, body: null, signal: null, redactor } as const;
const read = ({ body }: { readonly body: Buffer }) => ({ ok: true, value: body.toString() }) as const;

async function listening(listener: RequestListener) {
  const server = await startServer(listener);
  const agent = new HttpAgent();
  const end = async () => {
    await agent.destroy();
    await server[Symbol.asyncDispose]();
  };
  return { agent, baseUrl: server.url, [Symbol.asyncDispose]: end };
}

// A client of MCP cancels with a text of its own.
test.each([undefined, 'enough', new Error('enough')])(
  'a request that is cancelled with %s is a failure',
  async (reason) => {
    const stop = new AbortController();
    await using server = await listening((_, response) => {
      response.write('{');
      setTimeout(() => stop.abort(reason), 50);
    });
    const { baseUrl } = server;
    const answer = await exchange(server.agent, { ...get, baseUrl, signal: stop.signal }, Date.now, read);
    expect(answer.result.ok).toBe(false);
  },
);

const bases = ['', '/api', '/api/v2', '/a/..', '/a/.', '/with%20blank', '/a?key=1', '/a#part', '/ä'];
const paths = [
  '/v1/mailboxes',
  '/v1/stats?mailbox_id=00000000-0000-4000-8000-0000000000aa&days=30',
  '/v1/mailboxes/..',
  '/v1/mailboxes/%2e%2e',
  `/v1/mailboxes/${encodeURIComponent("a.b'ü/c")}`,
  '/v1/health',
];

test.each(bases)('each path below %j is asked for as a URL has it', async (base) => {
  const asked: string[] = [];
  await using server = await listening((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  const baseUrl = `${server.baseUrl}${base}`;
  const wanted = [...paths, ...paths];
  for (const path of wanted) await exchange(server.agent, { ...get, baseUrl, path }, Date.now, read);
  const urls = wanted.map((path) => new URL(`${baseUrl}${path}`));
  expect(asked).toEqual(urls.map(({ pathname, search }) => `${pathname}${search}`));
});
