// Requests to the mailbox API: how many, how they ended and how long they took. Counted here, because each poll is one, and
// prom-client sorts and joins the labels again for each.
import type { Fleet } from '../fleet/fleet.ts';
import type { RequestCount } from '../model/mailbox.ts';
import type { Pacer } from '../world.ts';
import type { Family, Sample } from './family.ts';
import { prefix } from './prefix.ts';

/** Seconds: from a quick answer to the client's time-out. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

interface Counted {
  readonly labels: { readonly account: string; readonly route: string; readonly code: string };
  requests: number;
  seconds: number;
  /** By bucket: requests that took no longer than it, and longer than the one before. */
  readonly buckets: number[];
}

export class RequestCounts {
  /** By what tells them apart: account, route and code. */
  readonly #counted = new Map<string, Counted>();

  add(request: RequestCount, seconds: number): void {
    const counted = this.start(request);
    counted.requests += 1;
    counted.seconds += seconds;
    const bucket = durationBuckets.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) counted.buckets[bucket] = (counted.buckets[bucket] ?? 0) + 1;
  }

  /** Begins to count from 0, unless that was begun already. */
  start({ account, route, code }: RequestCount): Counted {
    const key = `${route} ${code} ${account}`;
    let counted = this.#counted.get(key);
    if (!counted) {
      counted = { labels: { account, route, code }, requests: 0, seconds: 0, buckets: durationBuckets.map(() => 0) };
      this.#counted.set(key, counted);
    }
    return counted;
  }

  /** Without accounts that the fleet no longer has. What was never asked has a count, but no durations. Yields the event loop. */
  async families(fleet: Fleet, pacer: Pacer): Promise<readonly Family[]> {
    const counts: Sample[] = [];
    const durations: Sample[] = [];
    for (const counted of [...this.#counted.values()]) {
      if (pacer.due()) await pacer.turn();
      const { labels, requests } = counted;
      if (fleet.account(labels.account) === undefined) continue;
      counts.push({ labels, value: requests });
      if (requests > 0) durations.push(...durationsOf(counted));
    }
    return [
      {
        name: `${prefix}api_requests_total`,
        type: 'counter',
        help: 'Requests to the mailbox API; code is the HTTP status, or the kind of failure when there was none.',
        samples: counts,
      },
      {
        name: `${prefix}api_request_duration_seconds`,
        type: 'histogram',
        help: 'How long requests to the mailbox API took, seconds.',
        samples: durations,
      },
    ];
  }
}

function durationsOf({ labels, requests, seconds, buckets }: Counted): readonly Sample[] {
  let upTo = 0;
  const bounds = durationBuckets.map((le, bucket) => {
    upTo += buckets[bucket] ?? 0;
    return { suffix: '_bucket', labels: { le, ...labels }, value: upTo };
  });
  return [
    ...bounds,
    { suffix: '_bucket', labels: { le: '+Inf', ...labels }, value: requests },
    { suffix: '_sum', labels, value: seconds },
    { suffix: '_count', labels, value: requests },
  ];
}
