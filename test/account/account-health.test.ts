// What the log says when a whole route of an account fails: not a line a mailbox. How often a poll that fails for good is made again.
import { expect, test } from 'vitest';
import { AccountHealth } from '../../src/account/account-health.ts';
import { Agenda } from '../../src/account/agenda.ts';
import { Budget } from '../../src/api/budget.ts';
import type { Failure } from '../../src/api/http/failure.ts';
import { type MailboxRoute, mailboxRoutes, type Poll } from '../../src/api/poll/poll.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import type { Route } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { dayMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { logTo } from '../../src/world/world.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { mailbox } from '../web/example-fleet.ts';
import { stillWorld } from '../web/running-server.ts';

const html: Failure = { kind: 'malformed', status: 200, detail: 'HTTP 200, but the body is HTML', retryAfterMs: null };
const mailboxes = Array.from({ length: 66 }, (_, number) => `m${number}@x.test`);

function healthOf() {
  const clock = movedClock(0);
  const lines: Record<string, unknown>[] = [];
  const log = logTo((line) => void lines.push(JSON.parse(line)), { level: 'info', format: 'json' }, clock);
  const health = new AccountHealth({
    account: 'acme',
    world: { clock, random: () => 0.5, log },
    fleet: new Fleet(),
    budget: new Budget({ requestsPerMinute: 60, headroomPpm: 0 }),
    backlog: () => ({ length: 0, oldestDueAt: null }),
    forecast: () => {
      throw new Error('no list was read');
    },
  });
  const fail = (route: Route, failure = html, of: readonly (string | null)[] = mailboxes) => {
    for (const mailboxId of of) health.failed(failure, { route, mailboxId });
  };
  const answer = (route: Route, of: readonly (string | null)[] = mailboxes) => {
    for (const mailboxId of of) health.succeeded({ route, mailboxId });
  };
  /** Lines since the last look. */
  const said = () =>
    lines.splice(0).map(({ msg, route, mailbox, left_out }) => ({
      msg,
      route,
      ...(mailbox !== undefined && { mailbox }),
      ...(left_out !== undefined && { left_out }),
    }));
  return { clock, lines, health, fail, answer, said };
}

test('a failure of a whole route is one line, and a minute later how many more mailboxes had it', async () => {
  const { clock, lines, health, fail } = healthOf();
  fail('dns');
  expect(lines).toMatchObject([
    { level: 'warn', account: 'acme', route: 'dns', mailbox: 'm0@x.test', failure: 'malformed', msg: html.detail },
  ]);
  await clock.advance(30 * secondMs);
  health.publish();
  expect(lines).toHaveLength(1);
  await clock.advance(minuteMs);
  health.publish();
  expect(lines.slice(1)).toMatchObject([
    { level: 'warn', account: 'acme', route: 'dns', failure: 'malformed', status: 200, left_out: 65, msg: html.detail },
  ]);
  expect(lines[1]).not.toHaveProperty('mailbox');
  // Each of them fails as it did before.
  fail('dns');
  expect(lines).toHaveLength(2);
});

test('the end of it is one line, and a minute later how many more mailboxes were answered again', async () => {
  const { clock, health, fail, answer, said } = healthOf();
  fail('dns', html, mailboxes.slice(0, 1));
  await clock.advance(2 * minuteMs);
  fail('dns', html, mailboxes.slice(1));
  said();
  answer('dns');
  expect(said()).toEqual([{ msg: 'answered again', route: 'dns', mailbox: 'm0@x.test' }]);
  await clock.advance(minuteMs);
  health.publish();
  expect(said()).toEqual([
    { msg: html.detail, route: 'dns', left_out: 64 },
    { msg: 'answered again', route: 'dns', left_out: 65 },
  ]);
});

test('a list that fails while everything else is answered is one line, and its end another', () => {
  const { fail, answer, said } = healthOf();
  const list = [null];
  for (let round = 0; round < 3; round += 1) {
    fail('mailboxes', html, list);
    answer('stats');
  }
  expect(said().map(({ msg }) => msg)).toEqual([expect.stringContaining(html.detail)]);
  answer('mailboxes', list);
  answer('mailboxes', list);
  expect(said().map(({ msg }) => msg)).toEqual(['the API answers again']);
  fail('mailboxes', html, list);
  expect(said()).toHaveLength(1);
});

const never = 9 * dayMs;
const cadenceMs = {
  health: dayMs,
  mailboxes: dayMs,
  stats: never,
  warmup: never,
  mailbox: never,
  dns: never,
  blacklist: never,
};

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
