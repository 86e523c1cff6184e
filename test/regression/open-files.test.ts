// A process that may open no more files once said that the API does not answer, in the words of Node: "connect EMFILE ... undefined".
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { node, root } from '../support/process.ts';

/** Uses up the files that it may open, and sends a request. */
const crowded = `
import { openSync } from 'node:fs';
import { createAgent, exchange } from '${root}src/api/http/exchange.ts';
import { Redactor } from '${root}src/api/http/redactor.ts';
try { for (;;) openSync('/dev/null'); } catch {}
const ask = { method: 'POST', baseUrl: process.argv[1], path: '/', headers: {}, body: '{}', signal: null, redactor: new Redactor('', []) };
const { result, reached } = await exchange(createAgent(), ask, Date.now, () => ({ ok: true, value: null }));
process.stdout.write(JSON.stringify({ ...result.failure, reached }));
process.exit(0);
`;

test('a connection for which no file is left names the limit and what raises it, and was surely not sent', async () => {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limited = 'ulimit -n 60 && exec "$0" --input-type=module -e "$1" -- "$2"';
  const { stdout } = await promisify(execFile)('bash', ['-c', limited, node, crowded, url]);
  server.close();
  const detail = `${url}: Warmwarden has as many open files as its limit allows; raise it (LimitNOFILE= in systemd, or ulimit -n)`;
  expect(JSON.parse(stdout)).toEqual({ kind: 'unavailable', status: null, detail, retryAfterMs: null, reached: false });
});
