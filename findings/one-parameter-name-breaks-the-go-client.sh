#!/usr/bin/env bash
# One would expect: a generator of Go clients makes code that compiles from any valid document, whatever its parameters are called.
# What happens: ogen names the enum of a query parameter after the route and the parameter, and each route has a constant of its own whose name ends
# with Operation. A parameter called `operation` with an enum is declared twice: ogen succeeds, and the compiler refuses. Called `kind`, it compiles;
# `x-ogen-name` on the schema of the parameter helps, too.
# Versions: ogen 1.25.0 (Go module github.com/ogen-go/ogen), Go 1.26. Date: 2026-11-28. Source: the documentation of ogen names no such word.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
GOBIN="$dir/bin" go install github.com/ogen-go/ogen/cmd/ogen@v1.25.0 2>/dev/null
for case in kind: operation: 'operation:, "x-ogen-name": "Wanted"'; do
  name=${case%%:*}
  rm -rf client && mkdir client
  cat >api.json <<JSON
{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/history": {"get": {"operationId": "listHistory",
"parameters": [{"name": "$name", "in": "query", "schema": {"type": "string", "enum": ["pause", "resume"]${case#*:}}}],
"responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "string"}}}}}}}}}
JSON
  bin/ogen --target client --package client --clean api.json >/dev/null 2>&1 && generated=yes || generated=no
  (
    cd client
    go mod init client && go mod tidy
  ) >/dev/null 2>&1
  error=$(cd client && go build . 2>&1 | grep -o '[A-Za-z]* redeclared' || true)
  echo "$case generated: $generated, compiler: ${error:-no complaint}"
done | tee seen
diff - seen <<'E2'
kind: generated: yes, compiler: no complaint
operation: generated: yes, compiler: ListHistoryOperation redeclared
operation:, "x-ogen-name": "Wanted" generated: yes, compiler: no complaint
E2
