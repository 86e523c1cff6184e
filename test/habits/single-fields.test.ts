// No single field is believed against all the others: a word, a day of the warm-up, a clock.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs, utcDate } from '../../src/core/time.ts';
import { answerWith, type OtherMailbox } from '../support/other-api.ts';
import { empty, rarely, usual, type Watching, watching } from '../support/watching.ts';

const poll = { ...rarely, mailboxes: '*/30 * * * *', stats: '*/30 * * * *', warmup: '*/30 * * * *' };
const isNight = (now: number) => now % dayMs >= 18.5 * hourMs || now % dayMs < 6.5 * hourMs;
const atNight = (box: OtherMailbox, now: number) => ({ status: isNight(now) ? 'paused' : box.status });
const isBlind = ({ firing }: Watching, box: OtherMailbox) => firing('guard_blind', box) ?? firing('guard_blind', null);
const json = (body: object) => answerWith(200, body);

test.each([
  ['a word that nobody knows', { status: 'sending' }],
  ['no word', { status: null }],
  ['a warm-up that is always on its first day', { warmup_day: 1 }],
])('%s beside statistics without a row is not judged', async (_, warmup) => {
  await using at = await watching(['m1'], { poll, warmup });
  const [box] = at.boxes;
  at.tell(box, () => null);
  await at.duty.run(5 * dayMs);
  expect([at.state(box), isBlind(at, box) !== undefined]).toEqual(['not_judged', true]);
});

test('a counter that breaks under a nightly pause is told on each day from the third', async () => {
  await using at = await watching(['m1', 'm2'], { poll, warmup: atNight });
  await at.duty.run(dayMs);
  const broken = utcDate(at.api.now());
  at.tell(at.boxes[0], (_, date) => (date >= broken ? empty : usual));
  await at.duty.run(2 * dayMs);
  for (let day = 3; day <= 14; day += 1) {
    await at.duty.run(dayMs);
    const lights = ['stale_data', 'guard_blind'].filter(
      (rule) => at.firing(rule, at.boxes[0]) ?? at.firing(rule, null),
    );
    expect(lights, `day ${day}`).not.toEqual([]);
  }
});

test('a pause that the API only says it made is not confirmed by the pause of the night', async () => {
  await using at = await watching(['m1', 'm2'], { poll, warmup: atNight });
  const [box] = at.boxes;
  await at.duty.run(2 * hourMs);
  const since = utcDate(at.api.now());
  at.tell(box, (_, date) => (date >= since ? { sent: 40, bounced: 10 } : usual));
  const shown = at.api.fault;
  at.api.fault = (asked) => (asked.method === 'POST' ? json({ success: true }) : shown(asked));
  for (let day = 0; day < 6; day += 1) {
    await at.duty.run(dayMs);
    expect([at.state(box), at.firing('guard_action_failed', box) !== undefined]).toEqual([
      expect.stringMatching('held|over_limit'),
      true,
    ]);
  }
  expect(await at.duty.notified()).not.toContain('event guard_acted confirmed');
});

test('what a clock that was weeks ahead left behind hides nothing', async () => {
  await using at = await watching(['m1'], { poll });
  const [box] = at.boxes;
  await at.duty.run(5 * hourMs);
  at.duty.behind.ms = -40 * dayMs;
  await at.duty.run(hourMs);
  box.status = 'finished';
  await at.duty.run(hourMs);
  at.duty.behind.ms = 0;
  await at.duty.run(hourMs);
  at.tell(box, (age) => (age < 8 ? { sent: 40, bounced: 12 } : usual));
  await at.duty.run(4 * dayMs);
  expect(at.api.posts()).not.toEqual([]);
});

test('a clock of the API that is days ahead of its own rows hides nothing', async () => {
  await using at = await watching(['m1'], { poll });
  const [box] = at.boxes;
  at.api.fault = ({ path }) =>
    path === '/v1/health'
      ? json({ status: 'ok', timestamp: new Date(at.api.now() + 10 * dayMs).toISOString() })
      : undefined;
  at.tell(box, (age) => (age === 0 ? { sent: 40, bounced: 0 } : usual));
  await at.duty.run(dayMs);
  box.mode = 'slow';
  at.tell(box, (_, date) => (date > utcDate(at.api.now() - 3 * dayMs) ? { sent: 40, bounced: 3 } : usual));
  await at.duty.run(4 * dayMs);
  expect(at.api.posts()).not.toEqual([]);
});

test('nine tenths of the emails of a mailbox that vanish beside their bounces are no breach', async () => {
  await using at = await watching(['m1', 'm2', 'm3', 'm4'], { poll });
  const [box] = at.boxes;
  const bounced = (age: number) => (age === 2 || age === 4 ? 1 : 0);
  at.tell(box, (age) => ({ sent: 40, bounced: bounced(age) }));
  await at.duty.run(5 * hourMs);
  at.tell(box, (age) => ({ sent: 4, bounced: bounced(age) }));
  await at.duty.run(90 * minuteMs);
  expect([at.api.posts(), at.state(box)]).toEqual([[], 'not_judged']);
});
