// The running daemon, asked from outside: over the socket beside its store, or over HTTP with a token.
import { commandName } from '../../command-name.ts';
import type { CommandOutcome } from '../../model/operator-command.ts';
import { pathOf, type StorePlace } from '../../model/store-place.ts';
import type { OperationBody, OperationName } from '../../operator/command-requests.ts';
import { socketPathOf } from '../../operator/socket-path.ts';
import { asItsUser } from '../../store/file/place.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { askOver } from './daemon-socket.ts';
import { askUrl } from './daemon-url.ts';
import { NoDaemonError, NoSocketError, SilentDaemonError } from './sign-of-life.ts';

const startIt = `Start it with \`${commandName} run --config FILE\`, or pass the configuration of the running daemon with --config.`;

/** A daemon that is asked over HTTP, with a token if it has any. */
interface HttpAddress {
  readonly url: string;
  readonly token: string | null;
}

/** Has the token for an HttpAddress. */
export const tokenVariable = 'WARMWARDEN_TOKEN';

/** Where a daemon is asked: by its store, through the socket beside it; or over HTTP. */
export type DaemonAddress = StorePlace | HttpAddress;

export function isHttp(address: DaemonAddress): address is HttpAddress {
  return typeof address === 'object' && 'url' in address;
}

/** A daemon answers, and does not accept the token. */
class UnauthorizedError extends Error {
  override readonly name = 'UnauthorizedError';
}

/** Asks a daemon to carry an operation out. Rejects with a sentence when none answers there, or not as a daemon does. */
export async function askDaemon<Name extends OperationName>(
  address: DaemonAddress,
  name: Name,
  body: OperationBody<Name>,
): Promise<CommandOutcome> {
  const { at, status, answer } = isHttp(address)
    ? await postUrl(address, name, body)
    : await askSocket(pathOf(address), name, body);
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

async function askSocket(storePath: string, name: string, body: unknown): Promise<Answer> {
  const { status, said } = await askOver(storePath, { path: `/${name}`, body }).catch(async (error) => {
    throw error instanceof SilentDaemonError ? error : await silenceAt(storePath, error);
  });
  return { at: socketPathOf(storePath), status, answer: jsonOf(said) };
}

async function silenceAt(storePath: string, error: Error): Promise<NoDaemonError> {
  const socketPath = socketPathOf(storePath);
  const code = 'code' in error ? error.code : null;
  if (code === 'EACCES') return new NoDaemonError(`This user may not use the socket ${socketPath}: ${asItsUser}.`);
  const { starterOf } = await import('../../store/file/lock.ts');
  const { systemClock } = await import('../../world.ts');
  const starter = starterOf(storePath, systemClock().now());
  if (starter !== null)
    return new NoDaemonError(
      `Warmwarden is starting (${starter}), and accepts no commands yet. Try again in a moment. If that takes minutes, the end of its log says why.`,
    );
  const said = `No daemon answers at ${socketPath}. ${startIt}`;
  return code === 'ENOENT' ? new NoSocketError(said) : new NoDaemonError(said);
}

async function postUrl(address: HttpAddress, name: string, body: unknown): Promise<Answer> {
  const asked = { path: `/api/operations/${name}`, body: JSON.stringify(body) };
  const answer = await overHttp(address, asked);
  if (!answer) throw new NoDaemonError(`No daemon answers at ${baseOf(address)}${asked.path}.`);
  return answer;
}

/** null: no daemon answers. Rejects with a SilentDaemonError when one listens and does not answer. */
async function overHttp(
  address: HttpAddress,
  { path, body }: { readonly path: string; readonly body?: string },
): Promise<Answer | null> {
  const base = baseOf(address);
  const headers = { ...bearer(address.token), ...(body !== undefined && { 'content-type': 'application/json' }) };
  const answer = await askUrl(base, { path, headers, body }).catch((error) => {
    if (error instanceof SilentDaemonError) throw error;
    return null;
  });
  return answer && { at: `${base}${path}`, status: answer.status, answer: jsonOf(answer.said) };
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
 * What `GET /api/NAME` answers, over the socket or over HTTP; null when no daemon answers. Rejects with the sentence that it
 * refuses with: an UnknownNameError where the request names something that does not exist.
 */
export async function askFor(
  address: DaemonAddress,
  name: string,
  query: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const asks = new URLSearchParams(query);
  const path = asks.size > 0 ? `${name}?${asks}` : name;
  const asked = isHttp(address)
    ? await overHttp(address, { path: `/api/${path}` })
    : await getSocket(pathOf(address), path);
  if (asked === null) return null;
  const { at, status, answer } = asked;
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

/** null also when a daemon has the store and is silent: the store says who it is. */
async function getSocket(storePath: string, path: string): Promise<Answer | null> {
  const answer = await askOver(storePath, { path: `/${path}` }).catch(() => null);
  return answer && { at: socketPathOf(storePath), status: answer.status, answer: jsonOf(answer.said) };
}
