#!/usr/bin/env bash
# One would expect: a library that looks into blocklists by DNS knows the answers that mean "you may not ask": 127.255.255.254 (asked through a public
# resolver) and 127.255.255.255 (asked too often) of Spamhaus, who forbid to read them as a listing since 2019.
# What happens: three libraries take any address for a listing. pydnsbl knows the codes of this very list, and files the refusal under "unknown".
# So every address is listed as soon as a container resolves through a public resolver: a monitor sees a whole fleet blocked at once.
# Versions: pydnsbl 1.1.7, aiodnsbl 1.0.0 (PyPI), dnsbl 4.0.3 (npm), whose default servers are public resolvers. Date: 2026-11-28.
# Source: Spamhaus' return codes for errors, 127.255.255.0/24; RFC 5782, 2.1 leaves the meaning of each address to the list.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent dnsbl@4.0.3 >/dev/null
python3 -m venv py
# pydnsbl asks through a call that aiodns 4 deprecates.
py/bin/pip install --quiet --disable-pip-version-check pydnsbl==1.1.7 aiodnsbl==1.0.0 aiodns==3.6.1 pycares==4.11.0
cat >refuse.mjs <<'JS'
import dgram from 'node:dgram';
// A DNS server that answers each question for an address with 127.255.255.254.
const server = dgram.createSocket('udp4');
server.on('message', (query, { port, address }) => {
  let end = 12;
  while (query[end]) end += query[end] + 1;
  const header = Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])]);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 255, 255, 254]);
  server.send(Buffer.concat([header, query.subarray(12, end + 5), answer]), port, address);
});
server.bind(0, '127.0.0.1', () => console.log(server.address().port));
JS
node refuse.mjs >port & server=$!
until [ -s port ]; do sleep 0.1; done
cat >ask.mjs <<'JS'
import { lookup } from 'dnsbl';
console.log('dnsbl: listed', await lookup('192.0.2.7', 'zen.spamhaus.org', { servers: [`127.0.0.1:${process.argv[2]}`] }));
JS
cat >ask.py <<'PY'
import asyncio, sys
import aiodns, aiodnsbl, pydnsbl
from aiodnsbl.providers import Provider
from pydnsbl.providers import ZenSpamhaus

async def ask():
    loop = asyncio.get_running_loop()
    first = pydnsbl.DNSBLIpChecker(providers=[ZenSpamhaus()], loop=loop)
    second = aiodnsbl.DNSBLChecker(providers=[Provider(host='zen.spamhaus.org')])
    for checker in (first, second):
        checker._resolver = aiodns.DNSResolver(nameservers=['127.0.0.1'], udp_port=int(sys.argv[1]), loop=loop)
    result = await first.check_async('192.0.2.7')
    print('pydnsbl: listed', result.blacklisted, result.detected_by, 'failed', result.failed_providers)
    result = await second.check('192.0.2.7')
    print('aiodnsbl: listed', result.blacklisted, 'failed', result.failed_providers)
asyncio.run(ask())
PY
{ node ask.mjs "$(cat port)"; py/bin/python -W ignore ask.py "$(cat port)"; } | tee seen
diff - seen <<'E2'
dnsbl: listed true
pydnsbl: listed True {'zen.spamhaus.org': ['unknown']} failed []
aiodnsbl: listed True failed []
E2
