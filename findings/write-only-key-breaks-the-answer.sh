#!/usr/bin/env bash
# One would expect: one schema serves request and answer: `required` binds a readOnly key in answers only, and a writeOnly key in requests only.
# What happens: openapi-python-client demands both everywhere. The right answer, without the writeOnly key, ends in a KeyError, and a request needs the
# id that the server has yet to give. openapi-typescript's types say the same, so a program may read a key that never comes; its option
# --read-write-markers tells them apart. Two schemas, one for each way, are read alike by all.
# Versions: openapi-python-client 0.29.1 (PyPI), openapi-typescript 7.13.0, typescript 5.9.3 (npm). Date: 2026-11-28.
# Source: OpenAPI 3.0.4, "Schema Object", readOnly and writeOnly: a required key takes effect on the one way only.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent openapi-typescript@7.13.0 typescript@5.9.3 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 ruff
cat >api.json <<'JSON'
{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/accounts": {"post": {"operationId": "create",
"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Account"}}}},
"responses": {"201": {"description": "made", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Account"}}}}}}}},
"components": {"schemas": {"Account": {"type": "object", "required": ["id", "name", "secret"], "properties": {
"id": {"type": "string", "readOnly": true}, "name": {"type": "string"}, "secret": {"type": "string", "writeOnly": true}}}}}}
JSON
PATH="$dir/py/bin:$PATH" openapi-python-client generate --path api.json --output-path client --meta none >/dev/null
cat >read.py <<'PY'
from client.models import Account
def show(what, make):
    try:
        print(f'Python, {what}: {make()}')
    except Exception as error:
        print(f'Python, {what}: {type(error).__name__}: {error}')
show('answer without secret', lambda: Account.from_dict({'id': '1', 'name': 'a'}))
show('request without id', lambda: Account(name='a', secret='s').to_dict())
PY
cat >use.ts <<'TS'
import type { paths } from './api.ts';
type Create = paths['/accounts']['post'];
export const request: NonNullable<Create['requestBody']>['content']['application/json'] = { name: 'a', secret: 's' };
export const length = (answer: Create['responses'][201]['content']['application/json']) => answer.secret.length;
TS
{
  py/bin/python read.py
  npx openapi-typescript api.json -o api.ts >/dev/null 2>&1
  echo 'TypeScript:'
  { npx tsc --noEmit --strict --allowImportingTsExtensions use.ts || true; } | sed -n 's/^use.ts(\([0-9]*\),.*error \(TS[0-9]*\): \(.*\)/line \1: \3/p'
} | tee seen
diff - seen <<'E2'
Python, answer without secret: KeyError: 'secret'
Python, request without id: TypeError: Account.__init__() missing 1 required positional argument: 'id'
TypeScript:
line 3: Property 'id' is missing in type '{ name: string; secret: string; }' but required in type '{ readonly id: string; name: string; secret: string; }'.
E2
