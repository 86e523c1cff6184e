// A daemon behind --url: one request to it, which ends when the daemon falls silent.
import { commandName } from '../../world/command-name.ts';
import { SilentDaemonError, signOfLifeWithinMs, whileAlive } from './sign-of-life.ts';

export interface UrlAnswer {
  readonly status: number;
  readonly said: string;
}

interface UrlRequest {
  /** Behind the address of the daemon, with its slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with a POST; a GET without one. */
  readonly body?: string | undefined;
}

/**
 * What the daemon answers. Rejects with a SilentDaemonError when it shows no sign of life, before or while it is asked, and
 * otherwise as the connection fails.
 */
export async function askUrl(base: string, { path, headers, body }: UrlRequest): Promise<UrlAnswer> {
  const changes = body !== undefined;
  // Before anything is sent: a daemon that was stopped would carry a command out when it continues.
  if (await isSilent(base)) throw silence(base, changes ? 'Nothing was changed.' : null);
  const method = changes ? 'POST' : 'GET';
  const asked = { method, headers, redirect: 'error', body: body ?? null } as const;
  const ask = async (signal: AbortSignal) => {
    const answer = await fetch(`${base}${path}`, { ...asked, signal });
    // Once it has answered, it was asked: what of the answer is missing must not say that no daemon is there.
    return { status: answer.status, said: await answer.text().catch(() => '') };
  };
  const unknown = `It may or may not have carried out the request. Once it answers again, \`${commandName} history --url ${base}\` shows what it did.`;
  return whileAlive(ask, {
    isSilent: () => isSilent(base),
    silence: async () => silence(base, changes ? unknown : null),
  });
}

/** Any answer is a sign of life, and so is a connection that is refused: no daemon hangs there. */
async function isSilent(base: string): Promise<boolean> {
  const late = AbortSignal.timeout(signOfLifeWithinMs);
  try {
    const answer = await fetch(`${base}/healthz`, { redirect: 'manual', signal: late });
    await answer.body?.cancel();
    return false;
  } catch {
    return late.aborted;
  }
}

function silence(base: string, outcome: string | null): SilentDaemonError {
  const said = [
    `The daemon at ${base} has not answered for ${signOfLifeWithinMs / 1_000} s.`,
    ...(outcome === null ? [] : [outcome]),
    `It may be starting, or its machine may be very busy. Try again in a few minutes. If it does not answer then, its mailboxes may not be guarded: run \`${commandName} status\` on its machine.`,
  ];
  return new SilentDaemonError(said.join(' '));
}
