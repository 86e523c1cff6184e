// One ping of a dead man's switch.
import type { Egress } from '../model/egress.ts';
import type { Clock } from '../world.ts';
import { attempt, type Patience } from './attempt.ts';
import type { SendResult } from './channel.ts';
import { ask, resultOf } from './post.ts';

/** Where pings go. */
export interface PingTarget {
  /** A secret. */
  readonly url: string;
  /** The way to `url`. Default: directly. */
  readonly egress?: Egress;
}

/** Absent `patience`: it has as long as a message. */
export async function pingOf(
  { url, egress }: PingTarget,
  clock: Clock,
  patience: Patience = { mayGoOn: () => true },
): Promise<SendResult> {
  const ping = (signal: AbortSignal) => ask({ method: 'GET', url, egress, headers: {}, signal, now: clock.now() });
  return resultOf(await attempt({}, ping, patience));
}
