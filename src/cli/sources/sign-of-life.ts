// A request to a daemon ends when the daemon falls silent, however long what it was asked may take.

import type { Clock } from '../../world/world.ts';

/** A daemon that is busy says something sooner, however long a command takes that it carries out. */
export const signOfLifeWithinMs = 10_000;

/** No daemon answers there. */
export class NoDaemonError extends Error {
  override readonly name = 'NoDaemonError';
}

/** Where its socket would be there is none. */
export class NoSocketError extends NoDaemonError {}

/** A daemon listens there and says nothing: it was stopped, or hangs. */
export class SilentDaemonError extends NoDaemonError {}

interface Signs {
  /** Whether it takes a connection now and says nothing. Does not reject. */
  readonly isSilent: () => Promise<boolean>;
  /** What is thrown then. */
  readonly silence: () => Promise<SilentDaemonError>;
}

/** What `ask` answers. Rejects with the silence once the daemon shows no sign of life meanwhile. */
export async function whileAlive<Answer>(ask: (signal: AbortSignal) => Promise<Answer>, signs: Signs): Promise<Answer> {
  const over = new AbortController();
  const { systemClock } = await import('../../world/world.ts');
  try {
    return await Promise.race([ask(over.signal), untilSilent(signs, systemClock(), over.signal)]);
  } finally {
    over.abort();
  }
}

async function untilSilent({ isSilent, silence }: Signs, clock: Clock, over: AbortSignal): Promise<never> {
  while (!over.aborted) {
    await clock.sleep(signOfLifeWithinMs, over);
    if (!over.aborted && (await isSilent())) throw await silence();
  }
  throw new Error('the answer is here');
}
