// The HTTP API over a unix socket beside the store, for the owner of the process only.

import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { userInfo } from 'node:os';
import { getRequestListener } from '@hono/node-server';

export function socketPathOf(storePath: string): string {
  return `${storePath}.sock`;
}

/** Longest path of a unix socket on Linux (108 bytes with the closing zero; macOS allows 104). */
const maxPathBytes = 103;
/** Maximum number of connections; a further one is closed at once, since the guard needs files for its own requests. */
const maxSockets = 200;
/** Times in milliseconds after which an unfinished request is cut off. */
const limits = { headersTimeout: 10_000, requestTimeout: 30_000 };

export interface CommandSocket {
  close(): Promise<void>;
}

/**
 * Listens with mode 0600; tells `answer` that the owner of the process asks. Rejects with a sentence if the path is too
 * long or not available.
 */
export async function startCommandSocket(
  storePath: string,
  answer: (request: Request, env: object) => Response | Promise<Response>,
): Promise<CommandSocket> {
  const path = socketPathOf(storePath);
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new Error(`${path} is too long for a unix socket: commands reach this daemon only with --url and a token.`);
  }
  // The store's lock is ours, so a socket at this path was left by a process that is gone.
  if (existsSync(path)) rmSync(path);
  const asOwner = getRequestListener((request, env) => answer(request, { ...env, isOwner: true }), {
    overrideGlobalObjects: false,
    hostname: 'localhost',
  });
  const server = createServer(limits, asOwner);
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

/** Name of the person at this machine, for the audit log: `uid 1000` if it has none, as in a container. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
