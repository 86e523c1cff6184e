// Operator commands: HTTP with JSON over a unix socket beside the store, for the owner of the process only.

import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { succeeded } from '../core/operator-command.ts';
import type { Operate } from './command-requests.ts';
import { failure } from './plan.ts';

export function socketPathOf(storePath: string): string {
  return `${storePath}.sock`;
}

/** A unix socket's path can't be longer on Linux (108 bytes with the closing zero; macOS takes 104). */
const maxPathBytes = 103;
const maxBodyBytes = 64 * 1024;
/** A further one is closed at once: the guard needs files for its own requests. */
const maxSockets = 200;
/** A request that trickles in is cut after these. */
const limits = { headersTimeout: 10_000, requestTimeout: 30_000 };

/** A body with its status. */
interface JsonAnswer {
  readonly status: number;
  readonly body: object;
}

/** What the socket answers besides operator commands. */
interface Questions {
  /** GET /fleet, /history, /silences: as below /api over HTTP; /version. null: there is no such answer. */
  readonly json: (name: string, query: URLSearchParams) => Promise<JsonAnswer | null>;
  /** Everything below /v1. */
  readonly recipes: (request: Request) => Response | Promise<Response>;
}

export interface CommandSocket {
  close(): Promise<void>;
}

/** Listens with mode 0600; `questions` answer what is not an operator command. Rejects with a sentence when the path is too long or can't be had. */
export async function startCommandSocket(
  storePath: string,
  operate: Operate,
  questions: Questions,
): Promise<CommandSocket> {
  const path = socketPathOf(storePath);
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new Error(`${path} is too long for a unix socket: commands reach this daemon only with --url and a token.`);
  }
  // The store's lock is ours, so a socket that stands here was left by a process that is gone.
  if (existsSync(path)) rmSync(path);
  const answerRecipes = getRequestListener(questions.recipes, { overrideGlobalObjects: false });
  const server = createServer(limits, async (asked, answer) => {
    if (asked.url?.startsWith('/v1/')) return answerRecipes(asked, answer);
    const say = (status: number, said: object) =>
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    try {
      const url = asked.method === 'GET' ? new URL(asked.url ?? '/', 'http://daemon') : null;
      const answered = url && (await questions.json(url.pathname.slice(1), url.searchParams));
      if (answered) return void say(answered.status, answered.body);
      const outcome = await operate(asked.url?.slice(1) ?? '', await bodyOf(asked));
      say(succeeded(outcome) ? 200 : 409, outcome);
    } catch (error) {
      say(409, failure(error));
    }
  });
  server.maxConnections = maxSockets;
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

async function bodyOf(asked: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is too long: the answer would have no way out.
  for await (const piece of asked.iterator({ destroyOnReturn: false })) {
    bytes += piece.length;
    if (bytes > maxBodyBytes) throw new Error(`The request is larger than ${maxBodyBytes / 1_024} KiB.`);
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}
