// The socket beside a store: whether a daemon lives behind it, and one request to it, which ends when the daemon falls silent.
import { text } from 'node:stream/consumers';
import { commandName } from '../../command-name.ts';
import { socketPathOf } from '../../operator/socket-path.ts';
import { SilentDaemonError, signOfLifeWithinMs, whileAlive } from './sign-of-life.ts';
import { silenceAdvice } from './silence-advice.ts';

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
  const { systemClock } = await import('../../world.ts');
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
  /** Sent as JSON with a POST; a GET without one. */
  readonly body?: unknown;
}

interface SocketAnswer {
  readonly status: number;
  readonly said: string;
}

/**
 * What the daemon answers. Rejects with a SilentDaemonError when it shows no sign of life, before or while it is asked, and
 * otherwise as the connection fails.
 */
export async function askOver(storePath: string, asked: SocketRequest): Promise<SocketAnswer> {
  // Before anything is sent: a command is never repeated.
  await daemonListens(storePath);
  return whileListening(storePath, (signal) => exchange(storePath, asked, signal));
}

/** What `ask` answers, of the daemon beside the store. Rejects with a SilentDaemonError once that shows no sign of life. */
export function whileListening<Answer>(
  storePath: string,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const asked = `It may or may not have carried out the request: \`${commandName} history\` shows what it did.`;
  return whileAlive(ask, {
    isSilent: async () => (await signNow(storePath)) === 'silent',
    silence: () => silence(storePath, `stopped answering. ${asked}`),
  });
}

function exchange(storePath: string, { path, body }: SocketRequest, signal: AbortSignal): Promise<SocketAnswer> {
  const socketPath = socketPathOf(storePath);
  const headers = { 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, path, method, headers, signal }, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject);
    });
    asking.once('error', reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
