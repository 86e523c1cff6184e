#!/usr/bin/env bash
# One would expect: a generated client sends a query as the document says: a list with `explode: false` as status=a,b and a `deepObject` as
# filter[tag]=x&filter[days]=7.
# What happens: openapi-python-client 0.29 knows neither. It repeats status, and puts the keys of the object beside the other parameters (tag=x&days=7),
# where they can meet a parameter of the same name. openapi-fetch has the types alone at run time: the object is right by its default, the list is
# repeated until somebody tells the client by hand. A server that splits at commas takes one status and answers 200 with the wrong rows.
# Versions: openapi-python-client 0.29.1 (PyPI), openapi-fetch 0.17.0 (npm). Date: 2026-11-28. Source: OpenAPI 3.1, "Style Values"; the releases of
# openapi-fetch (0.8.1) name the default.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent openapi-fetch@0.17.0 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 ruff
cat >api.json <<'JSON'
{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/rows": {"get": {"operationId": "rows", "parameters": [
{"name": "status", "in": "query", "style": "form", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
{"name": "filter", "in": "query", "style": "deepObject", "explode": true, "schema": {"type": "object",
"properties": {"tag": {"type": "string"}, "days": {"type": "integer"}}}}],
"responses": {"204": {"description": "done"}}}}}}
JSON
PATH="$dir/py/bin:$PATH" openapi-python-client generate --path api.json --output-path client --meta none >/dev/null
cat >echo.mjs <<'JS'
import { createServer } from 'node:http';
const server = createServer((request, response) => response.writeHead(204, { 'x-asked': decodeURIComponent(request.url) }).end());
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
JS
node echo.mjs >port & server=$!
until [ -s port ]; do sleep 0.1; done
cat >ask.py <<'PY'
import sys
from client import Client
from client.api.default import rows
from client.models import RowsFilter
response = rows.sync_detailed(client=Client(base_url=sys.argv[1]), status=['a', 'b'], filter_=RowsFilter(tag='x', days=7))
print('openapi-python-client:', response.headers['x-asked'])
PY
cat >ask.mjs <<'JS'
import createClient from 'openapi-fetch';
const query = { status: ['a', 'b'], filter: { tag: 'x', days: 7 } };
for (const [name, querySerializer] of [['as it is', undefined], ['told by hand', { array: { style: 'form', explode: false } }]]) {
  const { response } = await createClient({ baseUrl: process.argv[2], querySerializer }).GET('/rows', { params: { query } });
  console.log(`openapi-fetch, ${name}: ${response.headers.get('x-asked')}`);
}
JS
{ py/bin/python ask.py "http://127.0.0.1:$(cat port)"; node ask.mjs "http://127.0.0.1:$(cat port)"; } | tee seen
diff - seen <<'E2'
openapi-python-client: /rows?status=a&status=b&tag=x&days=7
openapi-fetch, as it is: /rows?status=a&status=b&filter[tag]=x&filter[days]=7
openapi-fetch, told by hand: /rows?status=a,b&filter[tag]=x&filter[days]=7
E2
