// What the scheduler of 100,000 mailboxes over 200 accounts weighs, beside a node-cron task for each mailbox and kind.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ScheduledTask, schedule } from 'node-cron';
import { mailboxRoutes } from '../../../src/api/poll/poll.ts';
import { PollQueue } from '../../../src/api/poll/queue.ts';
import { type Route, routes } from '../../../src/core/answers.ts';
import { type Figure, ratioOf, rounded } from '../figure.ts';

const minuteMs = 60_000;
/** Only warm-up and statistics are still to be read. */
const readAtStart = { mailbox: 0, dns: 0, blacklist: 0 };
const accounts = 200;
const mailboxesOfAccount = 500;
/** node-cron's tasks are measured on fewer: they weigh the same each. */
const tasksMeasured = 5_000;
const target = 0.01;
/** Less is no further round. */
const settledBytes = 100_000;

/** Bytes in use when collecting once more frees nothing: what an earlier benchmark left goes in several rounds. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let least = Number.POSITIVE_INFINITY; ; ) {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    if (heapUsed + arrayBuffers >= least - settledBytes) return heapUsed + arrayBuffers;
    least = heapUsed + arrayBuffers;
  }
}

/** What `make` puts into `kept`, for each of `count`, bytes. It stays there: what is freed meanwhile would be taken off. */
function bytesOf<T>(count: number, kept: T[], make: () => readonly T[]): number {
  const before = bytesInUse();
  kept.push(...make());
  return (bytesInUse() - before) / count;
}

function sweptQueue(ids: readonly string[]): PollQueue {
  const cadenceMs = Object.fromEntries(routes.map((route) => [route, 900_000])) as Record<Route, number>;
  const queue = new PollQueue({ cadenceMs, allowedPerMinute: () => 90, earlyMs: minuteMs });
  for (const id of ids) queue.join(id, readAtStart, 0);
  for (let now = 0; now < 2 * ids.length; now += 1) {
    const poll = queue.take(now);
    if (poll) queue.done(poll);
  }
  for (const id of ids) queue.weigh(id, { sendsPerDay: 40, sendsLeftToday: 40, bouncesLeft: 2 });
  // A minute later all but the last few wait for their turns.
  const poll = queue.take(3 * minuteMs);
  if (poll) queue.done(poll);
  return queue;
}

/** The ids are the fleet's, so they are not counted. */
export function memoryFigure(): Figure {
  const ids = Array.from({ length: accounts }, (_, account) =>
    Array.from({ length: mailboxesOfAccount }, (_, index) => `${account}-${index}`),
  );
  const tasks: ScheduledTask[] = [];
  const task = bytesOf(tasksMeasured, tasks, () =>
    Array.from({ length: tasksMeasured }, () => schedule('*/15 * * * *', () => {}, { timezone: 'UTC' })),
  );
  const queues: PollQueue[] = [];
  const mine = bytesOf(accounts * mailboxesOfAccount, queues, () => ids.map(sweptQueue));
  for (const one of tasks) void one.destroy();
  const peer = task * mailboxRoutes.length;
  return {
    bench: 'lag',
    figure: '100000_mailboxes/scheduler_bytes_a_mailbox',
    ours: rounded(mine),
    peer: rounded(peer),
    ratio: ratioOf(mine, peer),
    target,
    holds: mine <= target * peer,
  };
}
