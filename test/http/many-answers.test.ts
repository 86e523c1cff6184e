// Many short answers at once, as after a pause of the process: they are not all read in one turn of the event loop.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAgent, exchange } from '../../src/api/http/exchange.ts';
import { Redactor } from '../../src/api/http/redactor.ts';

const [agents, requestsEach] = [5, 16];

test('answers that arrive at once are read one at a time', async () => {
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => {
    waiting.push(response);
    // All are there: they are answered in one go.
    if (waiting.length === agents * requestsEach) for (const one of waiting) one.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let [turn, counting] = [0, setImmediate(() => {})];
  const count = () => {
    turn += 1;
    counting = setImmediate(count);
  };
  count();
  const readIn = new Map<number, number>();
  const read = () => {
    readIn.set(turn, (readIn.get(turn) ?? 0) + 1);
    return { ok: true, value: true } as const;
  };
  const ask = { method: 'GET', baseUrl, path: '/v1/health', headers: {}, body: null, signal: null } as const;
  const redactor = new Redactor(null, []);
  const all = Array.from({ length: agents }, () => createAgent());
  const answers = await Promise.all(
    all.flatMap((agent) =>
      Array.from({ length: requestsEach }, () => exchange(agent, { ...ask, redactor }, Date.now, read)),
    ),
  );
  clearImmediate(counting);
  expect(answers.filter(({ result }) => result.ok)).toHaveLength(agents * requestsEach);
  // A count may see two turns as one.
  expect(Math.max(...readIn.values())).toBeLessThanOrEqual(2);
  await Promise.all(all.map((agent) => agent.destroy()));
  server.closeAllConnections();
  server.close();
});
