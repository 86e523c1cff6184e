// People's hands: HTTP with JSON over a unix socket beside the store, for the owner of the process only.
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { severities } from '../model/alert.ts';
import type { DaemonHands, HandOutcome } from '../model/hand.ts';
import { warmupModes } from '../model/policy.ts';

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
export async function startHands(storePath: string, hands: DaemonHands): Promise<HandsServer> {
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

async function answerTo(asked: IncomingMessage, hands: DaemonHands): Promise<HandOutcome> {
  let bytes = 0;
  asked.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) asked.destroy();
  });
  const body: unknown = JSON.parse(await text(asked));
  const hand = asked.method === 'POST' ? wishes[asked.url?.slice(1) ?? ''] : undefined;
  if (!hand) return { done: false, said: ['This daemon has no such hand.'] };
  const read = hand(body, hands);
  return (
    read ?? { done: false, said: ['The wish can not be read: is the command of another version than the daemon?'] }
  );
}

const asker = { by: z.string().default('somebody'), reason: z.string().default('') };
const globs = z.array(z.string()).optional();
const match = z.strictObject({
  severity: z.array(z.enum(severities)).optional(),
  account: globs,
  rule: globs,
  mailbox: globs,
  domain: globs,
});
const oneMailbox = z.object({ ...asker, mailbox: z.string(), preview: z.boolean().default(false) });

/** What each hand takes over the socket. */
const wishes: Readonly<Record<string, (body: unknown, hands: DaemonHands) => Promise<HandOutcome> | null>> = {
  release: reading(z.object({ ...asker, mailbox: z.string().nullable() }), (wish, hands) => hands.release(wish)),
  writes: reading(
    z.object({
      ...asker,
      off: z.boolean(),
      account: z.string().nullable(),
      mailbox: z.string().nullable(),
      forMs: z.number().nullable(),
    }),
    (wish, hands) => hands.writes(wish),
  ),
  pause: reading(oneMailbox, (wish, hands) => hands.pause(wish)),
  resume: reading(oneMailbox, (wish, hands) => hands.resume(wish)),
  mode: reading(oneMailbox.extend({ mode: z.enum(warmupModes) }), (wish, hands) => hands.mode(wish)),
  undo: reading(z.object({ ...asker, sinceMs: z.number(), preview: z.boolean().default(false) }), (wish, hands) =>
    hands.undo(wish),
  ),
  reload: reading(
    z.object({ by: asker.by, force: z.boolean().default(false), dryRun: z.boolean().default(false) }),
    (wish, hands) => hands.reload(wish),
  ),
  resend: reading(
    z.object({ ...asker, channel: z.string().nullable(), delivery: z.string().nullable() }),
    (wish, hands) => hands.resend(wish),
  ),
  refresh: reading(z.object({ ...asker, mailbox: z.string() }), (wish, hands) => hands.refresh(wish)),
  silence: reading(z.object({ ...asker, match, forMs: z.number().positive() }), (wish, hands) => hands.silence(wish)),
  endSilence: reading(z.object({ ...asker, id: z.string() }), (wish, hands) => hands.endSilence(wish)),
};

function reading<Shape extends z.ZodType>(
  shape: Shape,
  carryOut: (wish: z.infer<Shape>, hands: DaemonHands) => Promise<HandOutcome>,
): (body: unknown, hands: DaemonHands) => Promise<HandOutcome> | null {
  return (body, hands) => {
    const wish = shape.safeParse(body);
    return wish.success ? carryOut(wish.data, hands) : null;
  };
}

type Wish<Hand extends keyof DaemonHands> = Parameters<DaemonHands[Hand]>[0];

/** Asks the daemon of a store. Rejects with a sentence when none answers there. */
export function askDaemon<Hand extends keyof DaemonHands>(
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
