// Operator commands: HTTP with JSON over a unix socket beside the store, for the owner of the process only.

import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { userInfo } from 'node:os';
import { getRequestListener } from '@hono/node-server';
import { failure, type Operate, succeeded } from '../core/operator-command.ts';

export function socketPathOf(storePath: string): string {
  return `${storePath}.sock`;
}

/** Longest path of a unix socket on Linux (108 bytes with the closing zero; macOS allows 104). */
const maxPathBytes = 103;
const maxBodyBytes = 64 * 1024;
/** Maximum number of connections; a further one is closed at once, since the guard needs files for its own requests. */
const maxSockets = 200;
/** Times in milliseconds after which an unfinished request is cut off. */
const limits = { headersTimeout: 10_000, requestTimeout: 30_000 };

interface JsonAnswer {
  readonly status: number;
  readonly body: object;
}

/** Requests that the socket answers besides operator commands. */
interface Questions {
  /**
   * Answers to GET /fleet, /history and /silences, as below /api over HTTP, and to /version; null if there is no such
   * answer.
   */
  readonly json: (name: string, query: URLSearchParams) => Promise<JsonAnswer | null>;
  /** Handler of everything below /v1. */
  readonly recipes: (request: Request) => Response | Promise<Response>;
}

export interface CommandSocket {
  close(): Promise<void>;
}

/**
 * Listens with mode 0600; `questions` answer anything that is not an operator command. Rejects with a sentence if the
 * path is too long or not available.
 */
export async function startCommandSocket(
  storePath: string,
  operate: Operate,
  questions: Questions,
): Promise<CommandSocket> {
  const path = socketPathOf(storePath);
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new Error(`${path} is too long for a unix socket: commands reach this daemon only with --url and a token.`);
  }
  // The store's lock is ours, so a socket at this path was left by a process that is gone.
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
  // The stream stays open although the body is too long: otherwise the response could not leave.
  for await (const piece of asked.iterator({ destroyOnReturn: false })) {
    bytes += piece.length;
    if (bytes > maxBodyBytes) throw new Error(`The request is larger than ${maxBodyBytes / 1_024} KiB.`);
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}

/** Name of the person at this machine, for the audit log: `uid 1000` if it has none, as in a container. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
