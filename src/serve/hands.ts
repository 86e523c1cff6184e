// People's hands: HTTP with JSON over a unix socket beside the store, for the owner of the process only.
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import type { HandOutcome, Hands } from '../model/hand.ts';

/** A unix socket's path can't be longer on Linux (108 bytes with the closing zero; macOS takes 104). */
const maxPathBytes = 103;
const maxBodyBytes = 64 * 1024;

/** Where the hands of a store's daemon are. */
function handsPath(storePath: string): string {
  return `${storePath}.sock`;
}

export interface HandsServer {
  close(): Promise<void>;
}

/** Listens with mode 0600. Rejects with a sentence when the path is too long or can't be had. */
export async function startHands(storePath: string, hands: Hands): Promise<HandsServer> {
  const path = handsPath(storePath);
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new Error(`${path} is too long for a unix socket, so \`warmwarden release\` will not reach this daemon`);
  }
  // The store's lock is ours, so a socket that stands here was left by a process that is gone.
  if (existsSync(path)) rmSync(path);
  const server = createServer(async (asked, answer) => {
    const outcome = await answerTo(asked, hands).catch((error: unknown) => refusal(error));
    answer.writeHead(outcome.done ? 200 : 409, { 'content-type': 'application/json' }).end(JSON.stringify(outcome));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return { close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function refusal(error: unknown): HandOutcome {
  return { done: false, said: [error instanceof Error ? error.message : String(error)] };
}

async function answerTo(asked: IncomingMessage, hands: Hands): Promise<HandOutcome> {
  let bytes = 0;
  asked.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) asked.destroy();
  });
  const body: unknown = JSON.parse(await text(asked));
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const word = (name: string) => (typeof fields[name] === 'string' && fields[name] !== '' ? fields[name] : null);
  const [mailbox, by, reason] = [word('mailbox'), word('by') ?? 'somebody', word('reason') ?? ''];
  switch (`${asked.method} ${asked.url}`) {
    case 'POST /release':
      return hands.release({ mailbox, by, reason });
    case 'POST /writes': {
      const forMs = typeof fields['forMs'] === 'number' ? fields['forMs'] : null;
      return hands.writes({ off: fields['off'] === true, account: word('account'), mailbox, forMs, by, reason });
    }
    default:
      return { done: false, said: ['This daemon has no such hand.'] };
  }
}

type Wish<Hand extends keyof Hands> = Parameters<Hands[Hand]>[0];

/** Asks the daemon of a store. Rejects with a sentence when none answers there. */
export function askDaemon<Hand extends keyof Hands>(
  storePath: string,
  hand: Hand,
  wish: Wish<Hand>,
): Promise<HandOutcome> {
  const headers = { 'content-type': 'application/json' };
  const socketPath = handsPath(storePath);
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, method: 'POST', path: `/${hand}`, headers }, (answer) => {
      void text(answer).then((said) => resolve(JSON.parse(said)), reject);
    });
    asking.once('error', () => reject(new Error(`No daemon answers at ${socketPath}: is it running on this store?`)));
    asking.end(JSON.stringify(wish));
  });
}
