// A child of the poll benchmark: an API that answers every statistics request with the same seven days, kept alive.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs);
const stats = Array.from({ length: 7 }, (_, day) => ({
  date: new Date((today - 6 + day) * dayMs).toISOString().slice(0, 10),
  sent: 40,
  delivered: 39,
  opened: 25,
  replied: 12,
  bounced: day === 3 ? 1 : 0,
  spam_landed: 1,
  inbox_rate: '97.50',
  bounce_rate: '0.00',
  reply_rate: '30.00',
  health_score: '98.50',
}));

const body = JSON.stringify({ mailbox_id: 'a', period: '7d', stats });
const headers = {
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(body),
  'x-ratelimit-limit': '1000000',
  'x-ratelimit-remaining': '999999',
};

const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
