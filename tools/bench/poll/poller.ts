// A child of the poll benchmark: polls as we do, or with global fetch, from the question to the checked answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { readStats } from '../../../src/mailbox-api/answers.ts';
import { MailboxApi } from '../../../src/mailbox-api/client.ts';
import { systemClock } from '../../../src/world.ts';

/** What the parent asks for. everyMs 0: as fast as `concurrency` allows. */
export interface PollOrder {
  readonly by: 'ours' | 'fetch';
  readonly url: string;
  readonly forMs: number;
  readonly concurrency: number;
  readonly everyMs: number;
}

export interface PollCost {
  readonly polls: number;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

function pollerOf({ by, url }: PollOrder): () => Promise<void> {
  if (by === 'fetch') {
    const headers = { authorization: 'Bearer sk_live_bench', accept: 'application/json' };
    return async () => {
      const answer = await fetch(`${url}/v1/stats?mailbox_id=a&days=7`, { headers });
      const read = readStats(await answer.json());
      if (read === null) throw new Error('the answer was not read');
    };
  }
  const world = { clock: systemClock(), random: Math.random, log: pino({ level: 'silent' }) };
  const tally = { decision: () => {}, action: () => {}, notification: () => {}, request: () => {} };
  const options = { account: 'acme', baseUrl: url, apiKey: 'sk_live_bench', requestsPerMinute: 1_000_000 };
  const api = new MailboxApi({ ...options, headroomPpm: 0, statsDays: 7 }, world, tally);
  return async () => {
    const result = await api.stats('a');
    if (!result.ok) throw new Error(result.failure.detail);
  };
}

async function work(order: PollOrder): Promise<PollCost> {
  const poll = pollerOf(order);
  const warmUntil = performance.now() + Math.min(1_000, order.forMs / 3);
  while (performance.now() < warmUntil) await (order.everyMs > 0 ? poll().then(() => sleep(order.everyMs)) : poll());
  const cpuBefore = process.cpuUsage();
  const until = performance.now() + order.forMs;
  let polls = 0;
  const loop = async () => {
    for (let at = performance.now(); at < until; at = performance.now()) {
      await poll();
      polls += 1;
      if (order.everyMs > 0) await sleep(Math.max(0, at + order.everyMs - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, loop));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { polls, cpuSeconds: (user + system) / 1e6, rssBytes: process.memoryUsage.rss() };
}

process.once('message', (order: PollOrder) => {
  void work(order).then(
    (cost) => process.send?.(cost, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    },
  );
});
