// Which poll is made next.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mailboxRoutes, type Poll } from '../../src/api/poll/poll.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import { type Route, routes } from '../../src/core/answers.ts';
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
const slotMs = 1_000;
const queueOf = (earlyMs = 0, allowed = 60) => new PollQueue({ cadenceMs, allowedPerMinute: () => allowed, earlyMs });
const nameOf = (one: Poll | undefined) => one && `${one.route} ${one.mailboxId ?? ''}`;
/** Of those who have warm-up and statistics still to be read. */
const read = { mailbox: 0, dns: 0, blacklist: 0 };

/** Takes and answers until nothing is left, or `most` were taken. */
function served(queue: PollQueue, now: number, most = 1_000): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  for (let poll = queue.take(now); poll; poll = names.length < most ? queue.take(now) : undefined) {
    names.push(nameOf(poll));
    queue.done(poll);
  }
  return names;
}

/** A queue whose mailboxes have been swept. */
function sweptQueue(ids: readonly string[], earlyMs = 0, allowed = 60): PollQueue {
  const queue = queueOf(earlyMs, allowed);
  for (const id of ids) queue.join(id, read, 0);
  served(queue, 0, 2 * ids.length);
  return queue;
}

test('the first sweep goes mailbox by mailbox, warm-up before statistics; what else was never read, or was missed, follows', () => {
  const queue = queueOf();
  queue.run('blacklist', -minuteMs);
  queue.join('m', { mailbox: 0, blacklist: 0 }, 0);
  queue.join('n', { ...read, blacklist: -2 * minuteMs }, 0);
  const names = served(queue, 0);
  expect(names.slice(0, 4)).toEqual(['warmup m', 'stats m', 'warmup n', 'stats n']);
  expect(names.slice(4).sort()).toEqual(['blacklist n', 'dns m']);
});

/** A queue whose first sweep has begun and goes on for long. */
function sweepingQueue(mailboxes: number, earlyMs = 0): PollQueue {
  const queue = queueOf(earlyMs);
  for (const id of ['m', 'n', 'o']) queue.join(id, read, 0);
  served(queue, 0, 5);
  for (let index = 0; index < mailboxes; index += 1) queue.join(`later${index}`, read, 0);
  return queue;
}

test('until a fleet was judged for the first time the sweep has the budget: nothing is due, nothing early', () => {
  const queue = sweepingQueue(20, minuteMs);
  for (const route of mailboxRoutes) queue.run(route, 2 * minuteMs);
  const names = served(queue, 2 * minuteMs, 41);
  expect(names[0]).toBe('stats o');
  expect(names.slice(1).every((name) => /^(warmup|stats) later/.test(name ?? ''))).toBe(true);
  expect(served(queue, 2 * minuteMs, 2)).toEqual(['mailboxes ', 'stats m']);
});

test('health and the list go before everything, at most once in ten requests', () => {
  const queue = sweptQueue(['m']);
  for (const route of routes) queue.run(route, minuteMs);
  expect(served(queue, minuteMs).slice(0, 3)).toEqual(['mailboxes ', 'health ', 'stats m']);
  queue.run('mailboxes', minuteMs + slotMs);
  expect(queue.take(minuteMs + 9 * slotMs)).toBeUndefined();
  expect(queue.nextDueAt(minuteMs + 9 * slotMs)).toBe(minuteMs + 10 * slotMs);
  expect(served(queue, minuteMs + 10 * slotMs)).toEqual(['mailboxes ']);
});

test('what somebody waits for goes before the sweep and the cadence, and is not made twice', () => {
  const queue = sweptQueue(['m', 'n']);
  queue.join('new', read, 0);
  queue.run('stats', minuteMs);
  queue.add({ route: 'stats', mailboxId: 'n' }, minuteMs);
  queue.add({ route: 'stats', mailboxId: 'n' }, minuteMs);
  expect(served(queue, minuteMs)).toEqual(['stats n', 'warmup new', 'stats new', 'stats m']);
});

test('a poll asked for later is due then, the earlier of two times wins, and urgent stays urgent', () => {
  const queue = sweptQueue(['m']);
  for (const dueAt of [500, 200, 900]) queue.add({ route: 'stats', mailboxId: 'm' }, dueAt);
  queue.add({ route: 'stats', mailboxId: 'm' }, 100, 'usual');
  expect([queue.nextDueAt(0), queue.take(99)]).toEqual([100, undefined]);
  expect(served(queue, 1_000)).toEqual(['stats m']);
});

test('a kind that had nothing to read has a poll as soon as one is added, or one in flight is out of date', () => {
  const queue = sweptQueue(['m']);
  expect([queue.take(1), queue.nextDueAt(1)]).toEqual([undefined, null]);
  queue.add({ route: 'dns', mailboxId: 'm' }, 500);
  expect([queue.take(2), queue.nextDueAt(2), nameOf(queue.take(500))]).toEqual([undefined, 500, 'dns m']);
  queue.run('dns', 600);
  expect(queue.take(600)).toBeUndefined();
  queue.done({ route: 'dns', mailboxId: 'm' });
  expect(served(queue, 600)).toEqual(['dns m']);
});

test('a failed poll comes again in its place, behind those who have waited longer', () => {
  const queue = sweptQueue(['m', 'n', 'o']);
  queue.run('stats', minuteMs);
  expect(nameOf(queue.take(minuteMs))).toBe('stats m');
  queue.done({ route: 'stats', mailboxId: 'm' });
  queue.add({ route: 'stats', mailboxId: 'm' }, 2 * minuteMs, 'usual');
  expect(served(queue, 2 * minuteMs)).toEqual(['stats n', 'stats o', 'stats m']);
});

test('with a rejected key only health and the list are served, and the rest keeps its place', () => {
  const queue = sweptQueue(['m']);
  queue.add({ route: 'stats', mailboxId: 'm' }, 10);
  queue.add({ route: 'mailboxes', mailboxId: null }, 10);
  expect([nameOf(queue.take(10, true)), queue.take(10, true)]).toEqual(['mailboxes ', undefined]);
  expect(served(queue, 10)).toEqual(['stats m']);
});

test('the backlog counts what is due, and says since when the oldest is', () => {
  const queue = sweptQueue(['m', 'n']);
  expect(queue.backlog(10)).toEqual({ length: 0, oldestDueAt: null });
  for (const at of [100, 200]) queue.run('stats', at);
  queue.run('health', 150);
  queue.add({ route: 'dns', mailboxId: 'm' }, 900);
  expect(queue.backlog(300)).toEqual({ length: 3, oldestDueAt: 100 });
  served(queue, 300);
  expect(queue.backlog(300)).toEqual({ length: 0, oldestDueAt: null });
});

test('when the cadence does not fit, every kind keeps its share: nothing starves', () => {
  const ids = Array.from({ length: 120 }, (_, index) => `m${index}`);
  const queue = sweptQueue(ids, 0, 12);
  const counts = new Map<string, number>();
  // 120 mailboxes ask for 13 a minute, and get 6; counted from the first run of the slow kinds on.
  for (let now = minuteMs; now < 18 * hourMs; now += 10 * slotMs) {
    for (const route of mailboxRoutes) if (now % cadenceMs[route] === 0) queue.run(route, now);
    const poll = queue.take(now);
    if (!poll) continue;
    if (now > 6 * hourMs) counts.set(poll.route, (counts.get(poll.route) ?? 0) + 1);
    queue.done(poll);
  }
  const stats = counts.get('stats') ?? 0;
  expect(Math.abs(stats / (counts.get('warmup') ?? 1) - 2)).toBeLessThan(0.15);
  expect(stats / (counts.get('dns') ?? 1)).toBeGreaterThan(20);
  expect(stats / (counts.get('dns') ?? 1)).toBeLessThan(28);
});

test('urgent polls without end leave an eighth to what the cadence made due', () => {
  const queue = sweptQueue(['m', 'n']);
  queue.run('warmup', 10);
  const names: (string | undefined)[] = [];
  for (let slot = 0; slot < 16; slot += 1) {
    queue.add({ route: 'stats', mailboxId: 'm' }, 10);
    const poll = queue.take(10 + slot);
    names.push(nameOf(poll));
    if (poll) queue.done(poll);
  }
  expect(names.filter((name) => name !== 'stats m')).toEqual(['warmup m', 'warmup n']);
});

test('extra polls go to the list and to statistics, at most once in the interval a mailbox; 0 means never', () => {
  const [queue, never] = [sweptQueue(['m', 'n'], minuteMs), sweptQueue(['m', 'n'])];
  const names: (string | undefined)[] = [];
  for (let now = slotMs; now <= 2 * minuteMs; now += slotMs) {
    expect(never.take(now)).toBeUndefined();
    names.push(...served(queue, now));
  }
  const count = (name: string) => names.filter((one) => one === name).length;
  expect([count('stats m'), count('stats n'), count('mailboxes ')]).toEqual([2, 2, 6]);
  expect(never.nextDueAt(0)).toBeNull();
});

test('with requests to spare the riskier mailbox is read more often, and no one is forgotten', () => {
  const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
  const queue = sweptQueue(ids, 10 * slotMs);
  for (const id of ids) queue.weigh(id, { sendsPerDay: 40, sendsLeftToday: 40, bouncesLeft: id === 'm0' ? 1 : 25 });
  const reads = new Map<string, number>();
  for (let now = slotMs; now < hourMs / 2; now += slotMs) {
    for (const route of ['stats', 'warmup'] as const) if (now % cadenceMs[route] === 0) queue.run(route, now);
    const poll = queue.take(now);
    if (!poll) continue;
    if (poll.route === 'stats') reads.set(poll.mailboxId ?? '', (reads.get(poll.mailboxId ?? '') ?? 0) + 1);
    queue.done(poll);
  }
  const calm = ids.slice(1).map((id) => reads.get(id) ?? 0);
  const share = (reads.get('m0') ?? 0) / (calm.reduce((sum, one) => sum + one, 0) / calm.length);
  expect(share).toBeGreaterThan(4);
  expect(share).toBeLessThan(6);
  expect(Math.min(...calm)).toBeGreaterThan(20);
});

test('polls of the cadence keep their pace in batches, and urgent ones wait for none', () => {
  const options = {
    cadenceMs,
    allowedPerMinute: () => 485,
    sparePerMinute: () => 240,
    atOnce: () => 4,
    earlyMs: minuteMs,
  };
  const queue = new PollQueue(options);
  const ids = Array.from({ length: 500 }, (_, index) => `m${index}`);
  for (const id of ids) queue.join(id, read, 0);
  served(queue, 0, 2 * ids.length);
  const takenAt: number[] = [];
  for (let now = 2 * minuteMs; now < 4 * minuteMs; now += 10) {
    const poll = queue.take(now);
    if (!poll) continue;
    takenAt.push(now);
    queue.done(poll);
  }
  const gaps = takenAt.map((at, index) => at - (takenAt[index - 1] ?? at));
  expect(takenAt.length / 2).toBeCloseTo(queue.demand().pacePerMinute, -1);
  expect(gaps.filter((gap) => gap > 10).length).toBeCloseTo(takenAt.length / 4, -1);
  queue.add({ route: 'stats', mailboxId: 'm7' }, 4 * minuteMs);
  for (let index = 0; index < 4; index += 1) queue.take(4 * minuteMs);
  queue.add({ route: 'stats', mailboxId: 'm8' }, 4 * minuteMs);
  expect(served(queue, 4 * minuteMs + 10)).toEqual(['stats m8']);
});

/** Whatever happens, asked of the queue from outside. */
const step = fc.oneof(
  fc.record({ verb: fc.constant('join' as const), id: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ verb: fc.constant('leave' as const), id: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ verb: fc.constant('run' as const), route: fc.constantFrom(...routes) }),
  fc.record({
    verb: fc.constant('again' as const),
    urgency: fc.constantFrom('urgent' as const, 'usual' as const),
    route: fc.constantFrom(...mailboxRoutes),
    id: fc.integer({ min: 0, max: 7 }),
    inMs: fc.integer({ min: 0, max: 90_000 }),
  }),
  fc.record({ verb: fc.constant('take' as const) }),
  fc.record({ verb: fc.constant('done' as const), which: fc.nat(20) }),
  fc.record({ verb: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 20 * minuteMs }) }),
);

test('whatever joins, leaves, is asked for, fails and is answered: nothing is made twice at a time, nothing due is lost', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), fc.constantFrom(0, minuteMs), (steps, earlyMs) => {
      const queue = queueOf(earlyMs);
      const here = new Set<string>();
      const underWay: Poll[] = [];
      let now = 0;
      for (const one of steps) {
        if (one.verb === 'wait') now += one.ms;
        else if (one.verb === 'join') {
          here.add(`m${one.id}`);
          queue.join(`m${one.id}`, read, now);
        } else if (one.verb === 'leave') {
          here.delete(`m${one.id}`);
          queue.leave(`m${one.id}`);
        } else if (one.verb === 'run') queue.run(one.route, now);
        else if (one.verb === 'take') {
          const poll = queue.take(now);
          if (!poll) continue;
          expect(underWay.map(nameOf)).not.toContain(nameOf(poll));
          expect(poll.mailboxId === null || here.has(poll.mailboxId)).toBe(true);
          underWay.push(poll);
        } else if (one.verb === 'done') {
          const [poll] = underWay.splice(one.which % Math.max(1, underWay.length), 1);
          if (poll) queue.done(poll);
        } else queue.add({ route: one.route, mailboxId: `m${one.id}` }, now + one.inMs, one.urgency);
      }
      for (const poll of underWay) queue.done(poll);
      now += hourMs;
      for (const route of routes) queue.run(route, now);
      const all = new Set(served(queue, now + 1));
      for (const id of here) for (const route of mailboxRoutes) expect(all).toContain(`${route} ${id}`);
      expect(queue.backlog(now + 1).length).toBe(0);
    }),
    { numRuns: 300 },
  );
});

// Requests that the API hardly allows once all went to health and the mailbox list.
test('an API that allows one request a minute, whatever the plan says, is asked about mailboxes four times out of six', () => {
  // As with X-RateLimit-Remaining: 0 in every answer, or 429 for some.
  const queue = queueOf(minuteMs, 97);
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
  expect([count('mailboxes'), count('health'), count('a mailbox')]).toEqual([100, 100, 400]);
});
