// How often a poll that fails for good is made again.
import { expect, test } from 'vitest';
import { Agenda } from '../../src/account/agenda.ts';
import { type MailboxRoute, mailboxRoutes, type Poll } from '../../src/api/poll/poll.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { dayMs, secondMs } from '../../src/core/time.ts';
import { mailbox } from '../web/example-fleet.ts';
import { stillWorld } from '../web/running-server.ts';

const [health, mailboxes, never] = [dayMs, dayMs, 9 * dayMs];
const cadenceMs = { health, mailboxes, stats: never, warmup: never, mailbox: never, dns: never, blacklist: never };

function begin() {
  const world = stillWorld();
  const queue = new PollQueue({ cadenceMs, allowedPerMinute: () => 60, earlyMs: 0 });
  const agenda = new Agenda({ account: 'acme', world, fleet: new Fleet(), queue, policyFor: () => defaultPolicy });
  /** Every poll that is due is taken and done. */
  const due = (): readonly Poll[] => {
    const polls: Poll[] = [];
    for (let poll = queue.take(world.clock.monotonic()); poll; poll = queue.take(world.clock.monotonic())) {
      queue.done(poll);
      polls.push(poll);
    }
    return polls;
  };
  return { world, queue, agenda, due };
}

/** Requests about one mailbox in a day when every answer of this route is unreadable. */
async function requestsOfADay(route: MailboxRoute): Promise<number> {
  const { world, queue, agenda, due } = begin();
  const failing: Poll = { route, mailboxId: 'm' };
  queue.join('m', { stats: 0, warmup: 0, mailbox: 0, dns: 0, blacklist: 0 }, 0);
  queue.add(failing, world.clock.monotonic());
  let requests = 0;
  for (let seconds = 0; seconds < 24 * 3_600; seconds += 5) {
    await world.clock.advance(5 * secondMs);
    for (const poll of due()) {
      if (poll.route !== route) continue;
      requests += 1;
      agenda.failed(poll, { kind: 'malformed', status: 200, detail: 'no JSON', retryAfterMs: null });
    }
  }
  return requests;
}

test('a kind that is read a few times a day, and fails for good, costs two requests an hour at most', async () => {
  const requests = await Promise.all(mailboxRoutes.map(async (route) => [route, await requestsOfADay(route)] as const));
  const { stats, warmup, ...rare } = Object.fromEntries(requests);
  for (const often of [stats, warmup]) expect(often).toBeGreaterThan(400);
  for (const seldom of Object.values(rare)) expect(seldom).toBeLessThan(2 * 24 + 15);
});

test('an answer that the store refuses for good is asked for ever more seldom, although other answers are recorded', async () => {
  const { world, queue, agenda, due } = begin();
  queue.join('m', { stats: 0, warmup: 0, mailbox: 0, dns: 0, blacklist: 0 }, 0);
  agenda.retryUnrecorded({ route: 'stats', mailboxId: 'm' });
  let polls = 0;
  for (let seconds = 0; seconds < 3_600; seconds += 5) {
    await world.clock.advance(5 * secondMs);
    for (const poll of due()) {
      if (poll.route !== 'stats') continue;
      polls += 1;
      agenda.retryUnrecorded(poll);
    }
    agenda.succeeded({ route: 'dns', mailboxId: 'm' });
  }
  expect(polls).toBeLessThan(60);
});

test('a mailbox that left and is listed again is retried soon, whatever failed before', async () => {
  const { world, agenda, due } = begin();
  const state = mailbox('m', 'm@acme.example');
  agenda.join([state]);
  for (let failures = 0; failures < 12; failures += 1) agenda.retryUnrecorded({ route: 'stats', mailboxId: 'm' });
  agenda.leave([state]);
  agenda.join([state]);
  due();
  agenda.retryUnrecorded({ route: 'stats', mailboxId: 'm' });
  await world.clock.advance(11 * secondMs);
  expect(due()[0]).toEqual({ route: 'stats', mailboxId: 'm' });
});
