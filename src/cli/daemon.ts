// Client of the running daemon: over the socket beside its store, or over HTTP with a token.
import { readFileSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { isLoopback } from '../core/egress.ts';
import type { CommandOutcome } from '../core/operator-command.ts';
import { pathOf, type StorePlace } from '../core/store-failure.ts';
import { momentText } from '../core/wording/phrases.ts';
import type { OperationBody, OperationName } from '../operations/command-requests.ts';
import { socketPathOf } from '../operations/socket.ts';
import { livingHolder, starterOf } from '../store/file/lock.ts';
import { asItsUser } from '../store/file/place.ts';
import { systemClock } from '../world/world.ts';
import { findDaemon } from './configuration.ts';
import { CommandError, type ErrorKind } from './errors.ts';
import { type ConfigOptions, configOption, jsonOption } from './options.ts';

// Importing these modules by name would also load a WebSocket: a tenth of the start of a command.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

/** A busy daemon answers a small request sooner than this, however long its current operation takes. */
const silentAfterMs = 10_000;
/** A usual start is shorter. */
const startsWithinMs = 5_000;
const lookAgainMs = 100;
const tokenVariable = 'WARMWARDEN_TOKEN';

/** Daemon on another machine. */
interface HttpAddress {
  readonly url: string;
  readonly token: string | null;
}

/** Address of a daemon: its store, which has the socket beside it, or an HTTP address. */
export type DaemonAddress = StorePlace | HttpAddress;

export function isHttp(address: DaemonAddress): address is HttpAddress {
  return typeof address === 'object' && 'url' in address;
}

export interface DaemonOptions extends ConfigOptions {
  readonly url?: string;
  /** See `findDaemon`. */
  readonly mayBeUsual?: boolean;
}

export function withDaemonOptions(command: Command): Command {
  return command
    .addOption(configOption())
    .option('--url <url>', `a daemon elsewhere, as https://HOST; its token is read from ${tokenVariable}`)
    .addOption(jsonOption());
}

/** Address of the daemon in these options. Throws a CommandError if the options are wrong. */
export function addressOf({ config, url, mayBeUsual = false }: Omit<DaemonOptions, 'json'>): DaemonAddress {
  if (url === undefined) return findDaemon(config, mayBeUsual);
  if (!URL.canParse(url))
    throw new CommandError('usage', `--url ${url} is not an address: write it as https://warmwarden.example.com`);
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    throw new CommandError('usage', `--url ${url} would send the token in the clear: use https.`);
  return { url: url.replace(/\/+$/, ''), token: process.env[tokenVariable] || null };
}

interface DaemonRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON body of a POST; a request without it is a GET. */
  readonly body?: string | undefined;
}

interface DaemonAnswer {
  /** Name of the address, for errors. */
  readonly at: string;
  readonly status: number;
  readonly said: string;
}

/** Sends one request, never twice. Rejects with `no_daemon` if no daemon answers, or if it falls silent meanwhile. */
export async function ask(address: DaemonAddress, asked: DaemonRequest): Promise<DaemonAnswer> {
  const over = new AbortController();
  const silent = 'stopped answering. It may or may not have carried out the request:';
  const watched = async () => {
    for (;;) {
      await systemClock().sleep(silentAfterMs, over.signal);
      if (over.signal.aborted) throw new Error('the answer is here');
      await signOfLife(address, `${silent} \`warmwarden history\` shows what it did.`);
    }
  };
  try {
    await daemonListens(address);
    return await Promise.race([exchange(address, asked, over.signal), watched()]);
  } catch (error) {
    throw error instanceof CommandError ? error : absence(address, error);
  } finally {
    over.abort();
  }
}

/**
 * True if a daemon listens there; waits for one that is starting on this store. Rejects if a daemon listens without
 * answering: a suspended process would carry out the command whenever it continues.
 */
export async function daemonListens(address: DaemonAddress): Promise<boolean> {
  const clock = systemClock();
  const until = clock.monotonic() + startsWithinMs;
  const isStarting = () => !isHttp(address) && starterOf(pathOf(address), clock.now()) !== null;
  for (;;) {
    if (await signOfLife(address, `has not answered for ${silentAfterMs / 1_000} s. Nothing was changed.`)) return true;
    if (!isStarting() || clock.monotonic() >= until) return false;
    await clock.sleep(lookAgainMs);
  }
}

/** True if a daemon responds, whatever it says. Rejects with a sentence that says `silent` if one listens in silence. */
async function signOfLife(address: DaemonAddress, silent: string): Promise<boolean> {
  const late = AbortSignal.timeout(silentAfterMs);
  try {
    await exchange(address, { path: '/healthz' }, late);
    return true;
  } catch {
    if (late.aborted) throw silence(address, silent);
    return false;
  }
}

function exchange(address: DaemonAddress, asked: DaemonRequest, signal: AbortSignal): Promise<DaemonAnswer> {
  const { path, body } = asked;
  const socketPath = isHttp(address) ? undefined : socketPathOf(pathOf(address));
  const url = new URL(`${isHttp(address) ? address.url : 'http://daemon'}${path}`);
  const bearer = isHttp(address) && address.token !== null ? { authorization: `Bearer ${address.token}` } : {};
  const headers = { ...bearer, ...(body !== undefined && { 'content-type': 'application/json' }), ...asked.headers };
  const options = { method: body === undefined ? 'GET' : 'POST', headers, signal, agent: false as const };
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, ...(socketPath !== undefined && { socketPath }) }, (answer) => {
      // A first byte proves that a daemon received the request: a truncated response must not be reported as an absent
      // daemon.
      const said = text(answer).catch(() => '');
      void said.then((all) => resolve({ at: socketPath ?? url.href, status: answer.statusCode ?? 0, said: all }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Error for a daemon that listens without answering. */
function silence(address: DaemonAddress, said: string): CommandError {
  if (isHttp(address)) {
    const advice =
      'It may be starting or busy. Try again in a few minutes. If it does not answer then, its mailboxes may not be guarded: run `warmwarden doctor` on its machine.';
    return new CommandError('no_daemon', `The daemon at ${address.url} ${said} ${advice}`);
  }
  const holder = livingHolder(pathOf(address));
  const named = holder === null ? '' : ` (${holder})`;
  return new CommandError('no_daemon', `A daemon${named} has this store but ${said} ${silenceAdvice(holder)}`);
}

/** Remedy for a daemon that does not answer. `holder`: its description in the store, or null. */
function silenceAdvice(holder: string | null): string {
  const pid = /^process (\d+) /.exec(holder ?? '')?.[1];
  if (pid !== undefined && isSuspended(pid))
    return `Its process is suspended, so its mailboxes are not guarded. Let it continue: \`kill -CONT ${pid}\`.`;
  const end = pid === undefined ? 'end it' : `end it with \`kill -KILL ${pid}\``;
  return `It may be starting, or the machine may be very busy. Try again in a few minutes. If it does not answer then, its mailboxes may not be guarded: ${end} and start it again.`;
}

/** True if SIGSTOP or a debugger suspended the process, according to /proc; false where there is no /proc. */
function isSuspended(pid: string): boolean {
  try {
    // The process name, in parentheses, may contain anything.
    return /^\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*(?=\) )/s, ''));
  } catch {
    return false;
  }
}

function absence(address: DaemonAddress, error: unknown): CommandError {
  const noDaemon = (said: string, details = {}) => new CommandError('no_daemon', said, details);
  if (isHttp(address))
    return noDaemon(
      `No daemon answers at ${address.url}: unless it runs there, nothing is guarded. On that machine, \`warmwarden doctor\` says what is wrong.`,
    );
  const storePath = pathOf(address);
  const socketPath = socketPathOf(storePath);
  if (error instanceof Error && 'code' in error && error.code === 'EACCES')
    return noDaemon(`This user may not use the socket ${socketPath}: ${asItsUser}.`);
  const starter = starterOf(storePath, systemClock().now());
  if (starter !== null)
    return noDaemon(
      `Warmwarden is starting (${starter}), and accepts no commands yet. Try again in a moment. If that takes minutes, the end of its log says why.`,
    );
  if (livingHolder(storePath) !== null) return silence(address, 'does not answer.');
  // A daemon on another machine may guard a PostgreSQL store.
  const none =
    typeof address === 'string'
      ? 'No daemon answers: nothing is guarded.'
      : 'No daemon answers on this machine: unless one runs on another, nothing is guarded.';
  const writtenMs = lastWrittenMs(storePath);
  const data = writtenMs === null ? '' : ` Data from ${momentText(writtenMs, 'UTC')}.`;
  return noDaemon(
    `${none}${data}\nStart it with \`warmwarden run --config FILE\`; \`warmwarden doctor --config FILE\` says what is wrong. A daemon with another configuration is asked with its --config: this command looked at ${socketPath}.`,
    writtenMs === null ? {} : { data_from: new Date(writtenMs).toISOString() },
  );
}

/** Moment of the last write into a SQLite store, or null without one. */
function lastWrittenMs(file: string): number | null {
  const times = [file, `${file}-wal`].flatMap((one) => statSync(one, { throwIfNoEntry: false })?.mtimeMs ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** Has a daemon carry out an operation. Rejects with a CommandError if none answers, or if it refuses the request. */
export async function askDaemon<Name extends OperationName>(
  address: DaemonAddress,
  name: Name,
  body: OperationBody<Name>,
): Promise<CommandOutcome> {
  const answer = await ask(address, { path: `/api/operations/${name}`, body: JSON.stringify(body) });
  const outcome = jsonIn(answer);
  if (!('result' in outcome && Array.isArray(outcome['messages']))) throw refusal(answer, tokenVariable);
  return outcome as unknown as CommandOutcome;
}

/** Parameters of a GET. One without a value is left out. */
type DaemonQuery = Readonly<Record<string, string | number | boolean | undefined>>;

/** Answer to `GET /api/NAME`. Rejects with a CommandError if no daemon answers, or if it refuses the request. */
export async function askFor(address: DaemonAddress, name: string, query: DaemonQuery = {}): Promise<unknown> {
  const asks = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) asks.set(key, `${value}`);
  const answer = await ask(address, { path: `/api/${name}${asks.size > 0 ? `?${asks}` : ''}` });
  const said = jsonIn(answer);
  if (answer.status !== 200 || Object.keys(said).length === 0) throw refusal(answer, tokenVariable);
  return said;
}

/** Answer with the entries of all its pages. `list`: the key that contains the entries. */
export async function askForAll<List extends string, Entry>(
  address: DaemonAddress,
  name: string,
  list: List,
  query: DaemonQuery = {},
): Promise<{ readonly [Key in List]: readonly Entry[] } & { readonly next_cursor: string | null }> {
  type AnswerPage = Awaited<ReturnType<typeof askForAll<List, Entry>>>;
  const first = (await askFor(address, name, query)) as AnswerPage;
  const entries = [...first[list]];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = (await askFor(address, name, { ...query, cursor })) as AnswerPage;
    entries.push(...next[list]);
    cursor = next.next_cursor;
  }
  return { ...first, [list]: entries, next_cursor: null };
}

/** JSON object in an answer, or an empty object for anything else. */
function jsonIn({ said }: DaemonAnswer): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(said);
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}

const refusalKinds: Readonly<Record<number, ErrorKind>> = {
  400: 'usage',
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'unknown_name',
  422: 'usage',
};

/** Error for a refused request. `variable`: the environment variable with the token. */
export function refusal(answer: DaemonAnswer, variable: string): CommandError {
  const { at, status } = answer;
  const { error, message } = jsonIn(answer);
  const kind = refusalKinds[status] ?? 'failed';
  if (error === 'not_found' && URL.canParse(at))
    return new CommandError(kind, `Nothing is served at ${at}: check the path in --url.`);
  if (status === 401)
    return new CommandError(
      kind,
      `${at} answered 401: the daemon does not know the token in ${variable}, or it is empty.`,
    );
  if (typeof message === 'string') return new CommandError(kind, message);
  return new CommandError('failed', `${at} answered ${status}, but not like a Warmwarden daemon.`);
}
