// Where the benchmark's daemon sends its alerts: a webhook that accepts everything.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Any secret will do: nobody checks the signature. */
const secret = `whsec_${Buffer.from('nobody checks this secret').toString('base64')}`;

export async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end('ok'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    /** The `alerts` section of a configuration that sends here. */
    alerts: { channels: [{ name: 'ops', type: 'webhook', url, secret, allow_http: true }] },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
