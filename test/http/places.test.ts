// The path that is asked for, whatever the address before it looks like, for the first request and for those after it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAgent, exchange } from '../../src/api/http/exchange.ts';
import { Redactor } from '../../src/api/http/redactor.ts';

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
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = createAgent();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`;
  const usual = { method: 'GET', headers: {}, body: null, signal: null, redactor: new Redactor(null, []) } as const;
  try {
    const wanted = [...paths, ...paths];
    for (const path of wanted) {
      const { status } = await exchange(agent, { ...usual, baseUrl, path }, Date.now, () => ({
        ok: true,
        value: null,
      }));
      expect(status).toBe(200);
    }
    const urls = wanted.map((path) => new URL(`${baseUrl}${path}`));
    expect(asked).toEqual(urls.map(({ pathname, search }) => `${pathname}${search}`));
  } finally {
    await agent.destroy();
    server.close();
  }
});
