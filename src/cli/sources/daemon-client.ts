// The running daemon, asked from outside: over the socket beside its store, or over HTTP with a token.

import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { isLoopback } from '../../core/egress.ts';
import type { CommandOutcome } from '../../core/operator-command.ts';
import { pathOf, type StorePlace } from '../../core/store-failure.ts';
import type { OperationBody, OperationName } from '../../operations/command-requests.ts';
import { socketPathOf } from '../../operations/socket.ts';
import { asItsUser } from '../../store/file/place.ts';
import { commandName } from '../../world/command-name.ts';
import { configOption, type JsonOptions, jsonOption, printJson } from '../options.ts';
import { CommandError, exitDone } from '../terminal/command-error.ts';
import { onScreen } from '../terminal/outputs.ts';
import { askUrl, type UrlAnswer } from './daemon-url.ts';
import { findDaemon } from './loading.ts';
import { NoDaemonError, NoSocketError, SilentDaemonError, signOfLifeWithinMs, whileAlive } from './sign-of-life.ts';
import { silenceAdvice } from './silence-advice.ts';

// The socket beside a store: whether a daemon lives behind it, and one request to it, which ends when the daemon falls silent.

// An import of it would load a WebSocket, too: a tenth of the start of a command.
const { request } = process.getBuiltinModule('node:http');

/** A usual start takes less. */
const startsWithinMs = 5_000;
const lookAgainMs = 100;

/**
 * Whether a daemon listens there, now or as soon as it has started: one that has just begun to start is waited for. Rejects with
 * a SilentDaemonError when one listens and does not answer.
 */
export async function daemonListens(storePath: string): Promise<boolean> {
  if (await answers(storePath)) return true;
  const { starterOf } = await import('../../store/file/lock.ts');
  const { systemClock } = await import('../../world/world.ts');
  const clock = systemClock();
  const until = clock.monotonic() + startsWithinMs;
  while (clock.monotonic() < until && starterOf(storePath, clock.now()) !== null) {
    await clock.sleep(lookAgainMs);
    if (await answers(storePath)) return true;
  }
  return false;
}

async function answers(storePath: string): Promise<boolean> {
  const now = await signNow(storePath);
  if (now === 'silent')
    throw await silence(storePath, `has not answered for ${signOfLifeWithinMs / 1_000} s. Nothing was changed.`);
  return now === 'answers';
}

/** Any answer is a sign of life. */
async function signNow(storePath: string): Promise<'answers' | 'silent' | 'absent'> {
  const late = AbortSignal.timeout(signOfLifeWithinMs);
  const isAlive = await new Promise<boolean>((resolve) => {
    request({ socketPath: socketPathOf(storePath), path: '/version', agent: false, signal: late }, (answer) => {
      answer.destroy();
      resolve(true);
    })
      .on('error', () => resolve(false))
      .end();
  });
  if (isAlive) return 'answers';
  return late.aborted ? 'silent' : 'absent';
}

async function silence(storePath: string, said: string): Promise<SilentDaemonError> {
  const { livingHolder } = await import('../../store/file/lock.ts');
  const holder = livingHolder(storePath);
  const named = holder === null ? '' : ` (${holder})`;
  return new SilentDaemonError(`A daemon${named} has this store but ${said} ${silenceAdvice(holder)}`);
}

interface SocketRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON that is sent with a POST; a GET without one. */
  readonly body?: string;
}

/**
 * What the daemon beside a store answers. Rejects with a NoDaemonError: a SilentDaemonError when the daemon shows no sign of life,
 * before or while it is asked.
 */
export async function askSocket(place: StorePlace, asked: SocketRequest): Promise<UrlAnswer> {
  const storePath = pathOf(place);
  const unknown = `It may or may not have carried out the request: \`${commandName} history\` shows what it did.`;
  const signs = {
    isSilent: async () => (await signNow(storePath)) === 'silent',
    silence: () => silence(storePath, `stopped answering. ${unknown}`),
  };
  try {
    // Before anything is sent: a command is never repeated.
    await daemonListens(storePath);
    return await whileAlive((signal) => exchange(storePath, asked, signal), signs);
  } catch (error) {
    throw error instanceof SilentDaemonError ? error : await absenceAt(place, error);
  }
}

function exchange(storePath: string, asked: SocketRequest, signal: AbortSignal): Promise<UrlAnswer> {
  const { path, body } = asked;
  const socketPath = socketPathOf(storePath);
  const headers = { 'content-type': 'application/json', ...asked.headers };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, path, method, headers, signal }, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject);
    });
    asking.once('error', reject);
    asking.end(body);
  });
}

/** A daemon that is asked over HTTP, with a token if it has any. */
interface HttpAddress {
  readonly url: string;
  readonly token: string | null;
}

/** Has the token for an HttpAddress. */
const tokenVariable = 'WARMWARDEN_TOKEN';

/** Where a daemon is asked: by its store, through the socket beside it; or over HTTP. */
export type DaemonAddress = StorePlace | HttpAddress;

export function isHttp(address: DaemonAddress): address is HttpAddress {
  return typeof address === 'object' && 'url' in address;
}

/** A daemon answers, and does not accept the token. */
class UnauthorizedError extends Error {
  override readonly name = 'UnauthorizedError';
}

/** Asks a daemon to carry an operation out. Rejects with a NoDaemonError when none answers, or with a sentence when something else does. */
export async function askDaemon<Name extends OperationName>(
  address: DaemonAddress,
  name: Name,
  body: OperationBody<Name>,
): Promise<CommandOutcome> {
  const { at, status, answer } = isHttp(address)
    ? await overHttp(address, { path: `/api/operations/${name}`, body: JSON.stringify(body) })
    : await overSocket(address, { path: `/${name}`, body: JSON.stringify(body) });
  if (status === 401) throw unauthorizedAt(at, address, 'operator');
  if (isOutcome(answer)) return answer;
  if (isNoPage(answer)) throw noPageAt(at);
  const refused = messageOf(answer);
  if (refused !== null) return { result: 'failed', messages: [refused] };
  throw new Error(`${at} answered ${status}, but not like a Warmwarden daemon.`);
}

interface Answer {
  readonly at: string;
  readonly status: number;
  /** null: no JSON. */
  readonly answer: unknown;
}

async function overSocket(place: StorePlace, asked: SocketRequest): Promise<Answer> {
  const { status, said } = await askSocket(place, asked);
  return { at: socketPathOf(pathOf(place)), status, answer: jsonOf(said) };
}

/** Why the socket beside a store could not be used. */
async function absenceAt(place: StorePlace, error: unknown): Promise<NoDaemonError> {
  const storePath = pathOf(place);
  const socketPath = socketPathOf(storePath);
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'EACCES') return new NoDaemonError(`This user may not use the socket ${socketPath}: ${asItsUser}.`);
  const { livingHolder, starterOf } = await import('../../store/file/lock.ts');
  const { systemClock } = await import('../../world/world.ts');
  const starter = starterOf(storePath, systemClock().now());
  if (starter !== null)
    return new NoDaemonError(
      `Warmwarden is starting (${starter}), and accepts no commands yet. Try again in a moment. If that takes minutes, the end of its log says why.`,
    );
  if (livingHolder(storePath) !== null) return silence(storePath, 'does not answer.');
  const said = `${noneAnswers(place)}\n${startIt} A daemon with another configuration is asked with its --config: this command looked at ${socketPath}.`;
  return code === 'ENOENT' ? new NoSocketError(said) : new NoDaemonError(said);
}

/** On PostgreSQL a daemon on another machine may guard. */
function noneAnswers(place: StorePlace): string {
  if (typeof place === 'string') return 'No daemon answers: nothing is guarded.';
  return 'No daemon answers on this machine: unless one runs on another, nothing is guarded.';
}

const startIt = `Start it with \`${commandName} run --config FILE\`; \`${commandName} doctor --config FILE\` says what is wrong.`;

/** Rejects with a NoDaemonError. */
async function overHttp(
  address: HttpAddress,
  { path, body }: { readonly path: string; readonly body?: string },
): Promise<Answer> {
  const base = baseOf(address);
  const headers = { ...bearer(address.token), ...(body !== undefined && { 'content-type': 'application/json' }) };
  const answer = await askUrl(base, { path, headers, body }).catch((error) => {
    throw error instanceof SilentDaemonError ? error : noneAt(base);
  });
  return { at: `${base}${path}`, status: answer.status, answer: jsonOf(answer.said) };
}

export function noneAt(base: string): NoDaemonError {
  return new NoDaemonError(
    `No daemon answers at ${base}: unless it runs there, nothing is guarded. On that machine, \`${commandName} doctor\` says what is wrong.`,
  );
}

function baseOf({ url }: HttpAddress): string {
  return url.replace(/\/+$/, '');
}

function bearer(token: string | null): { readonly authorization?: string } {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

function jsonOf(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return null;
  }
}

function isOutcome(answer: unknown): answer is CommandOutcome {
  const fields = typeof answer === 'object' && answer !== null ? answer : {};
  return 'result' in fields && 'messages' in fields && Array.isArray(fields.messages);
}

/**
 * What `GET /api/NAME` answers, over the socket or over HTTP. Rejects with a NoDaemonError when no daemon answers, and with the
 * sentence that it refuses with: an UnknownNameError where the request names something that does not exist.
 */
export async function askFor(
  address: DaemonAddress,
  name: string,
  query: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const asks = new URLSearchParams(query);
  const path = asks.size > 0 ? `${name}?${asks}` : name;
  const { at, status, answer } = isHttp(address)
    ? await overHttp(address, { path: `/api/${path}` })
    : await overSocket(address, { path: `/${path}` });
  if (status === 200 && answer !== null) return answer;
  if (isNoPage(answer)) throw noPageAt(at);
  if (status === 400 && messageOf(answer) !== null) throw new CommandError('usage', messageOf(answer) ?? '');
  if (status === 404 && messageOf(answer) !== null) throw new UnknownNameError(messageOf(answer) ?? '');
  if (status === 401) throw unauthorizedAt(at, address, 'viewer or operator');
  if (status === 403)
    throw new UnauthorizedError(
      `${at} answered 403: put a token with the role viewer or operator into ${tokenVariable}.`,
    );
  throw new Error(messageOf(answer) ?? `${at} answered ${status}, but not like a Warmwarden daemon.`);
}

function unauthorizedAt(at: string, address: DaemonAddress, roles: string): UnauthorizedError {
  const said =
    isHttp(address) && address.token !== null
      ? `Unauthorized: ${at} does not know the token in ${tokenVariable}.`
      : `${at} answered 401: put a token with the role ${roles} into ${tokenVariable}.`;
  return new UnauthorizedError(said);
}

/** The request names a mailbox, say, that does not exist. */
export class UnknownNameError extends Error {
  override readonly name = 'UnknownNameError';
}

/** Whether a daemon answers there, but not at this path. */
export function isNoPage(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'error' in answer && answer.error === 'not_found';
}

export function noPageAt(at: string): UnknownNameError {
  return new UnknownNameError(`Nothing is served at ${at}: check the path in --url.`);
}

function messageOf(answer: unknown): string | null {
  const fields = typeof answer === 'object' && answer !== null ? answer : {};
  return 'message' in fields && typeof fields.message === 'string' ? fields.message : null;
}

// How a command finds the daemon that the configuration or the URL names, and how it prints an outcome.

/** How a command finds the daemon. */
export interface DaemonOptions extends JsonOptions {
  readonly config: string;
  readonly url?: string;
  /** See `findDaemon`. */
  readonly mayBeUsual?: boolean;
}

/** A command that reaches a running daemon. */
export function withDaemonOptions(command: Command): Command {
  return command
    .addOption(configOption())
    .option('--url <url>', `a daemon elsewhere, as https://HOST; its token is read from ${tokenVariable}`)
    .addOption(jsonOption());
}

/** Prints the outcome of what succeeded, and sets the exit code. Throws a CommandError with the sentences of what did not. */
export function report(outcome: CommandOutcome, { json = false }: JsonOptions): void {
  const { result, messages, counts } = outcome;
  if (result === 'changed' || result === 'failed' || result === 'invalid')
    throw new CommandError(result, messages.join('\n'));
  process.exitCode = exitDone;
  if (json) return void printJson('pause', { result, messages, ...(counts && { counts }) });
  const plan = result === 'planned' ? ['This was a dry run: nothing was done.'] : [];
  for (const line of onScreen([...messages, ...plan])) process.stdout.write(`${line}\n`);
}

/** Where the daemon of these options is asked. Throws a CommandError when they are wrong. */
export function addressOf({ config, url, mayBeUsual = false }: Omit<DaemonOptions, 'json'>): DaemonAddress {
  if (url === undefined) return findDaemon(config, mayBeUsual);
  const wrong = wrongWith(url);
  if (wrong !== null) throw new CommandError('usage', wrong);
  return { url, token: process.env[tokenVariable] || null };
}

/** A token goes over TLS, or stays on this machine. */
function wrongWith(url: string): string | null {
  if (!URL.canParse(url)) return `--url ${url} is not an address: write it as https://warmwarden.example.com`;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return null;
  return `--url ${url} would send the token in the clear: use https.`;
}
