// Operator commands: HTTP with JSON over a unix socket beside the store, for the owner of the process only.
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import type { CommandOutcome, DaemonCommands } from '../model/operator-command.ts';
import { answerCommand, refusal } from './command-requests.ts';

/** A unix socket's path can't be longer on Linux (108 bytes with the closing zero; macOS takes 104). */
const maxPathBytes = 103;
const maxBodyBytes = 64 * 1024;
const startIt = 'Start it with `warmwarden run --config FILE`, or name the file of the running one with --config.';

/** Where the daemon of a store listens for operator commands. */
export function socketPathOf(storePath: string): string {
  return `${storePath}.sock`;
}

/** What the socket answers besides operator commands. */
export interface Questions {
  /** GET /fleet. */
  readonly fleet: (query: Readonly<Record<string, string>>) => object;
  /** Everything below /v1. */
  readonly recipes: (request: Request) => Response | Promise<Response>;
}

export interface CommandSocket {
  close(): Promise<void>;
}

/** Listens with mode 0600; `questions` answer what is not an operator command. Rejects with a sentence when the path is too long or can't be had. */
export async function startCommandSocket(
  storePath: string,
  commands: DaemonCommands,
  questions: Questions,
): Promise<CommandSocket> {
  const path = socketPathOf(storePath);
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new Error(`${path} is too long for a unix socket, so \`warmwarden release\` will not reach this daemon`);
  }
  // The store's lock is ours, so a socket that stands here was left by a process that is gone.
  if (existsSync(path)) rmSync(path);
  const answerRecipes = getRequestListener(questions.recipes, { overrideGlobalObjects: false });
  const server = createServer(async (asked, answer) => {
    if (asked.url?.startsWith('/v1/')) return answerRecipes(asked, answer);
    const say = (status: number, said: object) =>
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    try {
      const url = asked.method === 'GET' ? new URL(asked.url ?? '/', 'http://daemon') : null;
      if (url?.pathname === '/fleet') return void say(200, questions.fleet(Object.fromEntries(url.searchParams)));
      const outcome = await answerTo(asked, commands);
      say(outcome.done ? 200 : 409, outcome);
    } catch (error) {
      say(409, refusal(error));
    }
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

async function answerTo(asked: IncomingMessage, commands: DaemonCommands): Promise<CommandOutcome> {
  let bytes = 0;
  asked.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) asked.destroy();
  });
  const body: unknown = JSON.parse(await text(asked));
  return answerCommand(asked.url?.slice(1) ?? '', body, commands);
}

/** Whether a daemon listens there at this moment. */
export function daemonListens(storePath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPathOf(storePath));
    const over = (listens: boolean) => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => over(true)).once('error', () => over(false));
  });
}

type RequestOf<Name extends keyof DaemonCommands> = Parameters<DaemonCommands[Name]>[0];

/** Where a daemon is asked: by the path of its store, through the socket beside it; or over HTTP with an operator's token. */
export type DaemonAddress = string | { readonly url: string; readonly token: string };

/** Asks a daemon. Rejects with a sentence when none answers there, or not as a daemon does. */
export function askDaemon<Name extends keyof DaemonCommands>(
  address: DaemonAddress,
  name: Name,
  fields: RequestOf<Name>,
): Promise<CommandOutcome> {
  return typeof address === 'string' ? askSocket(address, name, fields) : askUrl(address, name, fields);
}

function askSocket(storePath: string, name: string, fields: unknown): Promise<CommandOutcome> {
  const headers = { 'content-type': 'application/json' };
  const socketPath = socketPathOf(storePath);
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, method: 'POST', path: `/${name}`, headers }, (answer) => {
      void text(answer).then((said) => resolve(JSON.parse(said)), reject);
    });
    asking.once('error', () => reject(new Error(`No daemon answers at ${socketPath}. ${startIt}`)));
    asking.end(JSON.stringify(fields));
  });
}

async function askUrl(
  { url, token }: Exclude<DaemonAddress, string>,
  name: string,
  fields: unknown,
): Promise<CommandOutcome> {
  const at = `${url.replace(/\/+$/, '')}/api/operations/${name}`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const asked = { method: 'POST', headers, body: JSON.stringify(fields), redirect: 'error' } as const;
  const answer = await fetch(at, asked).catch(() => null);
  if (!answer) throw new Error(`No daemon answers at ${at}.`);
  if (answer.status === 401) throw new Error(`${at} does not know the token.`);
  const said: unknown = await answer.json().catch(() => null);
  if (!isOutcome(said)) throw new Error(`${at} answered ${answer.status}, and not as a daemon does.`);
  return said;
}

function isOutcome(answer: unknown): answer is CommandOutcome {
  const fields = typeof answer === 'object' && answer !== null ? answer : {};
  return 'done' in fields && 'said' in fields && Array.isArray(fields.said);
}

/** One page of the fleet as `GET /api/fleet` has it; null when no daemon answers. Rejects with a sentence when it is not allowed. */
export async function askFleet(address: DaemonAddress, page: number): Promise<unknown> {
  if (typeof address === 'string') return askSocketForFleet(address, page);
  const at = `${address.url.replace(/\/+$/, '')}/api/fleet?page=${page}`;
  const headers = { authorization: `Bearer ${address.token}` };
  const answer = await fetch(at, { headers, redirect: 'error' }).catch(() => null);
  if (!answer) return null;
  if (!answer.ok) throw new Error(`${at} answered ${answer.status}: is the token that of a viewer or an operator?`);
  return answer.json();
}

function askSocketForFleet(storePath: string, page: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: socketPathOf(storePath), path: `/fleet?page=${page}` }, (answer) => {
      text(answer).then((said) => resolve(JSON.parse(said)), reject);
    });
    asking.once('error', () => resolve(null));
    asking.end();
  });
}
