// The order in which due polls are served.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Route, routes } from '../../src/model/answers.ts';
import { minuteMs } from '../../src/model/time.ts';
import { type Poll, PollQueue } from '../../src/watch/queue.ts';

const poll = (route: Route, mailboxId: string | null = null): Poll => ({ route, mailboxId });
const nameOf = (one: Poll | undefined) => one && `${one.route} ${one.mailboxId ?? ''}`;

function drained(queue: PollQueue, now: number): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  for (let next = queue.take(now); next; next = queue.take(now)) names.push(nameOf(next));
  return names;
}

test('what is due at the same time goes by its kind, and equals by their arrival', () => {
  const queue = new PollQueue();
  for (const route of [...routes].reverse()) queue.add(poll(route, 'm'), 0);
  queue.add(poll('stats', 'n'), 0);
  expect(drained(queue, 0)).toEqual([
    'mailboxes m',
    'health m',
    'stats m',
    'stats n',
    'warmup m',
    'blacklist m',
    'dns m',
    'mailbox m',
  ]);
});

test('a poll that has waited longer than its patience goes before what is due now', () => {
  const queue = new PollQueue();
  queue.add(poll('dns', 'm'), 0);
  queue.add(poll('stats', 'm'), 9 * minuteMs - 1);
  queue.add(poll('stats', 'n'), 9 * minuteMs + 1);
  expect(drained(queue, 10 * minuteMs)).toEqual(['stats m', 'dns m', 'stats n']);
});

test('a poll that is not due is not served, and is named as the next', () => {
  const queue = new PollQueue();
  expect(queue.nextDueAt(0)).toBeNull();
  queue.add(poll('stats', 'm'), 500);
  expect([queue.take(499), queue.nextDueAt(499), nameOf(queue.take(500)), queue.nextDueAt(500)]).toEqual([
    undefined,
    500,
    'stats m',
    null,
  ]);
});

test('a queued poll is not queued again; an earlier due time wins, a later one does nothing', () => {
  const queue = new PollQueue();
  for (const dueAt of [500, 200, 900]) queue.add(poll('stats', 'm'), dueAt);
  expect([queue.nextDueAt(0), queue.backlog(1_000)]).toEqual([200, { length: 1, oldestDueAt: 200 }]);
  expect(drained(queue, 1_000)).toEqual(['stats m']);
});

test('a poll that was refused keeps its place', () => {
  const queue = new PollQueue();
  queue.add(poll('stats', 'm'), 0);
  queue.add(poll('mailboxes'), 0);
  queue.add(poll('stats', 'n'), 0);
  expect(nameOf(queue.take(0, ({ route }) => route === 'stats'))).toBe('stats m');
  expect(queue.take(0, () => false)).toBeUndefined();
  expect(drained(queue, 0)).toEqual(['mailboxes ', 'stats n']);
});

test('a mailbox that is removed takes all its polls along, due or not', () => {
  const queue = new PollQueue();
  queue.add(poll('stats', 'm'), 0);
  queue.add(poll('dns', 'm'), 900);
  queue.add(poll('stats', 'n'), 900);
  queue.remove('m');
  expect([queue.take(0), queue.nextDueAt(0), queue.backlog(1_000).length]).toEqual([undefined, 900, 1]);
  queue.add(poll('stats', 'm'), 950);
  expect(drained(queue, 1_000)).toEqual(['stats n', 'stats m']);
});

const patience: Record<Route, number> = {
  health: 0,
  mailboxes: 0,
  stats: 1,
  warmup: 3,
  mailbox: 10,
  dns: 10,
  blacklist: 10,
};

/** The same promises without a heap: a list that is searched. */
class NaiveQueue {
  #entries: { readonly poll: Poll; readonly dueAt: number; readonly number: number }[] = [];
  #count = 0;
  add(one: Poll, dueAt: number): void {
    const known = this.#entries.find((entry) => nameOf(entry.poll) === nameOf(one));
    if (known && known.dueAt <= dueAt) return;
    this.#count += 1;
    this.#entries = [...this.#entries.filter((entry) => entry !== known), { poll: one, dueAt, number: this.#count }];
  }
  take(now: number, accept: (one: Poll) => boolean): Poll | undefined {
    const order = ({ poll: one, dueAt }: { poll: Poll; dueAt: number }) => dueAt + patience[one.route] * minuteMs;
    const first = this.#entries
      .filter((entry) => entry.dueAt <= now && accept(entry.poll))
      .toSorted((a, b) => order(a) - order(b) || a.number - b.number)[0];
    this.#entries = this.#entries.filter((entry) => entry !== first);
    return first?.poll;
  }
  remove(id: string): void {
    this.#entries = this.#entries.filter((entry) => entry.poll.mailboxId !== id);
  }
  length(now: number): number {
    return this.#entries.filter(({ dueAt }) => dueAt <= now).length;
  }
}

test('whatever is put in, moved, refused and removed: the queue serves as a searched list would', () => {
  const id = fc.constantFrom('m', 'n', 'o');
  const route = fc.constantFrom(...routes);
  const step = fc.oneof(
    fc.record({ verb: fc.constant('add' as const), route, id, inMs: fc.integer({ min: -20, max: 20 }) }),
    fc.record({ verb: fc.constant('take' as const), refuse: fc.option(route) }),
    fc.record({ verb: fc.constant('remove' as const), id }),
    fc.record({ verb: fc.constant('wait' as const), minutes: fc.integer({ min: 0, max: 12 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const [queue, naive] = [new PollQueue(), new NaiveQueue()];
      let now = 0;
      for (const one of steps) {
        if (one.verb === 'wait') now += one.minutes * minuteMs;
        else if (one.verb === 'remove') [queue, naive].forEach((each) => void each.remove(one.id));
        else if (one.verb === 'add') {
          for (const each of [queue, naive]) each.add(poll(one.route, one.id), now + one.inMs * minuteMs);
        } else {
          const accept = (each: Poll) => each.route !== one.refuse;
          expect(nameOf(queue.take(now, accept))).toBe(nameOf(naive.take(now, accept)));
        }
        expect(queue.backlog(now).length).toBe(naive.length(now));
      }
    }),
    { numRuns: 500 },
  );
});
