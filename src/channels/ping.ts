// One ping of a dead man's switch.
import type { Egress } from '../model/egress.ts';
import type { Clock } from '../world.ts';
import type { SendResult } from './channel.ts';
import { ask, resultOf } from './post.ts';

const deadlineMs = 10_000;

/** Where pings go. */
export interface PingTarget {
  /** A secret. */
  readonly url: string;
  /** The way to `url`. Default: directly. */
  readonly egress?: Egress;
}

export async function pingOf({ url, egress }: PingTarget, clock: Clock): Promise<SendResult> {
  const signal = AbortSignal.timeout(deadlineMs);
  return resultOf(await ask({ method: 'GET', url, egress, headers: {}, signal, now: clock.now() }));
}
