// A child of the poll benchmark: polls as we do, or with global fetch, from the question to the verdict.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { readStats } from '../../../src/api/answers.ts';
import { MailboxApi } from '../../../src/api/client.ts';
import type { StatsAnswer } from '../../../src/core/answers.ts';
import { judge } from '../../../src/core/guard/judge.ts';
import { defaultPolicy } from '../../../src/core/policy.ts';
import { systemClock } from '../../../src/world/world.ts';

/** What the parent asks for. everyMs 0: as fast as `concurrency` allows. */
export interface PollOrder {
  readonly by: 'ours' | 'fetch';
  readonly url: string;
  readonly forMs: number;
  readonly concurrency: number;
  readonly everyMs: number;
  /** false: from the first poll on at that pace; polling at full speed before leaves a larger heap behind. */
  readonly warmed?: boolean;
}

export interface PollCost {
  readonly polls: number;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

const warmPolls = 1_000;

function pollerOf({ by, url }: PollOrder): () => Promise<void> {
  if (by === 'fetch') {
    const headers = { authorization: 'Bearer sk_live_bench', accept: 'application/json' };
    return async () => {
      const answer = await fetch(`${url}/v1/stats?mailbox_id=a&days=7`, { headers });
      const read = readStats(await answer.json());
      if (read === null) throw new Error('the answer was not read');
      decide(read);
    };
  }
  const world = { clock: systemClock(), random: Math.random, log: pino({ level: 'silent' }), command: 'warmwarden' };
  const tally = { decision: () => {}, action: () => {}, notification: () => {}, request: () => {} };
  const options = { account: 'acme', baseUrl: url, apiKey: 'sk_live_bench', requestsPerMinute: 1_000_000 };
  const api = new MailboxApi({ ...options, headroomPpm: 0 }, world, tally);
  return async () => {
    const result = await api.stats('a', 7);
    if (!result.ok) throw new Error(result.failure.detail);
    decide(result.value.answer);
  };
}

/** The guard's verdict on a mailbox in balanced mode that was judged before. */
function decide({ rows }: StatsAnswer): void {
  const now = Date.now();
  const { reason } = judge(defaultPolicy, {
    ...{ mode: 'balanced', run: 'running', weekdaysOnly: false, rows, now, statsAt: now },
    ...{ unjudgedSince: null, evidence: null, emergencyEvidence: null, claim: null },
    ...{ foundBreachAt: null, recentInterventions: 0, firstSight: false, contested: false },
  });
  if (reason !== 'insufficient_evidence' && reason !== 'ok') throw new Error(`the verdict was ${reason}`);
}

async function work(order: PollOrder): Promise<PollCost> {
  const poll = pollerOf(order);
  // A daemon runs for months, and the exporter beside it has been running for the rounds before: both are warm.
  for (let warm = 0; order.warmed !== false && warm < warmPolls; warm += 1) await poll();
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
