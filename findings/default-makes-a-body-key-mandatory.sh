#!/usr/bin/env bash
# One would expect: a key of a request body that is not in `required` may be left out, and one with a `default` all the more.
# What happens: openapi-typescript makes a key with a default mandatory in its types, in bodies as in answers, so openapi-fetch does not compile a
# request without it. A default is thus a breaking change for TypeScript; --default-non-nullable=false ends it, and openapi-python-client reads the
# same document as meant.
# Versions: openapi-typescript 7.13.0, typescript 5.9.3 (npm), openapi-python-client 0.29.1 (PyPI). Date: 2026-11-28.
# Source: OpenAPI 3.1, "Schema Object": a default documents what the receiver takes for an absent value.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent openapi-typescript@7.13.0 typescript@5.9.3 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 ruff
cat >api.json <<'JSON'
{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {}, "components": {"schemas": {"Body": {"type": "object",
"properties": {"plain": {"type": "boolean"}, "usual": {"type": "boolean", "default": false}}}}}}
JSON
{
  for option in true false; do
    npx openapi-typescript api.json --default-non-nullable=$option -o api.ts >/dev/null 2>&1
    echo "TypeScript, default-non-nullable=$option: $(grep -oE '(plain|usual)\??: boolean' api.ts | paste -sd,)"
  done
  sed 's|"paths": {}|"paths": {"/b": {"post": {"operationId": "send", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}}, "responses": {"204": {"description": "done"}}}}}|' api.json >routed.json
  PATH="$dir/py/bin:$PATH" openapi-python-client generate --path routed.json --output-path client --meta none >/dev/null
  echo "Python: $(grep -oE '^    (plain|usual): .*' client/models/body.py | paste -sd,)"
} | tee seen
diff - seen <<'E2'
TypeScript, default-non-nullable=true: plain?: boolean,usual: boolean
TypeScript, default-non-nullable=false: plain?: boolean,usual?: boolean
Python:     plain: bool | Unset = UNSET,    usual: bool | Unset = False
E2
