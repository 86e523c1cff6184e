// Requests that the API hardly allows once all went to health and the mailbox list: no mailbox was read, and no breach acted upon.
import { expect, test } from 'vitest';
import { mailboxRoutes } from '../../src/api/poll/poll.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import type { Route } from '../../src/core/answers.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';

const cadenceMs: Record<Route, number> = {
  health: minuteMs,
  mailboxes: minuteMs,
  stats: 15 * minuteMs,
  warmup: 30 * minuteMs,
  mailbox: 6 * hourMs,
  dns: 6 * hourMs,
  blacklist: 6 * hourMs,
};

test('an API that allows one request a minute, whatever the plan says, is asked about mailboxes four times out of six', () => {
  // As with X-RateLimit-Remaining: 0 in every answer, or 429 for some.
  const queue = new PollQueue({ cadenceMs, allowedPerMinute: () => 97, earlyMs: minuteMs });
  for (let index = 0; index < 12; index += 1) queue.join(`m${index}`, {}, 0);
  const taken: string[] = [];
  for (let now = 0; now < 10 * hourMs; now += minuteMs) {
    for (const route of [...mailboxRoutes, 'health', 'mailboxes'] as const)
      if (now % cadenceMs[route] === 0) queue.run(route, now);
    const poll = queue.take(now);
    if (!poll) continue;
    taken.push(poll.mailboxId === null ? poll.route : 'a mailbox');
    queue.done(poll);
  }
  const count = (name: string) => taken.filter((one) => one === name).length;
  expect({ mailboxes: count('mailboxes'), health: count('health'), ofAMailbox: count('a mailbox') }).toEqual({
    mailboxes: 100,
    health: 100,
    ofAMailbox: 400,
  });
});
