// A body that comes in several pieces is read whole.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAgent, exchange } from '../../src/api/http/exchange.ts';
import { Redactor } from '../../src/api/http/redactor.ts';

test.each([[['{"a":1}']], [['{"a"', ':1', '}']], [[]]])('the pieces %j are one body', async (pieces) => {
  const server = createServer(async (_request, response) => {
    response.flushHeaders();
    for (const piece of pieces) {
      response.write(piece);
      await sleep(20);
    }
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = createAgent();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = { baseUrl, path: '/v1/health', headers: {}, body: null, signal: null } as const;
  try {
    const redactor = new Redactor(null, []);
    const { result } = await exchange(agent, { ...ask, method: 'GET', redactor }, Date.now, ({ body }) => ({
      ok: true,
      value: body.toString(),
    }));
    expect(result).toEqual({ ok: true, value: pieces.join('') });
  } finally {
    await agent.destroy();
    server.close();
  }
});
