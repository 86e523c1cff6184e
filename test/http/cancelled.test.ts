// A request that somebody cancels: whatever they give as the reason, it is a failure of this request and of nothing else.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAgent, exchange } from '../../src/api/http/exchange.ts';
import { Redactor } from '../../src/api/http/redactor.ts';

// A client of MCP cancels with a text of its own.
test.each([undefined, 'enough', new Error('enough')])(
  'a request that is cancelled with %s is a failure',
  async (reason) => {
    const server = createServer((_, response) => void response.write('{'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [agent, stop] = [createAgent(), new AbortController()];
    server.once('request', () => setTimeout(() => stop.abort(reason), 50));
    const ask = { method: 'GET', baseUrl, path: '/', headers: {}, body: null, signal: stop.signal } as const;
    const answer = exchange(agent, { ...ask, redactor: new Redactor(null, []) }, Date.now, () => ({
      ok: true,
      value: 0,
    }));
    expect((await answer).result.ok).toBe(false);
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  },
);
