// How long one attempt to send may take. Sockets know real time only: also under a moved clock none must hang for ever.
import { minuteMs } from '../model/time.ts';
import { systemClock } from '../world.ts';
import type { Channel } from './channel.ts';

/** Deadline of a receiver over HTTP. */
const sendDeadlineMs = minuteMs;
/** Time that every attempt may take, also while the process ends. */
const alwaysMs = 10_000;
/** How often it is looked whether a long attempt is to end. */
const lookMs = 500;

const realTime = systemClock();

/** The longest that an attempt may take, milliseconds. */
export function longestOf({ longestMs = sendDeadlineMs }: Pick<Channel, 'longestMs'>): number {
  return longestMs;
}

/** When an attempt that takes long is to end before its deadline. */
export interface Patience {
  readonly mayGoOn: () => boolean;
  /** For tests; absent: ten seconds. */
  readonly alwaysMs?: number | undefined;
}

/** One attempt through a channel. Rejects as `send` does. */
export async function attempt<Outcome>(
  channel: Pick<Channel, 'longestMs'>,
  send: (signal: AbortSignal) => Promise<Outcome>,
  patience: Patience,
): Promise<Outcome> {
  const over = new AbortController();
  const cut = new AbortController();
  void cutShort(cut, over.signal, patience);
  try {
    return await send(AbortSignal.any([AbortSignal.timeout(longestOf(channel)), cut.signal]));
  } finally {
    over.abort('over');
  }
}

async function cutShort(cut: AbortController, over: AbortSignal, patience: Patience): Promise<void> {
  await realTime.sleep(patience.alwaysMs ?? alwaysMs, over);
  while (!over.aborted && patience.mayGoOn()) await realTime.sleep(lookMs, over);
  cut.abort();
}
