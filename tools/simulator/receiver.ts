// The demo's receiver: takes what Slack and a webhook would get, and hands it on as a person would see it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { readSlack, type SlackMessage } from './slack-message.ts';

/** A message as it arrived. */
export type Received =
  | ({ readonly kind: 'slack' } & SlackMessage)
  | {
      readonly kind: 'webhook';
      readonly type: string;
      readonly id: string;
      readonly signed: boolean;
      readonly bytes: number;
    };

export interface Receiver {
  /** Without a slash at the end; `/slack` and `/webhook` take messages. */
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free loopback port. */
export async function startReceiver(secret: string, received: (message: Received) => void): Promise<Receiver> {
  const verifier = new Webhook(secret);
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received(
      request.url === '/slack' ? { kind: 'slack', ...readSlack(body) } : readWebhook(body, request.headers, verifier),
    );
    response.end('ok');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Verifies the signature and its time stamp as any receiver would. */
function readWebhook(body: string, headers: NodeJS.Dict<string | string[]>, verifier: Webhook): Received {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  let signed = true;
  try {
    verifier.verify(body, given);
  } catch {
    signed = false;
  }
  const id = String(given['webhook-id']);
  return { kind: 'webhook', type: String(JSON.parse(body).type), id, signed, bytes: Buffer.byteLength(body) };
}
