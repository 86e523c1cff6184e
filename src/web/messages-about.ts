// The messages that were sent in given spans of time, however many were sent since: those about an alert.
import type { Alert } from '../core/alert.ts';
import type { DeliveryPlace, ListedDelivery } from '../core/delivery.ts';
import { dayMs, type EpochMs, hourMs } from '../core/time.ts';
import { turnAfter } from '../world/world.ts';
import type { RouteParts } from './route-parts.ts';

export interface Span {
  readonly from: EpochMs;
  readonly until: EpochMs;
}

export interface Messages {
  /** The newest first. */
  readonly deliveries: readonly ListedDelivery[];
  /** false: there may be more in the spans. */
  readonly complete: boolean;
}

const deliveriesARead = 300;
/** One answer looks through so many messages at most: some storms send thousands. */
const maxReads = 40;
/** The message about a step of an alert is written this long after it, at the latest: groups wait minutes. */
const toldWithinMs = hourMs;

/** When messages about an alert were written. Of one that fired for longer than a day: about its beginning and its end. */
export function spansOf({ firingAt, since }: Alert, endedAt: EpochMs | null): readonly Span[] {
  const from = Math.min(firingAt ?? endedAt ?? since, endedAt ?? Number.MAX_SAFE_INTEGER);
  const began = { from, until: from + toldWithinMs };
  if (endedAt === null) return [began];
  const ended = { from: endedAt, until: endedAt + toldWithinMs };
  return endedAt - from <= dayMs ? [{ from, until: ended.until }] : [began, ended];
}

/** `newest`: messages that were read already, the newest first and without a gap; they are among the answer. */
export async function messagesIn(
  deliveries: RouteParts['deliveries'],
  spans: readonly Span[],
  newest: readonly ListedDelivery[] = [],
): Promise<Messages> {
  const found: ListedDelivery[] = [...newest];
  const oldest = newest.at(-1);
  let reads = 0;
  for (const { from, until } of joined(spans)) {
    if (oldest && from > oldest.createdAt) continue;
    const isReached = oldest && until >= oldest.createdAt;
    let place: DeliveryPlace | null = isReached
      ? oldest
      : { createdAt: until, sequence: Number.MAX_SAFE_INTEGER, id: '' };
    while (place !== null) {
      if (reads === maxReads) return { deliveries: found, complete: false };
      reads += 1;
      const read: readonly ListedDelivery[] = await deliveries(deliveriesARead, place);
      found.push(...read.filter(({ createdAt }) => createdAt >= from));
      const last = read.at(-1);
      place = read.length < deliveriesARead || last === undefined || last.createdAt < from ? null : last;
      await turnAfter(read, 'patient');
    }
  }
  return { deliveries: found, complete: true };
}

/** Those that overlap as one, the newest first. */
function joined(spans: readonly Span[]): readonly Span[] {
  const whole: Span[] = [];
  for (const span of spans.toSorted((a, b) => b.until - a.until)) {
    const last = whole.at(-1);
    if (last && span.until >= last.from) whole[whole.length - 1] = { ...last, from: Math.min(last.from, span.from) };
    else whole.push(span);
  }
  return whole;
}
